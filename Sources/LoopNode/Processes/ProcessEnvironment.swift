internal import CLinux
internal import Glibc

/// The environment of this process, and the programs that its `PATH` names.
public enum ProcessEnvironment {
    /// All variables now.
    public static var current: [String: String] {
        var variables: [String: String] = [:]
        guard var entry = loop_environment() else { return variables }
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }

    /// The path of this program's own executable, or nil where `/proc` is not mounted.
    public static var executable: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Where a program is: the name itself if it has a slash, else the first folder of `PATH` that has it, else nil.
    public static func find(_ program: String, path: String? = nil) -> String? {
        if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
        let folders = (path ?? current["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        return folders.lazy.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }
}
