internal import Glibc
internal import Linux
internal import LoopCluster

/// The names of the files that a journal has open, to notice when one leads to another file or to none.
struct OpenNames {
    private var files: [(path: String, status: FileStatus)]

    /// The remedy, unless the journal's own file is missing: the reducer waits only for that file.
    private static let remedy =
        "the reducer opens it again now, and ends if acknowledged records are missing or a file cannot be used: then put"
        + " back what was there"

    /// - Parameter paths: the paths of open files, the journal's own first.
    init(_ paths: [String]) {
        files = paths.compactMap { path in FileSystem.status(ofName: path).map { (path, $0) } }
    }

    /// Throws if a file or its folder was removed, renamed or replaced, or if a file is shorter than at the check before. While a
    /// journal is open, none of its files becomes shorter.
    mutating func check(_ operation: String) throws(JournalError) {
        for index in files.indices {
            let (path, status) = files[index]
            guard let now = FileSystem.status(ofName: path) else {
                let reason = "\(path) was removed or renamed while it was open"
                throw index == 0 ? .moved(operation, reason) : .moved(operation, reason, Self.remedy)
            }
            guard now.isSame(as: status) else {
                throw .moved(operation, "another file is at \(path) now", Self.remedy)
            }
            guard now.size >= status.size else {
                let sizes = "from \(status.size) to \(now.size) bytes"
                throw .moved(operation, "\(path) was cut \(sizes) while it was open", Self.remedy)
            }
            files[index].status = now
        }
    }
}

/// A lock on the file itself, so that no other process writes it under another name.
///
/// The lock is on SQLite's own descriptor, because closing another descriptor of the file would end SQLite's locks.
struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// The locked byte: the last one before those that SQLite locks.
    private static let byte = 0x3fff_ffff

    /// - Parameter path: the path of a file that SQLite has open for writing in this process.
    init(_ path: String) throws(JournalError) {
        let opened = try Self.descriptors(of: path).filter(OpenFiles.isWritable)
        guard let last = opened.last else { throw Self.unknown(path) }
        let isFree = opened.allSatisfy { !OpenFiles.isLocked($0, byte: Self.byte) }
        let refusal = isFree ? OpenFiles.lock(last, byte: Self.byte) : EAGAIN
        switch refusal {
        case nil: descriptor = last
        case EAGAIN?, EACCES?:
            throw JournalError(
                .locked, "be opened for writing",
                "another process writes \(path): it has opened the file under another name, or \(path)-lock was"
                    + " removed")
        case let code?: throw .system("lock \(path)", code)
        }
    }

    /// Unlocks before SQLite closes the file, because a child process that is being started may share the descriptor.
    deinit { OpenFiles.unlock(descriptor, byte: Self.byte) }

    /// Whether a process writes the file at this moment.
    /// - Parameter path: the path of a file that SQLite has open in this process.
    static func isHeld(_ path: String) throws(JournalError) -> Bool {
        try descriptors(of: path).contains { OpenFiles.isLocked($0, byte: byte) }
    }

    /// The descriptors by which this process has the file open.
    private static func descriptors(of path: String) throws(JournalError) -> [Int32] {
        let found = FileSystem.status(ofName: path).map(OpenFiles.descriptors) ?? []
        guard !found.isEmpty else { throw unknown(path) }
        return found
    }

    /// Without a descriptor of the file, its lock can be neither taken nor seen.
    private static func unknown(_ path: String) -> JournalError {
        JournalError(
            .readOnly, operation: "be locked", reason: "/proc/self/fd does not list the open file \(path)",
            remedy: "mount /proc, and leave the file under its name")
    }
}

extension JournalError {
    static func moved(
        _ operation: String, _ reason: String, _ remedy: String = Kind.moved.remedy
    ) -> JournalError {
        JournalError(.moved, operation: operation, reason: reason, remedy: remedy)
    }
}
