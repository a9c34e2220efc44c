internal import Glibc
internal import Linux
internal import LoopCluster

/// The right to write a journal: a lock on a separate file next to it. The system releases it when the process ends, however it
/// ends. Readers do not need it.
struct OwnerLock: ~Copyable {
    private let lock: Descriptor

    /// How long a waiting process sleeps between two tries, in microseconds. A standby is late by at most this time. The system
    /// would wake it at once, but a process that waits in `flock` cannot be asked to give up.
    private static let triesEvery: UInt32 = 50_000

    /// - Parameters:
    ///   - address: the address of the process for its peers. Waiting processes can read it.
    ///   - whileLocked: called before each new try, with the error that a caller that does not wait would get. Returns whether to
    ///     go on waiting. Nil does not wait.
    init(_ path: String, address: String? = nil, whileLocked: ((JournalError) -> Bool)?) throws(JournalError) {
        // Checks the file before it is truncated to length 0, because its name may lead to any file.
        let lock = try naming("open its lock \(path)") { () throws(OpeningError) in
            try Descriptor.checked(path, O_RDWR | O_CREAT)
        }
        while let code = Self.refusal(of: lock) {
            var error = JournalError.system("lock \(path)", code)
            if code == EWOULDBLOCK {
                error = JournalError(.locked, "be opened for writing", "\(Self.owner(lock)) has it (\(path))")
                if let whileLocked {
                    // The system has no wait for a lock that ends when this process is asked to stop.
                    usleep(Self.triesEvery)
                    // Called after the wait, so that a request to stop in the meantime counts.
                    if whileLocked(error) { continue }
                }
            }
            throw error
        }
        // A full disk must not prevent the opening of a journal.
        let text = Self.mark(address)
        if (try? lock.truncate(to: 0)) != nil { _ = try? lock.write(text, text.indices, at: 0) }
        self.lock = lock
    }

    /// What the process that has the lock writes into its file.
    private static func mark(_ address: String?) -> [UInt8] {
        Array("\(getpid())\n\(address.map { "\($0)\n" } ?? "")".utf8)
    }

    /// Whether no other process, or other reducer of this one, has taken the lock since this one had it.
    static func isMarked(_ path: String, address: String?) -> Bool {
        content(of: path) == mark(address)
    }

    /// What is in the file, as far as this process may read it.
    private static func content(of path: String) -> [UInt8]? {
        try? Descriptor.checked(path, O_RDONLY, flaw: { $0.flawToRead }).bytes(atMost: 1024)
    }

    /// Unlocks before the descriptor is closed. A child that another thread is starting has the descriptor too, and with it the
    /// lock, until it calls exec.
    deinit { flock(lock.number, LOCK_UN) }

    /// The error of a try without waiting, or nil if the lock was taken.
    private static func refusal(of lock: borrowing Descriptor) -> Int32? {
        while flock(lock.number, LOCK_EX | LOCK_NB) != 0 {
            if errno != EINTR { return errno }
        }
        return nil
    }

    /// The address at which peers find the process that has the lock, or nil if it names none. If no process has the lock, the
    /// address has no meaning.
    static func address(in path: String) -> String? {
        let lines = (content(of: path) ?? []).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        // The line must be whole.
        guard lines.count >= 3, !lines[1].isEmpty else { return nil }
        return String(validating: lines[1], as: UTF8.self)
    }

    private static func owner(_ lock: borrowing Descriptor) -> String {
        let bytes = (try? lock.bytes(atMost: 24)) ?? []
        let digits = bytes.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return digits.isEmpty ? "another process" : "process \(String(decoding: digits, as: UTF8.self))"
    }
}
