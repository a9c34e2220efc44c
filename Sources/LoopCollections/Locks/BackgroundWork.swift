// Unsafe: the system receives addresses within an array while the array is lent for changes.
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif
internal import Synchronization

/// Long work on a thread of its own, in a process with threads that others wait for.
///
/// A thread that computes keeps its processor until the scheduler's next tick, which is 4 ms on many systems. A thread that was
/// woken meanwhile waits for it, sometimes next to an idle processor. Priorities do not change that. So background work yields by
/// itself: it sleeps briefly after each half millisecond of work.
package enum BackgroundWork {
    /// How long it computes before it sleeps, in nanoseconds.
    private static let work = 500_000
    /// How long it sleeps, in microseconds. The system adds about 50.
    private static let rest: UInt32 = 50

    /// When the thread that does background work last slept, in nanoseconds of `now`, or nil on any other thread.
    @TaskLocal private static var slept: Slept?

    private final class Slept: Sendable {
        let time = Atomic(now)
    }

    /// Does long work on this thread. The work yields by calling `giveWay`.
    package static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $slept.withValue(Slept(), operation: body)
    }

    /// Yields if it is time. Call it in long work about every hundred microseconds. It does nothing on a thread without background
    /// work.
    package static func giveWay() {
        guard let slept, now - slept.time.load(ordering: .relaxed) >= work else { return }
        usleep(rest)
        slept.time.store(now, ordering: .relaxed)
    }

    /// Passes bytes to `body` in steps, and yields between them.
    package static func steps(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) throws -> Void) rethrows {
        var rest = bytes
        while rest.count > stepBytes {
            try body(rest.extracting(first: stepBytes))
            rest = rest.extracting(droppingFirst: stepBytes)
            giveWay()
        }
        try body(rest)
    }

    /// Frees bytes. On Linux their memory returns to the system in steps. Returning a hundred megabytes at once takes some 5 ms, in
    /// which no other thread of the process gets memory.
    package static func discard(_ bytes: inout [UInt8]) {
        #if os(Linux) && !PORTABLE
            unsafe bytes.withUnsafeMutableBytes { bytes in
                // Only whole pages within the array are returned, wherever it begins.
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
