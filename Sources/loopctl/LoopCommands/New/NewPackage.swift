import LoopNode
import LoopTemplate

/// The files of a new package: those of the template, with another name and another source of the package Loop.
struct NewPackage {
    let name: PackageName
    let loop: LoopSource

    /// All files, by their paths from the package's folder.
    var files: [(path: String, text: String)] {
        let files = LoopTemplate.files.map { file in
            let text =
                switch file.path {
                case "Package.swift": manifest(file.text)
                case "Dockerfile": recipe(file.text)
                case "docker-compose.yml": composition(file.text)
                default: file.text
                }
            return (path: renamed(file.path), text: renamed(text))
        }
        return files + [(path: ".gitignore", text: ".build/\n*.journal\n*.journal-*\n*.journal.*\n")]
    }

    private func renamed(_ text: String) -> String {
        text.replacing(LoopTemplate.name, with: name.description)
            .replacing(LoopTemplate.programName, with: name.ofPrograms)
    }

    // MARK: The parts that depend on Loop's folder

    // The template has the text that each of these replaces. A test compares the results.

    private func manifest(_ text: String) -> String {
        let dependency =
            switch loop {
            case .folder(let place): #".package(name: "Loop", path: "\#(place.path)")"#
            case .repository(let url, let branch?): #".package(url: "\#(url)", branch: "\#(branch)")"#
            case .repository(let url, nil):
                #".package(url: "\#(url)", .upToNextMinor(from: "\#(LoopVersion.current)"))"#
            }
        return text.replacing(#".package(name: "Loop", path: "../..")"#, with: dependency)
            .replacing(#"package: "Loop")"#, with: #"package: "\#(loop.identity)")"#)
    }

    /// The folder from which an image is built has both packages, at the same paths as here.
    private func recipe(_ text: String) -> String {
        let lines =
            switch loop {
            case .folder(let place):
                [
                    copy("Package.swift", from: place.loop), copy("Sources", from: place.loop),
                    copy("Examples", from: place.loop), copy("Package.swift", from: place.package),
                    copy("Sources", from: place.package), copy("Tests", from: place.package),
                ]
            case .repository: [copy("Package.swift", from: nil), copy("Sources", from: nil), copy("Tests", from: nil)]
            }
        let folder =
            switch loop {
            case .folder(let place): "/build/\(place.package)"
            case .repository: "/build"
            }
        return text.replacing(
            """
            COPY ["Package.swift", "./"]
            COPY ["Sources", "Sources"]
            COPY ["Examples", "Examples"]
            WORKDIR "/build/Examples/NewLoop"
            """, with: (lines + [#"WORKDIR "\#(folder)""#]).joined(separator: "\n"))
    }

    private func copy(_ item: String, from folder: String?) -> String {
        let path = folder.map { "\($0)/\(item)" } ?? item
        return #"COPY ["\#(path)", "\#(path)"]"#
    }

    private func composition(_ text: String) -> String {
        let context: String
        let file: String
        switch loop {
        case .folder(let place):
            context = place.up
            file = "\(place.package)/Dockerfile"
        case .repository:
            context = "."
            file = "Dockerfile"
        }
        return text.replacing(#"context: "../..""#, with: #"context: "\#(context)""#)
            .replacing(#"dockerfile: "Examples/NewLoop/Dockerfile""#, with: #"dockerfile: "\#(file)""#)
    }
}
