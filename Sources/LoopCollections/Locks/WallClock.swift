// Unsafe: the system writes the time into a local variable of this function.
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The civil time of the system.
@usableFromInline package enum WallClock {
    /// Milliseconds since 1970-01-01T00:00:00Z. It may jump in both directions when the system's clock is set.
    @usableFromInline package static var milliseconds: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
    }
}
