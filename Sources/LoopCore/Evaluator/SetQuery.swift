/// The query of a feedback with one live effect for each element of a set: a `KeyedQuery` whose keys are the requests.
/// An unchanged set costs one comparison.
package struct SetQuery<State: Sendable, Event: Sendable, Request: Hashable & Sendable>: FeedbackQuery {
    private let requests: @Sendable (State) -> Set<Request>
    private var keyed = KeyedQuery<[Request: Request], Event, Request, Request>(requests: { $0 })
    private var wanted: Set<Request> = []

    package init(requests: @escaping @Sendable (State) -> Set<Request>) { self.requests = requests }

    package mutating func prepare(feedback: UInt32, coder: (any ValueCoder)?) {
        keyed.prepare(feedback: feedback, coder: coder)
    }

    package mutating func advance(state: State, event: Event?, seq: Seq, into changes: inout [EffectChange]) {
        let now = requests(state)
        if now == wanted { return }
        wanted = now
        let keys = Dictionary(uniqueKeysWithValues: now.map { ($0, $0) })
        keyed.advance(state: keys, event: event, seq: seq, into: &changes)
    }

    package mutating func cancelAll(into changes: inout [EffectChange]) {
        keyed.cancelAll(into: &changes)
        wanted = []
    }
}
