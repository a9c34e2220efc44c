internal import Glibc
internal import Linux
internal import LoopCluster

/// The names of the files that a journal has open. Who finds another file there, or none, does not find this journal.
struct OpenNames {
    private let files: [(path: String, status: FileStatus)]

    /// - Parameter paths: of files that are open, as long as they have these names.
    init(_ paths: [String]) {
        files = paths.compactMap { path in FileSystem.status(ofName: path).map { (path, $0) } }
    }

    /// Refuses to go on if a file was removed or renamed, or if its folder was.
    func check(_ operation: String) throws(JournalError) {
        for (path, status) in files {
            guard let now = FileSystem.status(ofName: path) else {
                throw .moved(operation, "\(path) was removed or renamed while it was open")
            }
            guard now.isSame(as: status) else { throw .moved(operation, "another file is at \(path) now") }
        }
    }
}

/// A lock on the file itself, so that a process which finds it under another name does not write it too.
///
/// It is held by the descriptor that SQLite has of the file: to close another one would end SQLite's own locks.
struct FileLock: ~Copyable {
    private let descriptor: Int32?

    /// A byte that SQLite does not lock: the last one before those that it does.
    private static let byte = 0x3fff_ffff

    /// - Parameter path: of a file that SQLite has open for writing in this process.
    init(_ path: String) throws(JournalError) {
        let opened = (FileSystem.status(ofName: path).map(OpenFiles.descriptors) ?? []).filter(OpenFiles.isWritable)
        let isFree = opened.allSatisfy { !OpenFiles.isLocked($0, byte: Self.byte) }
        let refusal = isFree ? opened.last.flatMap { OpenFiles.lock($0, byte: Self.byte) } : EAGAIN
        switch refusal {
        case nil: descriptor = opened.last
        case EAGAIN?, EACCES?:
            throw JournalError(
                .locked, operation: "be opened for writing",
                reason: "another process has opened the file \(path) under another name",
                remedy: JournalError.Kind.locked.remedy)
        case let code?: throw .system("lock \(path)", code)
        }
    }

    /// Given back before SQLite closes the file, which a child that another thread is starting may have too.
    deinit { if let descriptor { OpenFiles.unlock(descriptor, byte: Self.byte) } }

    /// Whether a process writes the file at this moment.
    /// - Parameter path: of a file that SQLite has open in this process.
    static func isHeld(_ path: String) -> Bool {
        let opened = FileSystem.status(ofName: path).map(OpenFiles.descriptors) ?? []
        return opened.contains { OpenFiles.isLocked($0, byte: byte) }
    }
}

extension JournalError {
    static func moved(_ operation: String, _ reason: String) -> JournalError {
        JournalError(.moved, operation: operation, reason: reason, remedy: Kind.moved.remedy)
    }
}
