internal import Glibc
internal import Linux
internal import LoopCluster
internal import LoopLock

/// The changes that a journal makes to files and folders besides those that SQLite makes, one system call each.
package struct Disk: Sendable {
    /// One change that has been made. A test that models a loss of power hears of each.
    package enum Change: Sendable {
        case wrote(String, [UInt8])
        case rewrote(String, [UInt8])
        case truncated(String, to: Int)
        case synced(String)
        case renamed(String, to: String)
        case removed(String)
        case madeFolder(String)
        case syncedFolder(String)
    }

    private let observe: (@Sendable (Change) -> Void)?

    /// How much of a large file is on its way to the disk at once: an append that is synced meanwhile waits behind it.
    static var stepBytes: Int { 256 << 10 }
    /// How much is written at once: where the system has to find a page for it first, each may take it a tenth of a millisecond.
    private static var chunkBytes: Int { 32 << 10 }

    package init(observe: (@Sendable (Change) -> Void)? = nil) { self.observe = observe }

    /// The largest file that is read: a larger one does not fit into the memory of this machine.
    static let fileBytesMax = max(1 << 30, System.memoryBytes / 2)

    /// Writes a file for this user alone, and brings it to the disk. What was there is replaced.
    func write(_ bytes: [UInt8], to path: String) throws(JournalError) {
        // Not what is there under another name, too.
        try remove(path)
        try write(bytes, to: path, O_CREAT | O_TRUNC)
    }

    /// Writes the bytes of a file once more, each where it was, and brings them to the disk.
    ///
    /// After a sync that failed, the system shows what was written and no longer means to write it: the next sync succeeds
    /// without it. Whoever goes on from what a process before left must not take such bytes for durable.
    /// - Returns: all bytes; none where there is no file.
    func rewrite(_ path: String) throws(JournalError) -> [UInt8] {
        guard let bytes = try read(path), !bytes.isEmpty else { return [] }
        try write(bytes, to: path, 0)
        return bytes
    }

    private func write(_ bytes: [UInt8], to path: String, _ flags: Int32) throws(JournalError) {
        let file = try naming("write \(path)") { () throws(OpeningError) in
            try Descriptor.checked(path, O_WRONLY | flags)
        }
        try naming("write \(path)") { () throws(SystemError) in
            var (done, isOnItsWay) = (0, 0)
            while done < bytes.count {
                done += try file.write(bytes, done..<min(done + Self.chunkBytes, bytes.count), at: done)
                if done - isOnItsWay >= Self.stepBytes {
                    // Where this met an error the sync at the end might not meet it again.
                    try file.writeOut(isOnItsWay..<done)
                    isOnItsWay = done
                }
                BackgroundWork.giveWay()
            }
        }
        observe?(flags & O_TRUNC == 0 ? .rewrote(path, bytes) : .wrote(path, bytes))
        try naming("sync \(path)") { () throws(SystemError) in try file.sync() }
        observe?(.synced(path))
    }

    /// Brings a file to the disk that others have written.
    func sync(_ path: String) throws(JournalError) {
        try naming("sync \(path)") { () throws(SystemError) in try Descriptor(opening: path, O_RDONLY).sync() }
        observe?(.synced(path))
    }

    /// The bytes of a file, or the first of them; nil where there is none.
    /// - Throws: `JournalError`, of the kind `corrupt` if there are more than ``fileBytesMax``.
    func read(_ path: String, atMost limit: Int = .max) throws(JournalError) -> [UInt8]? {
        try reading(path) { file, size throws(JournalError) in
            try bytes(of: file, min(size, limit), path)
        }
    }

    /// Looks at a file that may have any other names; nil where there is none.
    /// - Parameter body: is given the file, and its size in bytes.
    func reading<Result>(
        _ path: String, _ body: (borrowing Descriptor, Int) throws(JournalError) -> Result
    ) throws(JournalError) -> Result? {
        guard let file = try opened(path) else { return nil }
        let size = try naming("read \(path)") { () throws(SystemError) in try file.status().size }
        return try body(file, size)
    }

    private func opened(_ path: String) throws(JournalError) -> Descriptor? {
        do throws(OpeningError) {
            return try Descriptor.checked(path, O_RDONLY) { $0.kind == .file ? nil : .noFile }
        } catch {
            if case .system(let error) = error, error.code == ENOENT { return nil }
            throw .opening("read \(path)", error)
        }
    }

    /// So many first bytes. If the file is shorter than it was a moment ago, so is the result: the caller's checksum says so.
    func bytes(of file: borrowing Descriptor, _ count: Int, _ path: String) throws(JournalError) -> [UInt8] {
        guard count <= Self.fileBytesMax else {
            throw JournalError(
                .corrupt, operation: "read \(path)",
                reason: "it has \(count) bytes, and a process on this machine reads at most \(Self.fileBytesMax)",
                remedy: JournalError.Kind.corrupt.remedy)
        }
        do throws(SystemError) {
            return try file.bytes(atMost: count)
        } catch {
            throw .system("read \(path)", error.code)
        }
    }

    /// Truncates a file and syncs it.
    func truncate(_ path: String, to size: Int) throws(JournalError) {
        let file = try naming("write \(path)") { () throws(OpeningError) in try Descriptor.checked(path, O_WRONLY) }
        try naming("write \(path)") { () throws(SystemError) in try file.truncate(to: size) }
        observe?(.truncated(path, to: size))
        try naming("sync \(path)") { () throws(SystemError) in try file.sync() }
        observe?(.synced(path))
    }

    func exists(_ path: String) -> Bool { FileSystem.exists(path) }

    func rename(_ path: String, to other: String) throws(JournalError) {
        try naming("rename \(path) to \(other)") { () throws(SystemError) in
            try FileSystem.rename(path, to: other)
        }
        observe?(.renamed(path, to: other))
    }

    /// Removes a file; one that is not there is removed already.
    func remove(_ path: String) throws(JournalError) {
        do throws(SystemError) {
            try FileSystem.removeFile(path)
        } catch {
            if error.code == ENOENT { return }
            throw .system("remove \(path)", error.code)
        }
        observe?(.removed(path))
    }

    /// Removes a file that may be large, and gives its room back step by step. Not for files of SQLite: to close one of those ends
    /// the locks that this process has on it.
    func removeInSteps(_ path: String) throws(JournalError) {
        // While it is open its name alone is removed.
        let file = try? Descriptor.checked(path, O_WRONLY)
        try remove(path)
        guard case .some(let file) = file, let status = try? file.status(), status.links == 0 else { return }
        // Down to nothing: a child of this process that has not called exec yet may hold the file too, and with it the room.
        var size = status.size
        while size > 0 {
            size = max(0, size - Self.stepBytes)
            guard (try? file.truncate(to: size)) != nil else { return }
            BackgroundWork.giveWay()
        }
    }

    /// Removes a folder and the files in it; of a link to a folder, the link.
    func removeFolder(_ path: String) throws(JournalError) {
        if FileSystem.status(ofName: path)?.isLink == true { return try remove(path) }
        for name in try names(in: path) { try remove(path + "/" + name) }
        do throws(SystemError) {
            try FileSystem.removeFolder(path)
        } catch {
            if error.code == ENOENT { return }
            throw .system("remove \(path)", error.code)
        }
    }

    func makeFolder(_ path: String) throws(JournalError) {
        do throws(SystemError) {
            try FileSystem.makeFolder(path, mode: 0o700)
        } catch {
            if error.code == EEXIST { return }
            throw .system("make the folder \(path)", error.code)
        }
        observe?(.madeFolder(path))
    }

    /// Brings the names in a folder to the disk: without it a new file may be gone after a loss of power.
    func syncFolder(_ path: String) throws(JournalError) {
        try naming("sync the folder \(path)") { () throws(SystemError) in
            try Descriptor(opening: path, O_RDONLY | O_DIRECTORY).sync()
        }
        observe?(.syncedFolder(path))
    }

    /// The names in a folder, sorted; none where there is no folder.
    func names(in path: String) throws(JournalError) -> [String] {
        do throws(SystemError) {
            return try FileSystem.names(in: path).sorted()
        } catch {
            if error.code == ENOENT { return [] }
            throw .system("read the folder \(path)", error.code)
        }
    }

    /// The folder that a path is in.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
