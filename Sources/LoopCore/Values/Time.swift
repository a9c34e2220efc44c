/// A time on the node's own monotonic clock, in nanoseconds from an arbitrary start. It never leaves its process.
package struct MonotonicTime: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// Nanoseconds since the clock's arbitrary start.
    package var nanoseconds: UInt64

    /// Creates a time from nanoseconds since the clock's arbitrary start.
    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// The clock's start, which no time precedes.
    package static let zero = MonotonicTime(nanoseconds: 0)

    /// Orders by time: the earlier is less.
    package static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// A time that is later by `duration`, clamped to the ends of the scale.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let nanoseconds = duration.wholeNanoseconds
        if nanoseconds >= 0 {
            let (sum, overflow) = time.nanoseconds.addingReportingOverflow(UInt64(nanoseconds))
            return MonotonicTime(nanoseconds: overflow ? .max : sum)
        }
        let back = nanoseconds.magnitude
        return MonotonicTime(nanoseconds: time.nanoseconds > back ? time.nanoseconds - back : 0)
    }

    /// A time that is earlier by `duration`, clamped to the ends of the scale.
    package static func - (time: MonotonicTime, duration: Duration) -> MonotonicTime { time + (.zero - duration) }

    /// How much later `a` is than `b`, or a negative duration if it is earlier. Clamped to `Int64` nanoseconds.
    package static func - (a: MonotonicTime, b: MonotonicTime) -> Duration {
        a.nanoseconds >= b.nanoseconds
            ? .nanoseconds(Int64(clamping: a.nanoseconds - b.nanoseconds))
            : .zero - .nanoseconds(Int64(clamping: b.nanoseconds - a.nanoseconds))
    }

    /// The nanoseconds in decimal digits, with the unit: `1500ns`.
    package var description: String { "\(nanoseconds)ns" }
}

/// Civil time in milliseconds since 1970-01-01T00:00:00Z. It is journaled, and never used to detect failures.
public struct WallTime: Hashable, Comparable, Codable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z; negative before.
    public var milliseconds: Int64

    /// Creates a time from milliseconds since 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Orders by time: the earlier is less.
    public static func < (a: WallTime, b: WallTime) -> Bool { a.milliseconds < b.milliseconds }

    /// A time that is later by the duration's whole milliseconds, which drops any smaller rest. Clamped to the end of the scale.
    public static func + (time: WallTime, duration: Duration) -> WallTime {
        let (sum, overflow) = time.milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        return WallTime(milliseconds: overflow ? .max : sum)
    }
}

/// A reading of both clocks, which a shell passes to a machine.
package struct Moment: Hashable, Sendable {
    /// The time on the monotonic clock, for limits and silence.
    package var monotonic: MonotonicTime
    /// The civil time, for the journal and for people.
    package var wall: WallTime

    /// Creates a moment from both times, which were read together.
    package init(monotonic: MonotonicTime, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

extension Duration {
    /// The duration in whole nanoseconds, clamped to `Int64`.
    package var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in whole milliseconds, without the rest, clamped as `wholeNanoseconds` is.
    package var wholeMilliseconds: Int64 { wholeNanoseconds / 1_000_000 }

    /// The duration in seconds, for people and for ratios.
    package var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }

    /// The duration for people, in its largest units: "250 ms", "90 s", "5 min" or "23 h 58 min".
    package var text: String {
        let seconds = components.seconds
        if self < .seconds(1) { return "\(wholeMilliseconds) ms" }
        if seconds < 120 { return "\(seconds) s" }
        let parts = [(seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min")].drop { $0.0 == 0 }
        return parts.prefix(2).filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}
