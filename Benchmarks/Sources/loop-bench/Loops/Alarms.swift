import LoopCore

/// A million timers, of which a part is due when the loop starts. One that fires is set again, far away, so that there are always
/// as many.
struct Alarms: LoopDefinition {
    static let name = "bench-alarms"
    static let liveCount = 1_000_000

    struct State: Codable, Sendable {
        var times: TrackedDictionary<Int, WallTime> = [:]
        var fired = 0
        var dueCount = 0
    }

    enum Event: Codable, Sendable {
        case rang(Int)
    }

    let initial: State
    /// Called when the first timer fires.
    let onFirst: @Sendable () -> Void

    init(dueCount: Int, onFirst: @escaping @Sendable () -> Void) {
        var state = State(dueCount: dueCount)
        // All over the heap, whatever their keys are.
        for key in 0..<Self.liveCount { state.times[key] = key < dueCount ? Self.time(key, 0) : Self.time(key, 1) }
        initial = state
        self.onFirst = onFirst
    }

    private static func time(_ key: Int, _ century: Int64) -> WallTime {
        let place = UInt64(key) &* 0x9E37_79B9_7F4A_7C15 >> 24
        return WallTime(milliseconds: Int64(place % 1_000_000_000) + century * 4_000_000_000_000)
    }

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .rang(let key):
            if state.fired == 0 { onFirst() }
            state.fired += 1
            state.times[key] = Self.time(key, 1)
        }
    }

    var feedbacks: [Feedback<State, Event>] { [.timer("ring", at: \.times) { .rang($0) }] }

    func outcome(of state: State) -> Outcome? {
        guard state.dueCount > 0, state.fired == state.dueCount else { return nil }
        return Outcome(text: "\(state.fired) \(state.times.count)")
    }
}
