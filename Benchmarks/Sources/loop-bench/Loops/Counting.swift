import LoopCore

/// A loop that does next to nothing with an event, so that what is measured is the way to it and back.
struct Counting<Event: NumberedEvent>: LoopDefinition {
    static var name: String { "bench-counting-\(Event.word)" }

    let initial = CountingState()

    func reduce(into state: inout CountingState, _ event: Event, _: Transition) { state.apply(event.number) }

    func answer(to event: Event, in state: CountingState) -> UInt64? { state.applied }

    var feedbacks: [Feedback<CountingState, Event>] { [] }
}

/// Counts events numbered from 1 and notices any that is missing, doubled or out of its order.
struct CountingState: Codable, Sendable, Equatable {
    var applied: UInt64 = 0
    var disorder: UInt64 = 0

    mutating func apply(_ number: UInt64) {
        applied += 1
        if number != applied { disorder += 1 }
    }

    /// - Throws: `BenchmarkError.promise` unless exactly the events 1 to `count` were applied, in that order (G1, G3, G4).
    func check(_ count: UInt64) throws {
        guard applied == count, disorder == 0 else {
            throw BenchmarkError.promise("\(count) events were sent, \(applied) applied, \(disorder) out of order")
        }
    }
}
