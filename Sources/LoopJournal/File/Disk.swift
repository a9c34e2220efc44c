internal import Glibc
internal import Linux
internal import LoopCluster
internal import LoopCollections

/// The changes that a journal makes to files and folders, one system call each. Those that SQLite makes are not among them.
package struct Disk: Sendable {
    /// One change that was made. A test that models a loss of power observes each.
    package enum Change: Sendable {
        case wrote(String, [UInt8])
        case rewrote(String, [UInt8], at: Int)
        case truncated(String, to: Int)
        case synced(String)
        case renamed(String, to: String)
        case removed(String)
        case madeFolder(String)
        case syncedFolder(String)
    }

    private let observe: (@Sendable (Change) -> Void)?

    /// How many bytes of a large file are on their way to the disk at once. An append that syncs meanwhile waits behind them.
    static var stepBytes: Int { 256 << 10 }
    /// How many bytes are written at once. If the system must first find a page for them, each page may take a tenth of a
    /// millisecond.
    private static var chunkBytes: Int { 32 << 10 }

    package init(observe: (@Sendable (Change) -> Void)? = nil) { self.observe = observe }

    /// The size of the largest file that is read. A larger one does not fit into the memory of this machine.
    static let fileBytesMax = max(1 << 30, System.memoryBytes / 2)

    /// Writes a file for this user alone, and brings it to the disk. An existing file is replaced.
    func write(_ bytes: [UInt8], to path: String) throws(JournalError) {
        // The old file may have other names, and under those it must not change.
        try remove(path)
        let file = try naming("write \(path)") { () throws(OpeningError) in
            try Descriptor.checked(path, O_WRONLY | O_CREAT | O_TRUNC)
        }
        try naming("write \(path)") { () throws(SystemError) in
            var isOnItsWay = 0
            try Self.write(bytes, to: file, at: 0, &isOnItsWay)
        }
        observe?(.wrote(path, bytes))
        try sync(file, path)
    }

    /// Inspects a write-ahead log in pieces, because it may be large. A missing log is an empty one.
    ///
    /// After a failed sync the system shows the written bytes but does not write them again. The next sync succeeds without them. A
    /// process that continues the log of an earlier one must not take such bytes for durable.
    /// - Parameter rewrites: whether to write all bytes again, each at its offset, and to sync them.
    func inspectLog(_ path: String, rewrites: Bool = false) throws(JournalError) -> LogInspection {
        guard let file = try opened(path, rewrites ? O_RDWR : O_RDONLY) else { return LogInspection() }
        try Self.checkEnd(of: file, path)
        var (done, isOnItsWay) = (0, 0)
        var unread: ArraySlice<UInt8> = []
        /// Reads the next piece of the file. It is empty at the end.
        func piece() throws(JournalError) -> [UInt8] {
            let piece = try naming("read \(path)") { () throws(SystemError) in
                try file.bytes(atMost: Self.stepBytes, from: done)
            }
            let start = done
            done += piece.count
            guard rewrites, !piece.isEmpty else { return piece }
            try naming("write \(path)") { () throws(SystemError) in
                try Self.write(piece, to: file, at: start, &isOnItsWay)
            }
            observe?(.rewrote(path, piece, at: start))
            return piece
        }
        func next(_ count: Int) throws(JournalError) -> [UInt8] {
            while unread.count < count {
                let more = try piece()
                if more.isEmpty { break }
                unread += more
            }
            defer { unread = unread.dropFirst(count) }
            return Array(unread.prefix(count))
        }
        let found = try LogInspection(next)
        guard rewrites else { return found }
        // The inspection ends early at a damaged header.
        while try !piece().isEmpty {}
        if done > 0 { try sync(file, path) }
        return found
    }

    /// Refuses a very large log whose end is a hole. Reading all of it takes too long, and SQLite leaves no hole.
    private static func checkEnd(of file: borrowing Descriptor, _ path: String) throws(JournalError) {
        let (size, end) = try naming("read \(path)") { () throws(SystemError) in
            let size = try file.status().size
            return try (size, size > fileBytesMax ? file.bytes(atMost: stepBytes, from: size - stepBytes) : [1])
        }
        guard end.allSatisfy({ $0 == 0 }) else { return }
        throw JournalError(
            .corrupt, operation: "read \(path)", reason: "the end of its \(size) bytes was never written",
            remedy: "put a copy of the journal back")
    }

    /// Writes bytes at an offset of a file, and starts to bring them to the disk.
    /// - Parameter isOnItsWay: the number of bytes of the file that are on their way to the disk.
    private static func write(
        _ bytes: [UInt8], to file: borrowing Descriptor, at start: Int, _ isOnItsWay: inout Int
    ) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            done += try file.write(bytes, done..<min(done + chunkBytes, bytes.count), at: start + done)
            if start + done - isOnItsWay >= stepBytes {
                // If this call ignored an error, the sync at the end might not report it again.
                try file.writeOut(isOnItsWay..<start + done)
                isOnItsWay = start + done
            }
            BackgroundWork.giveWay()
        }
    }

    private func sync(_ file: borrowing Descriptor, _ path: String) throws(JournalError) {
        try naming("sync \(path)") { () throws(SystemError) in try file.sync() }
        observe?(.synced(path))
    }

    /// Syncs a file that other code has written.
    func sync(_ path: String) throws(JournalError) {
        try naming("sync \(path)") { () throws(SystemError) in try Descriptor(opening: path, O_RDONLY).sync() }
        observe?(.synced(path))
    }

    /// The bytes of a file, or at most its first `limit` bytes. Returns nil if there is no file.
    /// - Throws: `JournalError`, of the kind `corrupt` if there are more than ``fileBytesMax``.
    func read(_ path: String, atMost limit: Int = .max) throws(JournalError) -> [UInt8]? {
        try reading(path) { file, size throws(JournalError) in
            try bytes(of: file, min(size, limit), path)
        }
    }

    /// Reads a file, which may have other names too. Returns nil if there is no file.
    /// - Parameter body: takes the file, and its size in bytes.
    func reading<Result>(
        _ path: String, _ body: (borrowing Descriptor, Int) throws(JournalError) -> Result
    ) throws(JournalError) -> Result? {
        guard let file = try opened(path, O_RDONLY) else { return nil }
        let size = try naming("read \(path)") { () throws(SystemError) in try file.status().size }
        return try body(file, size)
    }

    private func opened(_ path: String, _ flags: Int32) throws(JournalError) -> Descriptor? {
        do throws(OpeningError) {
            return try Descriptor.checked(path, flags) {
                flags == O_RDONLY ? $0.kind == .file ? nil : .noFile : $0.flaw()
            }
        } catch {
            if case .system(let error) = error, error.code == ENOENT { return nil }
            throw .opening("read \(path)", error)
        }
    }

    /// The first `count` bytes, or fewer if the file has become shorter. The caller's checksum finds that out.
    func bytes(of file: borrowing Descriptor, _ count: Int, _ path: String) throws(JournalError) -> [UInt8] {
        try Self.check(size: count, of: path)
        return try naming("read \(path)") { () throws(SystemError) in try file.bytes(atMost: count) }
    }

    private static func check(size: Int, of path: String) throws(JournalError) {
        guard size > fileBytesMax else { return }
        throw JournalError(
            .corrupt, "read \(path)",
            "it has \(size) bytes, and a process on this machine reads at most \(fileBytesMax)")
    }

    /// Truncates a file and syncs it.
    func truncate(_ path: String, to size: Int) throws(JournalError) {
        let file = try naming("write \(path)") { () throws(OpeningError) in try Descriptor.checked(path, O_WRONLY) }
        try naming("write \(path)") { () throws(SystemError) in try file.truncate(to: size) }
        observe?(.truncated(path, to: size))
        try sync(file, path)
    }

    func exists(_ path: String) -> Bool { FileSystem.exists(path) }

    func rename(_ path: String, to other: String) throws(JournalError) {
        try naming("rename \(path) to \(other)") { () throws(SystemError) in
            try FileSystem.rename(path, to: other)
        }
        observe?(.renamed(path, to: other))
    }

    /// Removes a file. A missing file is no error.
    func remove(_ path: String) throws(JournalError) {
        do throws(SystemError) {
            try FileSystem.removeFile(path)
        } catch {
            if error.code == ENOENT { return }
            throw .system("remove \(path)", error.code)
        }
        observe?(.removed(path))
    }

    /// Removes a file that may be large, and frees its space step by step. Not for SQLite's files: closing one of those ends the
    /// locks that this process has on it.
    func removeInSteps(_ path: String) throws(JournalError) {
        // While the file is open, this removes its name alone.
        let file = try? Descriptor.checked(path, O_WRONLY)
        try remove(path)
        guard case .some(let file) = file, let status = try? file.status(), status.links == 0 else { return }
        // The size goes down to 0: a child process that has not called exec yet may have the file open, which would keep the space.
        var size = status.size
        while size > 0 {
            size = max(0, size - Self.stepBytes)
            guard (try? file.truncate(to: size)) != nil else { return }
            BackgroundWork.giveWay()
        }
    }

    /// Removes a folder and the files in it. If the path is a link to a folder, removes the link.
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

    /// Syncs the names in a folder. Without it, a new file may be gone after a loss of power.
    func syncFolder(_ path: String) throws(JournalError) {
        try naming("sync the folder \(path)") { () throws(SystemError) in
            try Descriptor(opening: path, O_RDONLY | O_DIRECTORY).sync()
        }
        observe?(.syncedFolder(path))
    }

    /// The names in a folder, sorted. Empty if there is no folder.
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
