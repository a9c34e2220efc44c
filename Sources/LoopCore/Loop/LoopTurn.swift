/// The data of the thread that drains the queue. It is passed on with the right to drain.
@usableFromInline
package struct LoopTurn<State: Sendable, Event: Sendable>: Sendable {
    @usableFromInline package var state: State
    @usableFromInline package var seq = Seq.initial
    @usableFromInline var evaluator: Evaluator<State, Event>
    @usableFromInline let reduce: LoopReduce<State, Event>
    private let groups: [(@Sendable (any Sendable) -> String)?]
    private let priorities: [(@Sendable (any Sendable) -> Int32)?]
    private let seed: UInt64
    /// The time of the last transition, a lower bound for the next one.
    private var time = WallTime(milliseconds: 0)

    /// A change by a query, with the group and the priority of its request. User code computes these, so they are computed
    /// here, outside of the lock.
    package enum Wish: Sendable {
        case start(EffectID, request: any Sendable, group: String?, priority: Int32)
        case update(EffectID, request: any Sendable, priority: Int32)
        case cancel(EffectID)
    }

    package init(
        initial: State, reduce: LoopReduce<State, Event>, feedbacks: [Feedback<State, Event>], seed: UInt64
    ) {
        state = initial
        self.reduce = reduce
        groups = feedbacks.isEmpty ? [] : feedbacks.map { $0.group }
        priorities = feedbacks.isEmpty ? [] : feedbacks.map { $0.priority }
        evaluator = Evaluator(feedbacks: feedbacks)
        self.seed = seed
    }

    /// Applies one event or one direct change, or evaluates the initial state for nil.
    @inlinable
    package mutating func advance(
        _ input: LoopInput<State, Event>?, wallMilliseconds: () -> Int64
    ) -> [EffectChange] {
        var applied: Event?
        switch input {
        case .event(let event):
            applied = event
            seq = seq.next
            switch reduce {
            case .plain(let reduce): reduce(&state, event)
            case .informed(let reduce):
                let transition = transition(wallMilliseconds())
                reduce(&state, event, transition)
            }
        case .change(let change):
            seq = seq.next
            change(&state)
        case nil: break
        }
        var changes: [EffectChange] = []
        if !evaluator.isEmpty { evaluator.advance(state: state, event: applied, seq: seq, into: &changes) }
        return changes
    }

    @usableFromInline
    mutating func transition(_ wallMilliseconds: Int64) -> Transition {
        time.milliseconds = max(time.milliseconds, wallMilliseconds)
        return Transition(seq: seq, time: time, seed: seed)
    }

    /// The changes of the queries, with groups and priorities.
    package func wishes(_ changes: [EffectChange]) -> [Wish] {
        changes.map { change in
            switch change {
            case .start(let id, let request):
                .start(
                    id, request: request, group: groups[Int(id.feedback)]?(request),
                    priority: priorities[Int(id.feedback)]?(request) ?? 0)
            case .update(let id, let request):
                .update(id, request: request, priority: priorities[Int(id.feedback)]?(request) ?? 0)
            case .cancel(let id): .cancel(id)
            }
        }
    }
}

/// The function that folds an event into a loop's state.
@usableFromInline
package enum LoopReduce<State, Event>: Sendable {
    /// A function of event and state alone, for which no clock is read.
    case plain(@Sendable (inout State, Event) -> Void)
    /// A function that also gets the transition's number, time and random numbers.
    case informed(@Sendable (inout State, Event, Transition) -> Void)
}

/// An input that changes a state.
@usableFromInline
package enum LoopInput<State: Sendable, Event: Sendable>: Sendable {
    case event(Event)
    case change(@Sendable (inout State) -> Void)
}
