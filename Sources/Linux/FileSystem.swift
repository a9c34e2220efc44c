// Unsafe: the system uses what it is passed only during the call, and a folder's entry is copied before the next is read.

internal import CLinux
internal import Glibc

/// The status of a file.
package struct FileStatus: Sendable {
    /// The kinds of files that are distinguished.
    package enum Kind: Equatable, Sendable {
        case file, folder, other
    }

    /// Whether it is a file, a folder or something else.
    package let kind: Kind
    /// Whether it is itself a symbolic link, which was not followed. Its kind is `other`.
    package let isLink: Bool
    /// The size in bytes.
    package let size: Int
    /// The number of its names.
    package let links: Int
    /// The number of its device.
    package let device: UInt64
    /// The number of its inode on the device.
    package let number: UInt64
    /// The time of its last change, in seconds since 1970, and the nanoseconds after them.
    package let modified: (seconds: Int, nanoseconds: Int)
    /// The number of the user who owns it.
    package let owner: UInt32
    /// The permissions: the lower twelve bits of its mode.
    package let permissions: UInt32

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            default: .other
            }
        isLink = status.st_mode & S_IFMT == S_IFLNK
        size = Int(status.st_size)
        links = Int(status.st_nlink)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        modified = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        owner = status.st_uid
        permissions = status.st_mode & 0o7777
    }

    /// Whether both belong to one file, at whatever times.
    package func isSame(as other: FileStatus) -> Bool { device == other.device && number == other.number }
}

