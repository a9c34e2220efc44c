import LoopCore

/// Tickets that are reserved for ten minutes.
struct Tickets: LoopDefinition {
    struct State: Codable, Equatable, Sendable {
        /// Until when each reserved seat is kept.
        var reserved: TrackedDictionary<Int, WallTime> = [:]
        var sold: Set<Int> = []
    }

    enum Event: Codable, Equatable, Sendable {
        case reserve(seat: Int)
        case pay(seat: Int)
        case expired(seat: Int)
    }

    static let name = "tickets"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        switch event {
        case .reserve(let seat): state.reserved[seat] = transition.time + .seconds(600)
        case .pay(let seat):
            if state.reserved.removeValue(forKey: seat) != nil { state.sold.insert(seat) }
        case .expired(let seat): state.reserved[seat] = nil
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.timer("deadline", at: \.reserved) { seat in .expired(seat: seat) }]
    }
}
