import LoopCore

/// So many effects live at once, each with one event; a finished one makes room for the next.
struct Fan: LoopDefinition {
    struct State: Codable, Sendable {
        var limit = 0
        var started = 0
        var done = 0
        var sum = 0
        var live: TrackedDictionary<Int, Int> = [:]
    }

    enum Event: Codable, Sendable {
        case begin(limit: Int, window: Int)
        case done(Int)
    }

    static let name = "bench-fan"

    let initial = State()

    func reduce(_ state: inout State, _ event: Event) {
        switch event {
        case .begin(let limit, let window):
            state.limit = limit
            for _ in 0..<min(window, limit) { state.startNext() }
        case .done(let number):
            state.done += 1
            state.sum += number
            state.live[number] = nil
            if state.started < state.limit { state.startNext() }
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.each("fan", requests: \.live, on: .workers) { number in .task { .done(number) } }]
    }

    func outcome(of state: State) -> Outcome? {
        guard state.limit > 0, state.done == state.limit else { return nil }
        return Outcome(text: "\(state.done) \(state.sum)")
    }
}

extension Fan.State {
    fileprivate mutating func startNext() {
        live[started] = started
        started += 1
    }
}
