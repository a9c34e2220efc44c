import LoopCore

/// Each event asks for an effect, which takes some milliseconds and tells that it is done.
struct Errands: LoopDefinition {
    struct State: Codable, Sendable {
        var asked = 0
        /// Events that came in another order than that of sending.
        var disorder = 0
        var done = 0
        /// Results of effects that had one already.
        var doneAgain = 0
        var live: TrackedDictionary<Int, Int> = [:]
        var isClosing = false
    }

    enum Event: Codable, Sendable {
        case ask(Int)
        case done(Int)
        case close
    }

    static let name = "bench-errands"

    let initial = State()
    /// Called by an effect as it starts.
    var onStart: @Sendable (Int) -> Void = { _ in }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .ask(let number):
            state.asked += 1
            if number != state.asked { state.disorder += 1 }
            state.live[number] = number
        case .done(let number):
            if state.live[number] == nil { state.doneAgain += 1 }
            state.live[number] = nil
            state.done += 1
        case .close: state.isClosing = true
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        let onStart = onStart
        return [
            .react("errands", requests: \.live) { number in
                .task {
                    onStart(number)
                    try await Task.sleep(for: .milliseconds(5))
                    return .done(number)
                }
            }
            .on(.workers)
        ]
    }

    func outcome(of state: State) -> Outcome? {
        guard state.isClosing, state.live.isEmpty else { return nil }
        return Outcome(text: "\(state.asked) \(state.done) \(state.disorder) \(state.doneAgain)")
    }
}
