import LoopCore

/// Where a fan stands.
struct FanState: Codable, Sendable {
    var limit = 0
    var started = 0
    var done = 0
    var sum = 0
    var live: TrackedDictionary<Int, Int> = [:]
}

/// Keeps a number of effects live at once, each with one event. A finished one makes room for the next.
protocol FanDefinition: LoopDefinition where State == FanState, Event: FanEvent {
    init()
}

/// With an event that is coded by hand.
struct PackedFan: FanDefinition {
    static let name = "bench-fan-packed"
    let initial = FanState()

    func reduce(into state: inout FanState, _ event: PackedFanEvent, _: Transition) { state.take(event.step) }

    var feedbacks: [Feedback<FanState, PackedFanEvent>] {
        [.react("fan", requests: \.live) { number in .task { PackedFanEvent(.done(number)) } }.on(.workers)]
    }

    func outcome(of state: FanState) -> Outcome? { state.outcome }
}

/// With an enum whose `Codable` is synthesised.
struct PlainFan: FanDefinition {
    static let name = "bench-fan-plain"
    let initial = FanState()

    func reduce(into state: inout FanState, _ event: PlainFanEvent, _: Transition) { state.take(event.step) }

    var feedbacks: [Feedback<FanState, PlainFanEvent>] {
        [.react("fan", requests: \.live) { number in .task { .done(number) } }.on(.workers)]
    }

    func outcome(of state: FanState) -> Outcome? { state.outcome }
}

extension FanState {
    fileprivate mutating func take(_ step: FanStep) {
        switch step {
        case .begin(let limit, let window):
            self.limit = limit
            for _ in 0..<min(window, limit) { startNext() }
        case .done(let number):
            done += 1
            sum += number
            live[number] = nil
            if started < limit { startNext() }
        }
    }

    fileprivate var outcome: Outcome? {
        guard limit > 0, done == limit else { return nil }
        return Outcome(text: "\(done) \(sum)")
    }

    private mutating func startNext() {
        live[started] = started
        started += 1
    }
}
