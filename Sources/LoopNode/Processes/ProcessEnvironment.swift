internal import Linux

/// The environment of this process, and the programs that its `PATH` names.
package enum ProcessEnvironment {
    /// All variables now.
    package static var current: [String: String] {
        var variables: [String: String] = [:]
        for entry in System.environment {
            let parts = String(decoding: entry, as: UTF8.self).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        }
        return variables
    }

    /// The path of this program's own executable, or nil if `/proc` is not mounted.
    package static var executable: String? { FileSystem.link(at: "/proc/self/exe") }

    /// The path of a program: the name itself if it has a slash, else in the first folder of `PATH` that has it, else nil.
    package static func find(_ program: String, path: String? = nil) -> String? {
        if program.contains("/") { return FileSystem.isExecutable(program) ? program : nil }
        let folders = (path ?? current["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return folders.lazy.map { "\($0)/\(program)" }.first(where: FileSystem.isExecutable)
    }
}
