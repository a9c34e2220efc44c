internal import Glibc

/// A new folder of this process's own, in `TMPDIR`, or in `/tmp` where that is not set. It stays until it is removed.
package struct TemporaryFolder: Sendable {
    package let path: String

    /// - Parameter name: what its name begins with; short, where sockets are bound in it, whose paths have 107 bytes.
    /// - Throws: where it cannot be made.
    package init(_ name: String) throws(SystemError) {
        let named = ProcessEnvironment.current["TMPDIR", default: ""]
        let place = named.isEmpty ? "/tmp" : named
        var template = Array("\(place)/\(name)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError("make a folder in \(place)", code: errno, hint: "TMPDIR may name another place")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes it with all that is in it. Of a link, what it leads to stays.
    package func remove() { Self.remove(path) }

    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in names(in: path) { remove("\(path)/\(name)") }
        rmdir(path)
    }

    /// What is in a folder; nothing where there is none.
    package static func names(in folder: String) -> [String] {
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while let entry = readdir(entries) {
            // C's array of 256 characters is a tuple here, which is read where it lies.
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
