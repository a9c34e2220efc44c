/// A point on the node's own steady clock, in nanoseconds from an arbitrary start. Never crosses a process.
public struct MonotonicTime: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    public var nanoseconds: UInt64

    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    public static let zero = MonotonicTime(nanoseconds: 0)

    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Later by `duration`; stays at the ends of the scale instead of overflowing.
    public static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let nanoseconds = duration.wholeNanoseconds
        if nanoseconds >= 0 {
            let (sum, overflow) = time.nanoseconds.addingReportingOverflow(UInt64(nanoseconds))
            return MonotonicTime(nanoseconds: overflow ? .max : sum)
        }
        let back = nanoseconds.magnitude
        return MonotonicTime(nanoseconds: time.nanoseconds > back ? time.nanoseconds - back : 0)
    }

    public static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime { time + (.zero - duration) }

    public static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
        a.nanoseconds >= b.nanoseconds
            ? .nanoseconds(Int64(clamping: a.nanoseconds - b.nanoseconds))
            : .zero - .nanoseconds(Int64(clamping: b.nanoseconds - a.nanoseconds))
    }

    public var description: String { "\(nanoseconds)ns" }
}

/// Civil time in milliseconds since 1970-01-01T00:00:00Z. Journaled; never used to judge who is alive.
public struct WallTime: Hashable, Comparable, Codable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    public static func < (a: WallTime, b: WallTime) -> Bool { a.milliseconds < b.milliseconds }

    public static func + (time: WallTime, duration: Duration) -> WallTime {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.wholeNanoseconds / 1_000_000)
        return WallTime(milliseconds: overflow ? .max : sum)
    }
}

/// Both clocks, read together by a shell and handed to a machine.
public struct Moment: Hashable, Sendable {
    public var monotonic: MonotonicTime
    public var wall: WallTime

    public init(monotonic: MonotonicTime, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

extension Duration {
    /// The whole duration in nanoseconds, kept within `Int64`.
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, for people and for ratios.
    public var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
