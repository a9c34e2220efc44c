internal import Linux

/// A new folder of this process's own, in `TMPDIR`, or in `/tmp` where that is not set. It stays until it is removed.
package struct TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter name: what its name begins with; short, where sockets are bound in it, whose paths have 107 bytes.
    /// - Throws: where it cannot be made.
    package init(_ name: String) throws(SystemError) {
        let named = ProcessEnvironment.current["TMPDIR", default: ""]
        let place = named.isEmpty ? "/tmp" : named
        do throws(SystemError) {
            path = try FileSystem.makeFolder(beginning: "\(place)/\(name)")
        } catch {
            throw SystemError("make a folder in \(place)", code: error.code, hint: "TMPDIR may name another place")
        }
    }

    /// Removes it with all that is in it. Of a link, what it leads to stays.
    package func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        if (try? FileSystem.removeFile(path)) != nil { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        try? FileSystem.removeFolder(path)
    }

    /// What is in a folder; nothing where there is none.
    package static func names(in folder: String) -> [String] { (try? FileSystem.names(in: folder)) ?? [] }
}
