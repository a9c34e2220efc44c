/// The source of the package Loop for a new package.
enum LoopSource: Equatable {
    /// A folder, by its path from the package's own folder. `Place` has both folders, relative to their common folder `base`.
    case folder(Place)
    /// A Git repository.
    case repository(url: String, branch: String?)

    /// The folders of a package and of Loop, relative to the innermost folder that has both.
    struct Place: Equatable {
        /// The path from the package's folder to `base`: `..`, `../..`.
        let up: String
        /// The package's folder, relative to `base`.
        let package: String
        /// Loop's folder, relative to `base`.
        let loop: String

        /// - Parameters:
        ///   - package: the package's folder, an absolute path without links and dots.
        ///   - loop: Loop's folder, of the same kind.
        /// - Returns: nil if one of the two is in the other.
        init?(package: String, loop: String) {
            let packageNames = package.split(separator: "/")
            let loopNames = loop.split(separator: "/")
            let common = zip(packageNames, loopNames).prefix { $0 == $1 }.count
            guard common < packageNames.count, common < loopNames.count else { return nil }
            up = Array(repeating: "..", count: packageNames.count - common).joined(separator: "/")
            self.package = packageNames[common...].joined(separator: "/")
            self.loop = loopNames[common...].joined(separator: "/")
        }

        /// The path from the package's folder to Loop's.
        var path: String { "\(up)/\(loop)" }
    }

    /// Whether a text is the URL of a repository and not a path: `https://host/loop`, `git@host:loop.git`.
    static func isURL(_ text: String) -> Bool {
        if text.contains("://") { return true }
        let beforePath = text.prefix { $0 != "/" }
        return beforePath.contains(":") && beforePath.contains("@")
    }

    /// Whether a text can be put between quotation marks in Swift, YAML and JSON.
    static func canBeQuoted(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 != "\"" && $0 != "\\" && $0 != "$" && $0.value >= 0x20 && $0.value != 0x7F }
    }

    /// The name of the package in the package manager.
    var identity: String {
        guard case .repository(let url, _) = self else { return "Loop" }
        let last = url.split { $0 == "/" || $0 == ":" }.last.map(String.init) ?? url
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }
}
