internal import Glibc
internal import Linux

/// A file that is written and synced under a hidden name before it gets its real one. It is removed if it does not get it.
struct DraftFile: ~Copyable {
    /// The path that the file is for.
    let path: String
    private let draft: String

    private init(for path: String) {
        let (folder, name) = Self.parts(of: path)
        let random = System.randomBytes(8).map { String($0, radix: 16) }.joined()
        self.path = path
        draft = "\(folder)/.\(name).\(random)"
    }

    deinit { try? FileSystem.removeFile(draft) }

    /// - Parameter mode: its permissions, from its first byte on.
    static func write(_ text: String, for path: String, mode: UInt32) throws(KeyFileError) -> DraftFile {
        let file = DraftFile(for: path)
        try CertificateFile.naming(path) { () throws(SystemError) in
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            let descriptor = try Descriptor(opening: file.draft, flags, mode: mode)
            do throws(SystemError) {
                try SystemCall.write(Array(text.utf8), to: descriptor.number)
                try descriptor.sync()
            } catch {
                throw SystemError("write \(path)", code: error.code)
            }
        }
        return file
    }

    /// Gives the file its name, in one step. A link of that name is replaced, not its target.
    borrowing func place(replacing: Bool) throws(KeyFileError) {
        do throws(SystemError) {
            if replacing {
                try FileSystem.rename(draft, to: path)
            } else {
                try FileSystem.rename(draft, toUnused: path)
            }
        } catch {
            throw KeyFileError(path, error.code == EEXIST ? .exists : .system(error))
        }
    }

    /// Syncs the names in the file's folder to the disk.
    borrowing func syncName() throws(KeyFileError) {
        let folder = Self.parts(of: path).folder
        try CertificateFile.naming(folder) { () throws(SystemError) in
            try Descriptor(opening: folder, O_RDONLY | O_DIRECTORY).sync()
        }
    }

    private static func parts(of path: String) -> (folder: String, name: Substring) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path[...]) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), path[path.index(after: slash)...])
    }
}
