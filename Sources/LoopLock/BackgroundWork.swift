internal import Glibc

/// Long work on a thread of its own, beside threads that others wait for.
///
/// A thread that computes keeps its processor until the scheduler's next tick, 4 ms on many systems, while one that was
/// woken in the meantime waits for it, now and then beside an idle processor; priorities do not change that. So
/// background work gives way by itself: it sleeps for a moment whenever it has computed for half a millisecond.
public enum BackgroundWork {
    /// How long it computes before it sleeps, and how long it sleeps, in nanoseconds. The system adds some 50 µs to the sleep.
    private static let (work, rest) = (500_000, 50_000)

    /// Where a thread that does background work keeps when it last slept; none on any other.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "the system has no room for a thread's own value: error \(code)")
        return key
    }()

    /// Does long work on this thread, which gives way wherever the work allows it.
    public static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        var last = now
        return try withUnsafeMutablePointer(to: &last) { last in
            let outer = pthread_getspecific(key)
            pthread_setspecific(key, last)
            defer { pthread_setspecific(key, outer) }
            return try body()
        }
    }

    /// To be called in long work every hundred microseconds or so. Does nothing on a thread that does none.
    public static func giveWay() {
        guard let last = pthread_getspecific(key)?.assumingMemoryBound(to: Int.self),
            now - last.pointee >= work
        else { return }
        var time = timespec(tv_sec: 0, tv_nsec: rest)
        nanosleep(&time, nil)
        last.pointee = now
    }

    /// Goes through memory step by step, and gives way in between.
    public static func steps(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        var rest = bytes[...]
        while rest.count > stepBytes {
            try body(UnsafeRawBufferPointer(rebasing: rest.prefix(stepBytes)))
            rest = rest.dropFirst(stepBytes)
            giveWay()
        }
        try body(UnsafeRawBufferPointer(rebasing: rest))
    }

    /// Forgets bytes, whose memory goes back to the system step by step: a hundred megabytes at once take it some 5 ms, in which
    /// no other thread of the process gets memory.
    public static func discard(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { bytes in
            // Whole pages of its own, wherever it begins.
            let first = (-Int(bitPattern: bytes.baseAddress)) & (pageBytes - 1)
            for start in stride(from: first, through: bytes.count - pagesBytes, by: pagesBytes) {
                madvise(bytes.baseAddress.map { $0 + start }, pagesBytes, MADV_DONTNEED)
                giveWay()
            }
        }
        bytes = []
    }

    private static let stepBytes = 64 << 10
    private static let pagesBytes = 1 << 20
    private static let pageBytes = Int(getpagesize())

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
