package import LoopCore

/// Durations, counted by how long they were.
package struct Histogram: Equatable, Sendable {
    /// The upper bounds of the buckets in seconds.
    package static let bounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300,
    ]
    /// The upper bounds in nanoseconds. Comparing numbers of seconds would cost each effect a division.
    private static let limits = bounds.map { UInt64($0 * 1e9) }

    /// How many durations each bucket has. The last one has those above all bounds.
    package private(set) var counts = [UInt64](repeating: 0, count: Histogram.bounds.count + 1)
    private var nanoseconds = 0.0
    /// The sum of all durations in seconds.
    package var sum: Double { nanoseconds / 1e9 }

    /// Creates a histogram without durations.
    package init() {}

    /// Counts the time from one moment to another as often as it occurred. It is zero if the second is the earlier one.
    package mutating func note(from start: MonotonicTime, to end: MonotonicTime, times: UInt64 = 1) {
        count(end.nanoseconds - min(start.nanoseconds, end.nanoseconds), times)
    }

    /// Counts a duration, which is not negative.
    package mutating func note(_ duration: Duration) { count(UInt64(max(duration.wholeNanoseconds, 0)), 1) }

    private mutating func count(_ duration: UInt64, _ times: UInt64) {
        nanoseconds += Double(duration) * Double(times)
        counts[Self.limits.firstIndex { duration <= $0 } ?? Self.limits.count] += times
    }
}
