/// Decides how long a turn of the reducer reads what peers push.
///
/// Nothing leaves before its turn has ended. If a turn drained everything, senders with full outboxes would wait until it ended,
/// and then the reducer for them. With short turns, senders and reducer work at the same time. But a turn has a fixed cost, above
/// all the sync of its append, which must not become most of the work.
///
/// The quickest of the last few turns counts. Behind one slow sync, many messages have gathered, and a long turn would
/// keep them together.
struct TurnPace: Equatable {
    private(set) var drainDuration = TurnPace.shortest
    /// The newest in front.
    private var closings: [Duration] = []

    private static var shortest: Duration { .microseconds(250) }
    private static var longest: Duration { .milliseconds(5) }
    private static var closingsMax: Int { 16 }

    /// - Parameter closing: how long the last turn took from the last batch until its records were appended.
    mutating func note(closing: Duration) {
        closings.insert(closing, at: 0)
        if closings.count > Self.closingsMax { closings.removeLast() }
        let quickest = closings.min() ?? closing
        drainDuration = min(max(quickest + quickest + quickest + quickest, Self.shortest), Self.longest)
    }
}
