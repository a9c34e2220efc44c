internal import Linux

/// A new folder for this process alone, in `TMPDIR`, or in `/tmp` if that is not set. It stays until it is removed.
package struct TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter name: the beginning of its name. Keep it short if sockets are bound in the folder, because their paths
    ///   have 107 bytes.
    /// - Throws: if the folder cannot be made.
    package init(_ name: String) throws(SystemError) {
        let named = ProcessEnvironment.current["TMPDIR", default: ""]
        let place = named.isEmpty ? "/tmp" : named
        do throws(SystemError) {
            path = try FileSystem.makeFolder(beginning: "\(place)/\(name)")
        } catch {
            throw SystemError("make a folder in \(place)", code: error.code, hint: "TMPDIR may name another place")
        }
    }

    /// Removes it with everything in it. Of a link, the target stays.
    package func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        if (try? FileSystem.removeFile(path)) != nil { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        try? FileSystem.removeFolder(path)
    }

    /// The names in a folder. Empty if there is no such folder.
    package static func names(in folder: String) -> [String] { (try? FileSystem.names(in: folder)) ?? [] }
}
