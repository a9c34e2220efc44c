// Unsafe: the system uses what it is passed only during the call; a folder's entry is copied before the next is read.

internal import CLinux
internal import Glibc
internal import LoopCluster
internal import LoopLock

/// The changes that a journal makes to files and folders beside those that SQLite makes, one system call each.
package struct Disk: Sendable {
    /// One change that has been made. A test that models a loss of power hears of each.
    package enum Change: Sendable {
        case wrote(String, [UInt8])
        case rewrote(String, [UInt8])
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

    /// Writes a file and brings it to the disk. What was there is replaced.
    func write(_ bytes: [UInt8], to path: String) throws(JournalError) {
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
        let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | flags, 0o644)
        guard descriptor >= 0 else { throw .system("write \(path)", errno) }
        defer { Glibc.close(descriptor) }
        var (done, isOnItsWay) = (0, 0)
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe pwrite(
                    descriptor, $0.baseAddress.map { unsafe $0 + done }, min($0.count - done, Self.chunkBytes),
                    off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("write \(path)", errno) }
            done += count
            if done - isOnItsWay >= Self.stepBytes {
                // Where this met an error the sync at the end might not meet it again.
                let error = loop_write_out(descriptor, off_t(isOnItsWay), off_t(done - isOnItsWay))
                guard error == 0 else { throw .system("write \(path)", error) }
                isOnItsWay = done
            }
            BackgroundWork.giveWay()
        }
        observe?(flags & O_TRUNC == 0 ? .rewrote(path, bytes) : .wrote(path, bytes))
        guard fsync(descriptor) == 0 else { throw .system("sync \(path)", errno) }
        observe?(.synced(path))
    }

    /// Brings a file to the disk that others have written.
    func sync(_ path: String) throws(JournalError) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("sync \(path)", errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("sync \(path)", errno) }
        observe?(.synced(path))
    }

    /// The bytes of a file, or the first of them; nil where there is none.
    func read(_ path: String, atMost limit: Int = .max) throws(JournalError) -> [UInt8]? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system("read \(path)", errno)
        }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system("read \(path)", errno) }
        let size = min(Int(status.st_size), limit)
        if size <= 0 { return [] }
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            while filled < size {
                let count = unsafe pread(
                    descriptor, buffer.baseAddress.map { unsafe $0 + filled }, size - filled, off_t(filled))
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                // Shorter than it was a moment ago: the caller's checksum says so.
                guard count > 0 else { break }
                filled += count
            }
        }
        guard failure == 0 else { throw .system("read \(path)", failure) }
        return bytes
    }

    func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    func rename(_ path: String, to other: String) throws(JournalError) {
        guard unsafe Glibc.rename(path, other) == 0 else { throw .system("rename \(path) to \(other)", errno) }
        observe?(.renamed(path, to: other))
    }

    /// Removes a file; one that is not there is removed already.
    func remove(_ path: String) throws(JournalError) {
        guard unsafe unlink(path) == 0 else {
            if errno == ENOENT { return }
            throw .system("remove \(path)", errno)
        }
        observe?(.removed(path))
    }

    /// Removes a file that may be large, and gives its room back step by step. Not for files of SQLite: to close one of those ends
    /// the locks that this process has on it.
    func removeInSteps(_ path: String) throws(JournalError) {
        // While it is open its name alone is removed.
        let descriptor = unsafe open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        defer { if descriptor >= 0 { Glibc.close(descriptor) } }
        try remove(path)
        var status = stat()
        guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0, status.st_nlink == 0 else { return }
        // Down to nothing: a child of this process that has not called exec yet may hold the file too, and with it the room.
        while status.st_size > 0 {
            status.st_size = max(0, status.st_size - off_t(Self.stepBytes))
            guard ftruncate(descriptor, status.st_size) == 0 else { return }
            BackgroundWork.giveWay()
        }
    }

    /// Removes a folder and the files in it.
    func removeFolder(_ path: String) throws(JournalError) {
        for name in try names(in: path) { try remove(path + "/" + name) }
        guard unsafe rmdir(path) == 0 || errno == ENOENT else { throw .system("remove \(path)", errno) }
    }

    func makeFolder(_ path: String) throws(JournalError) {
        guard unsafe mkdir(path, 0o755) == 0 else {
            if errno == EEXIST { return }
            throw .system("make the folder \(path)", errno)
        }
        observe?(.madeFolder(path))
    }

    /// Brings the names in a folder to the disk: without it a new file may be gone after a loss of power.
    func syncFolder(_ path: String) throws(JournalError) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("sync the folder \(path)", errno) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("sync the folder \(path)", errno) }
        observe?(.syncedFolder(path))
    }

    /// The names in a folder, sorted; none where there is no folder.
    func names(in path: String) throws(JournalError) -> [String] {
        guard let folder = unsafe opendir(path) else {
            if errno == ENOENT { return [] }
            throw .system("read the folder \(path)", errno)
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// The folder that a path is in.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
