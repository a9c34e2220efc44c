// Unsafe: the system is told addresses within an array, while the array is lent to be changed.
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import Synchronization

/// Long work on a thread of its own, next to threads that others wait for.
///
/// A thread that computes keeps its processor until the scheduler's next tick, 4 ms on many systems, while one that was
/// woken in the meantime waits for it, now and then next to an idle processor; priorities do not change that. So
/// background work gives way by itself: it sleeps for a moment whenever it has computed for half a millisecond.
public enum BackgroundWork {
    /// How long it computes before it sleeps, in nanoseconds.
    private static let work = 500_000
    /// How long it sleeps, in microseconds. The system adds some 50 to it.
    private static let rest: UInt32 = 50

    /// When the thread that does background work last slept, in nanoseconds of `now`; nil on any other thread.
    @TaskLocal private static var slept: Slept?

    private final class Slept: Sendable {
        let time = Atomic(now)
    }

    /// Does long work on this thread, which gives way wherever the work allows it.
    public static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $slept.withValue(Slept(), operation: body)
    }

    /// To be called in long work every hundred microseconds or so. Does nothing on a thread that does none.
    public static func giveWay() {
        guard let slept, now - slept.time.load(ordering: .relaxed) >= work else { return }
        usleep(rest)
        slept.time.store(now, ordering: .relaxed)
    }

    /// Goes through bytes step by step, and gives way in between.
    public static func steps(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) rethrows {
        var rest = bytes
        while rest.count > stepBytes {
            try body(rest.extracting(first: stepBytes))
            rest = rest.extracting(droppingFirst: stepBytes)
            giveWay()
        }
        try body(rest)
    }

    /// Forgets bytes. On Linux their memory goes back to the system step by step: a hundred megabytes at once take it some 5 ms,
    /// in which no other thread of the process gets memory.
    public static func discard(_ bytes: inout [UInt8]) {
        #if os(Linux) && !PORTABLE
            unsafe bytes.withUnsafeMutableBytes { bytes in
                // Whole pages of its own, wherever it begins.
                let first = (-Int(bitPattern: bytes.baseAddress)) & (pageBytes - 1)
                for start in stride(from: first, through: bytes.count - pagesBytes, by: pagesBytes) {
                    unsafe madvise(bytes.baseAddress.map { unsafe $0 + start }, pagesBytes, MADV_DONTNEED)
                    giveWay()
                }
            }
        #endif
        bytes = []
    }

    private static let stepBytes = 64 << 10
    private static let pagesBytes = 1 << 20
    private static let pageBytes = Int(getpagesize())

    /// Nanoseconds since the first background work of this process.
    private static var now: Int {
        let elapsed = origin.duration(to: .now).components
        return Int(elapsed.seconds) * 1_000_000_000 + Int(elapsed.attoseconds / 1_000_000_000)
    }

    private static let origin = SuspendingClock.now
}
