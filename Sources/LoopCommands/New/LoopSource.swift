/// Where a new package has the package Loop from.
enum LoopSource: Equatable {
    /// A folder, by its path from the package's own folder. Both are below `base`, at these places.
    case folder(Place)
    /// A repository of git.
    case repository(url: String, branch: String?)

    /// A package's folder and that of Loop, as they lie below the innermost folder that has both.
    struct Place: Equatable {
        /// The way from the package's folder to `base`: `..`, `../..`.
        let up: String
        /// The package's folder, from `base` on.
        let package: String
        /// Loop's folder, from `base` on.
        let loop: String

        /// - Parameters:
        ///   - package: the package's folder, an absolute path without links and dots.
        ///   - loop: Loop's folder, of the same kind.
        /// - Returns: nil where one of the two is in the other.
        init?(package: String, loop: String) {
            let packageNames = package.split(separator: "/")
            let loopNames = loop.split(separator: "/")
            let common = zip(packageNames, loopNames).prefix { $0 == $1 }.count
            guard common < packageNames.count, common < loopNames.count else { return nil }
            up = Array(repeating: "..", count: packageNames.count - common).joined(separator: "/")
            self.package = packageNames[common...].joined(separator: "/")
            self.loop = loopNames[common...].joined(separator: "/")
        }

        /// The way from the package's folder to Loop's.
        var path: String { "\(up)/\(loop)" }
    }

    /// Whether a text is an address of a repository, and not a path: `https://host/loop`, `git@host:loop.git`.
    static func isURL(_ text: String) -> Bool {
        if text.contains("://") { return true }
        let beforePath = text.prefix { $0 != "/" }
        return beforePath.contains(":") && beforePath.contains("@")
    }

    /// Whether a text can stand between quotation marks in Swift, YAML and JSON.
    static func canBeQuoted(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { $0 != "\"" && $0 != "\\" && $0 != "$" && $0.value >= 0x20 && $0.value != 0x7F }
    }

    /// What the package manager calls the package.
    var identity: String {
        guard case .repository(let url, _) = self else { return "Loop" }
        let last = url.split { $0 == "/" || $0 == ":" }.last.map(String.init) ?? url
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }
}
