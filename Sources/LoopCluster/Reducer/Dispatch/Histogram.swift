/// Durations, counted by how long they were.
package struct Histogram: Equatable, Sendable {
    /// The upper bounds of the buckets in seconds.
    package static let bounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300,
    ]

    /// How many durations each bucket has. The last one has those above all bounds.
    package private(set) var counts = [UInt64](repeating: 0, count: Histogram.bounds.count + 1)
    /// The sum of all durations in seconds.
    package private(set) var sum = 0.0

    /// Creates a histogram without durations.
    package init() {}

    /// Counts a duration as often as it occurred.
    package mutating func note(_ duration: Duration, times: UInt64 = 1) {
        let seconds = duration / .seconds(1)
        sum += seconds * Double(times)
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += times
    }
}
