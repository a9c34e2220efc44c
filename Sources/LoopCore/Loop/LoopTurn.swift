/// What belongs to the one thread that drains the queue, and is handed over with the right to drain.
package struct LoopTurn<State: Sendable, Event: Sendable>: Sendable {
    package var state: State
    package var seq = Seq.initial
    private var evaluator: Evaluator<State, Event>
    private let reduce: @Sendable (inout State, Event, Transition) -> Void
    private let groups: [(@Sendable (any Sendable) -> String)?]
    private let seed: UInt64
    /// The time of the last transition, below which the next one's does not go.
    private var time = WallTime(milliseconds: 0)

    /// A wish of a query, with the group of a start, which is the user's code and thus found out here.
    package enum Wish: Sendable {
        case start(EffectID, request: any Sendable, group: String?)
        case update(EffectID, request: any Sendable)
        case cancel(EffectID)
    }

    package init(
        initial: State, reduce: @escaping @Sendable (inout State, Event, Transition) -> Void,
        feedbacks: [Feedback<State, Event>], seed: UInt64
    ) {
        state = initial
        self.reduce = reduce
        groups = feedbacks.map(\.group)
        evaluator = Evaluator(feedbacks: feedbacks)
        self.seed = seed
    }

    /// Applies one event, or one direct change, or, for the start, nothing.
    package mutating func advance(_ input: LoopInput<State, Event>?, wallMilliseconds: Int64) -> [Wish] {
        time.milliseconds = max(time.milliseconds, wallMilliseconds)
        var event: Event?
        switch input {
        case .event(let new):
            seq = seq.next
            reduce(&state, new, Transition(seq: seq, time: time, seed: seed))
            event = new
        case .change(let change):
            seq = seq.next
            change(&state)
        case nil:
            break
        }
        var changes: [EffectChange] = []
        evaluator.advance(state: state, event: event, seq: seq, into: &changes)
        return changes.map { change in
            switch change {
            case .start(let id, let request): .start(id, request: request, group: groups[Int(id.feedback)]?(request))
            case .update(let id, let request): .update(id, request: request)
            case .cancel(let id): .cancel(id)
            }
        }
    }
}

/// What changes a state.
package enum LoopInput<State: Sendable, Event: Sendable>: Sendable {
    case event(Event)
    case change(@Sendable (inout State) -> Void)
}
