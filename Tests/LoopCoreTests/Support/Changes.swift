import LoopCore

/// Runs the queries of feedbacks by hand and tells in words what they wish.
struct Wishes<State: Sendable, Event: Sendable> {
    private var evaluator: Evaluator<State, Event>
    private var seq: Seq?

    init(_ feedbacks: Feedback<State, Event>...) { evaluator = Evaluator(feedbacks: feedbacks) }

    /// The first call is the initial state.
    mutating func after(_ state: State, _ event: Event? = nil) -> [String] {
        seq = seq?.next ?? .initial
        var changes: [EffectChange] = []
        evaluator.advance(state: state, event: event, seq: seq ?? .initial, into: &changes)
        return changes.map { change in
            switch change {
            case .start(let id, let request): "start \(id): \(request)"
            case .update(let id, let request): "update \(id): \(request)"
            case .cancel(let id): "cancel \(id)"
            }
        }
    }
}

extension Reducer {
    /// Folds an event in a test that is not about transitions.
    func callAsFunction(_ state: inout State, _ event: Event) {
        self(&state, event, Transition(seq: .initial, time: WallTime(milliseconds: 0), seed: 0))
    }
}
