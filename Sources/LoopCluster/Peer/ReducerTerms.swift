/// The intervals that a reducer asks of its peers, within bounds. A broken reducer can then neither silence a peer nor make it
/// send without pause.
struct ReducerTerms: Sendable {
    let silenceLimit: Duration
    let tickInterval: Duration
    /// The names of the feedbacks, in the order of their numbers.
    let feedbacks: [String]

    /// Creates terms from what a reducer asks for: a silence limit of 20 ms to 1 h, and ticks 5 ms to 10 s apart.
    init(
        silenceLimit: Duration = .seconds(3), tickInterval: Duration = .milliseconds(500), feedbacks: [String] = []
    ) {
        self.silenceLimit = min(max(silenceLimit, .milliseconds(20)), .seconds(3600))
        self.tickInterval = min(max(tickInterval, .milliseconds(5)), .seconds(10))
        self.feedbacks = feedbacks
    }

    /// How long a peer waits after it was asked to come back later: 100 ms to 60 s.
    static func pause(_ asked: Duration) -> Duration { min(max(asked, .milliseconds(100)), .seconds(60)) }
}
