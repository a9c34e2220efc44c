// Unsafe: the system uses what it is passed only during the call.

internal import Glibc
internal import LoopCluster

/// The right to write a journal: a lock on a file of its own beside it, which the system takes back when the process
/// ends, however it ends. Readers do not ask for it.
struct OwnerLock: ~Copyable {
    private let descriptor: Int32

    /// How long a waiting process sleeps between two tries: what a standby is late by at most. The system would wake it at
    /// once, but one that waits in `flock` could not be told to give up.
    private static let triesEvery: UInt32 = 50_000

    /// - Parameter whileLocked: called before each new try, with the error that a caller that does not wait would get;
    ///   returns whether to go on waiting. Nil does not wait.
    init(_ path: String, whileLocked: ((JournalError) -> Bool)?) throws(JournalError) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system("open its lock \(path)", errno) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            if code == EINTR { continue }
            var error = JournalError.system("lock \(path)", code)
            if code == EWOULDBLOCK {
                error = JournalError(
                    .locked, operation: "be opened for writing", reason: "\(Self.owner(descriptor)) has it (\(path))",
                    remedy: JournalError.Kind.locked.remedy)
                if let whileLocked, whileLocked(error) {
                    usleep(Self.triesEvery)
                    continue
                }
            }
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        // For people only; a full disk must not keep a journal from being opened.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = unsafe pwrite(descriptor, text, text.count, 0) }
    }

    /// Given back before it is closed: a child that another thread is starting holds the descriptor too, until it has become its
    /// program, and with it the lock.
    deinit {
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }

    /// Whether nobody writes at this moment. For tools that look at a journal at rest.
    static func isFree(_ path: String) -> Bool {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return true }
        defer { Glibc.close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
        flock(descriptor, LOCK_UN)
        return true
    }

    private static func owner(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 24)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return digits.isEmpty ? "another process" : "process \(String(decoding: digits, as: UTF8.self))"
    }
}
