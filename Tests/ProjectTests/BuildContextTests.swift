import Foundation
import Testing

/// What the container image is built from: a folder with what `.dockerignore` and the Dockerfile let in, and nothing else.
@Suite struct `The image's build` {
    @Test func `has every folder that the manifest names there, and no tests, fuzzers or tools`() throws {
        let context = try BuildContext()
        defer { context.remove() }
        let description = try context.describe()
        #expect(description.status == 0, "swift package describe: \(description.text)")
        guard description.status == 0 else { return }
        let package = try JSONDecoder().decode(PackageDescription.self, from: description.output)
        #expect(package.targets.map(\.name).filter(context.programs.contains).sorted() == context.programs.sorted())
        for target in package.targets {
            let isThere = ["Sources/", "Examples/"].contains { target.path.hasPrefix($0) }
            #expect(target.type != "test" && isThere, "\(target.name) at \(target.path)")
        }
    }

    @Test func `installs the packages that the project's own set-up installs`() throws {
        let script = try Repository.text("scripts/install-packages")
        let line = try #require(script.firstMatch(of: /\npackages="([^"$]+)/)).output.1
        // The stock image has git and certificates; make is not used there.
        let wanted = Set(line.split(separator: " ").map(String.init)).subtracting(["make", "git", "ca-certificates"])
        let stage = try BuildContext.firstStage()
        let words = stage.split { $0.isWhitespace || $0 == "\\" }.map(String.init)
        #expect(wanted.count > 5)
        #expect(wanted.subtracting(words) == [])
    }
}

private struct PackageDescription: Decodable {
    struct Target: Decodable {
        let name: String
        let path: String
        let type: String
    }

    let targets: [Target]
}

/// A folder in which the manifest finds what it finds in the image's first stage.
private struct BuildContext {
    /// The executables that are built there.
    let programs: [String]
    private let folder: URL
    private let variables: [String: String]

    init() throws {
        let stage = try Self.firstStage()
        programs = stage.matches(of: /--product (\S+)/).map { String($0.output.1) }
        variables = Dictionary(
            stage.matches(of: /\nENV (\w+)=(\S+)/).map { (String($0.output.1), String($0.output.2)) },
            uniquingKeysWith: { $1 })
        // The first line of .dockerignore leaves everything out, and the others name what is let in.
        let rules = try Repository.text(".dockerignore").split(separator: "\n").filter { !$0.hasPrefix("#") }
        try #require(rules.first == "*" && rules.dropFirst().allSatisfy { $0.hasPrefix("!") })
        let allowed = Set(rules.dropFirst().map { String($0.dropFirst()) })

        folder = FileManager.default.temporaryDirectory.appendingPathComponent("loop-context-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for copy in stage.matches(of: /\nCOPY (\S+) (\S+)/) {
            let name = String(copy.output.1)
            #expect(allowed.contains(name), ".dockerignore keeps \(name) out, which the Dockerfile copies")
            guard allowed.contains(name) else { continue }
            // SwiftPM looks into folders behind links, but wants its manifest to be a file.
            let (source, target) = (Repository.root.appendingPathComponent(name), folder.appendingPathComponent(name))
            if name == "Package.swift" {
                try FileManager.default.copyItem(at: source, to: target)
            } else {
                try FileManager.default.createSymbolicLink(at: target, withDestinationURL: source)
            }
        }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The part of the Dockerfile that compiles.
    static func firstStage() throws -> String {
        let recipe = try Repository.text("Dockerfile")
        return try #require(recipe.components(separatedBy: "\nFROM ").dropFirst().first)
    }

    /// What `swift package describe` says there: it fails when a folder is missing.
    func describe() throws -> (status: Int32, output: Data, text: String) {
        let swift = Process()
        swift.executableURL = URL(fileURLWithPath: "/bin/sh")
        swift.arguments = [
            "-c", #"exec "$("$0")" package --package-path "$1" describe --type json"#,
            Repository.root.appendingPathComponent("scripts/find-swift").path, folder.path,
        ]
        swift.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let errors = folder.appendingPathComponent("errors")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        let (output, log) = (Pipe(), try FileHandle(forWritingTo: errors))
        swift.standardOutput = output
        swift.standardError = log
        try swift.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        swift.waitUntilExit()
        return (swift.terminationStatus, bytes, try String(contentsOf: errors, encoding: .utf8))
    }
}