/// Calls that name files and folders by their paths.
package enum FileSystem {
    /// The status of the file at a path, or nil if there is none.
    package static func status(of path: String) -> FileStatus? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? FileStatus(status) : nil
    }

    /// The bytes that this user may still write to the disk of a path, or nil if there is no such path.
    package static func room(at path: String) -> UInt64? {
        var status = statvfs()
        return unsafe statvfs(path, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : nil
    }

    /// The status of the file at a path that need not be UTF-8.
    /// - Throws: ``SystemError`` that names the path.
    package static func status(of path: [UInt8]) throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe stat(path.map { CChar(bitPattern: $0) } + [0], &status) == 0 else {
            throw SystemError("look at \(String(decoding: path, as: UTF8.self))")
        }
        return FileStatus(status)
    }

    /// The status of the file with this name, or nil if there is none. A symbolic link is not followed.
    package static func status(ofName path: String) -> FileStatus? {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? FileStatus(status) : nil
    }

    /// Whether a file exists at a path.
    package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether this process may read the file at a path.
    package static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    /// Whether this process may run the file at a path.
    package static func isExecutable(_ path: String) -> Bool { unsafe access(path, X_OK) == 0 }

    /// The bytes of a file.
    /// - Throws: ``SystemError`` that names the path.
    /// - Parameter limit: the largest number of bytes to read.
    package static func bytes(of path: String, atMost limit: Int = .max) throws(SystemError) -> [UInt8] {
        let file = try Descriptor(opening: path, O_RDONLY)
        do throws(SystemError) {
            return try SystemCall.readAll(from: file.number, atMost: limit)
        } catch {
            throw SystemError("read \(path)", code: error.code)
        }
    }

    /// Writes a text to a file: at its end, or in place of its bytes.
    /// - Throws: ``SystemError`` that names the path.
    package static func write(_ text: String, to path: String, appending: Bool = false) throws(SystemError) {
        let file = try Descriptor(opening: path, O_WRONLY | O_CREAT | (appending ? O_APPEND : O_TRUNC), mode: 0o666)
        do throws(SystemError) {
            try SystemCall.write(Array(text.utf8), to: file.number)
        } catch {
            throw SystemError("write \(path)", code: error.code)
        }
    }

    /// Writes a text to a file in place of its bytes, in one step: the file has the old bytes or the new ones. What is no file, a file in a
    /// folder that cannot be written, a mounted file, and one with a long name are written as they are.
    /// - Throws: ``SystemError`` that names the path.
    package static func replace(_ path: String, with text: String) throws(SystemError) {
        let old = status(of: path)
        guard old?.kind ?? .file == .file else { return try write(text, to: path) }
        let target = resolved(path) ?? path
        let new = "\(target).\(getpid()).new"
        do throws(SystemError) {
            // A process of the same number may have left it.
            try? removeFile(new)
            let file = try Descriptor(opening: new, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
            if let old { _ = fchmod(file.number, old.permissions) }
            try SystemCall.write(Array(text.utf8), to: file.number)
            return try rename(new, to: target)
        } catch {
            try? removeFile(new)
            guard [EACCES, EPERM, EROFS, EBUSY, ENAMETOOLONG].contains(error.code) else {
                throw SystemError("write \(path)", code: error.code)
            }
        }
        try write(text, to: path)
    }

    /// Checks that a file could be written, without creating or changing it.
    /// - Throws: ``SystemError`` that names the path.
    package static func checkWritable(_ path: String) throws(SystemError) {
        if let link = status(ofName: path), link.isLink {
            // A link to nothing, or one of a loop of links.
            var target = stat()
            guard unsafe stat(path, &target) == 0 else { throw SystemError("follow the link \(path)") }
        }
        if status(of: path) != nil {
            // Do not wait for the reader of a pipe.
            do { _ = try Descriptor(opening: path, O_WRONLY | O_NONBLOCK) } catch  where error.code != ENXIO {
                throw error
            }
        } else {
            let end = path.lastIndex(of: "/")
            let folder = end.map { String(path[...$0]) } ?? "."
            guard unsafe access(folder, W_OK | X_OK) == 0 else { throw SystemError("write \(path)") }
            // No file can be made there, but root may write to every folder.
            let isOfProcesses = resolved(folder).map { "\($0)/".hasPrefix("/proc/") } ?? false
            if isOfProcesses { throw SystemError("write \(path)", code: ENOENT) }
        }
    }

    /// Renames a file. A file with the new name is replaced.
    /// - Throws: ``SystemError`` that names both paths.
    package static func rename(_ path: String, to other: String) throws(SystemError) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw SystemError("rename \(path) to \(other)") }
    }

    /// Renames a file to a name that is not used, in one step. Nothing is replaced, whatever another process does meanwhile.
    /// - Throws: ``SystemError`` that names both paths, with the code EEXIST if the name is used.
    package static func rename(_ path: String, toUnused other: String) throws(SystemError) {
        if unsafe loop_rename_to_unused(path, other) == 0 { return }
        // Some file systems cannot do this. They can give a second name, which replaces nothing either.
        if errno == EINVAL || errno == ENOSYS, unsafe Glibc.link(path, other) == 0 { return try removeFile(path) }
        throw SystemError("rename \(path) to \(other)")
    }

    /// Removes a file.
    /// - Throws: ``SystemError`` that names the path.
    package static func removeFile(_ path: String) throws(SystemError) {
        guard unsafe unlink(path) == 0 else { throw SystemError("remove \(path)") }
    }

    /// Removes an empty folder.
    /// - Throws: ``SystemError`` that names the path.
    package static func removeFolder(_ path: String) throws(SystemError) {
        guard unsafe rmdir(path) == 0 else { throw SystemError("remove \(path)") }
    }

    /// Makes a folder.
    /// - Parameter mode: its permissions, without those that the umask of this process removes.
    /// - Throws: ``SystemError`` that names the path.
    package static func makeFolder(_ path: String, mode: UInt32 = 0o755) throws(SystemError) {
        guard unsafe mkdir(path, mode) == 0 else { throw SystemError("make the folder \(path)") }
    }

    /// Makes a new folder with a name that begins with `path`.
    /// - Returns: the path of the folder.
    /// - Throws: ``SystemError`` that names the path.
    package static func makeFolder(beginning path: String) throws(SystemError) -> String {
        var template = Array("\(path)-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw SystemError("make a folder \(path)-…") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The names in a folder, in any order. Bytes that are no UTF-8 become U+FFFD.
    /// - Throws: ``SystemError`` that names the path.
    package static func names(in path: String) throws(SystemError) -> [String] {
        try byteNames(in: Array(path.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The names in a folder, in any order, as the system has them.
    /// - Throws: ``SystemError`` that names the path.
    package static func byteNames(in path: [UInt8]) throws(SystemError) -> [[UInt8]] {
        func failed() -> SystemError { SystemError("read the folder \(String(decoding: path, as: UTF8.self))") }
        guard let folder = unsafe opendir(path.map { CChar(bitPattern: $0) } + [0]) else { throw failed() }
        defer { unsafe closedir(folder) }
        var names: [[UInt8]] = []
        errno = 0
        while let entry = unsafe readdir(folder) {
            // C's array of 256 characters is a tuple here. It is read in place.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            if name != Array(".".utf8) && name != Array("..".utf8) { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw failed() }
        return names
    }

    /// The target of a symbolic link, or nil if there is no link. Bytes that are no UTF-8 become U+FFFD.
    package static func link(at path: String) -> String? {
        byteLink(at: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The target of a symbolic link as the system has it, or nil if there is no link.
    static func byteLink(at path: String) -> [UInt8]? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(path, &buffer, buffer.count)
        return count > 0 ? buffer.prefix(count).map { UInt8(bitPattern: $0) } : nil
    }

    /// A path without links and dots, or nil if nothing exists there. Bytes that are no UTF-8 become U+FFFD.
    package static func resolved(_ path: String) -> String? {
        resolved(Array(path.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A path without links and dots as the system has it, or nil if nothing exists there.
    package static func resolved(_ path: [UInt8]) -> [UInt8]? {
        guard let resolved = unsafe realpath(path.map { CChar(bitPattern: $0) } + [0], nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe Array(UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
    }
}
