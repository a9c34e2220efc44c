import LoopCore

/// One effect at a time: its event changes the state, which asks for the next one.
struct Pulse: LoopDefinition {
    struct State: Codable, Sendable {
        var limit = 0
        var rounds = 0
        var disorder = 0

        var wanted: Int? { rounds < limit ? rounds : nil }
    }

    enum Event: Codable, Sendable {
        case begin(Int)
        case done(Int)
    }

    static let name = "bench-pulse"

    let initial = State()
    /// Called by an effect as it starts.
    var onStart: @Sendable () -> Void = {}

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .begin(let limit): state.limit = limit
        case .done(let round):
            if round != state.rounds { state.disorder += 1 }
            state.rounds += 1
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        let onStart = onStart
        return [
            .react("pulse", request: \.wanted) { round in
                .task {
                    onStart()
                    return .done(round)
                }
            }
            .on(.workers)
        ]
    }

    func outcome(of state: State) -> Outcome? {
        guard state.limit > 0, state.rounds == state.limit else { return nil }
        return Outcome(text: "\(state.rounds) \(state.disorder)")
    }
}
