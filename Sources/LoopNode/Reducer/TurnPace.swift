import LoopCore

/// For how long a turn of the reducer takes what peers push.
///
/// Nothing leaves before its turn has ended. Would a turn take all that has come, then senders whose outboxes are full
/// waited until it is done, and the reducer until they have sent again. So turns are short, and all work at the same time;
/// but not so short that what each costs once, above all the sync of its append, becomes most of the work.
///
/// What counts is the quickest of the last few turns: behind one slow sync stands all that came meanwhile, and a long turn
/// would keep it together.
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
