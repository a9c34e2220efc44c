import CBOR
import LoopCore

/// An event whose number is counted.
protocol NumberedEvent: Codable, Sendable {
    static var word: String { get }
    init(number: UInt64)
    var number: UInt64 { get }
}

/// An event of 64 encoded bytes with its own coding: one byte string that begins with its number.
struct PackedEvent: NumberedEvent {
    static var word: String { "packed" }

    let number: UInt64

    init(number: UInt64) { self.number = number }

    func encode(to encoder: any Encoder) throws {
        var bytes = [UInt8](repeating: 0, count: 62)
        for place in 0..<8 { bytes[place] = UInt8(truncatingIfNeeded: number >> UInt64(8 * place)) }
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }

    init(from decoder: any Decoder) throws {
        let bytes = try decoder.singleValueContainer().decode([UInt8].self)
        guard bytes.count == 62 else {
            throw WireError.refused(path: "event", why: "it has \(bytes.count) bytes in place of 62")
        }
        number = bytes[..<8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// A typical event of users: an enum with payloads and synthesized `Codable`.
enum PlainEvent: NumberedEvent {
    case moved(number: UInt64, x: Double, y: Double, by: String)
    case paused

    static var word: String { "plain" }

    init(number: UInt64) { self = .moved(number: number, x: 52.5161, y: 13.3777, by: "a ferry") }

    var number: UInt64 {
        switch self {
        case .moved(let number, _, _, _): number
        case .paused: 0
        }
    }
}

/// A loop that does almost nothing with an event.
struct Counting<Event: NumberedEvent>: LoopDefinition {
    struct State: Codable, Sendable {
        var applied: UInt64 = 0
        var last: UInt64 = 0
    }

    static var name: String { "counting-\(Event.word)" }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        state.applied += 1
        state.last = event.number
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}

/// A loop with a fixed number of live effects. Each one that completes makes space for the next.
struct Fan: LoopDefinition {
    struct State: Codable, Sendable {
        var started = 0
        var done = 0
        var live: TrackedDictionary<Int, Int> = [:]
    }

    enum Event: Codable, Sendable {
        case begin(Int)
        case done(Int)
    }

    static let name = "fan"

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .begin(let count): for _ in 0..<count { state.startNext() }
        case .done(let number):
            state.done += 1
            state.live[number] = nil
            state.startNext()
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.react("fan", requests: \.live) { number in .task { .done(number) } }.on(.workers)]
    }
}

extension Fan.State {
    fileprivate mutating func startNext() {
        live[started] = started
        started += 1
    }
}
