import Foundation
import LoopCore
import LoopTesting
import Testing

/// A loop that looks at something outside of its state and event.
private struct Notes: LoopDefinition {
    struct State: Codable, Sendable, Equatable {
        var times: [Double] = []
        var wanted: [String: Int] = [:]
    }

    enum Event: Codable, Sendable {
        case written, asked
    }

    static let name = "notes"
    let initial = State()
    /// What `reduce` writes down.
    let look: @Sendable (Transition) -> Double
    /// What the request of an effect is.
    var request: @Sendable () -> Int = { 1 }

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        switch event {
        case .written: state.times.append(look(transition))
        case .asked: state.wanted["a"] = 1
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [
            .react("fetch", requests: wanted) { (_: Int) in .none }
        ]
    }

    private var wanted: @Sendable (State) -> Set<Int> {
        { [request] state in Set(state.wanted.values.map { _ in request() }) }
    }
}

@Suite struct `A definition under test` {
    private func failure(of notes: Notes, _ event: Notes.Event) throws -> TestLoopFailure {
        try #require(throws: TestLoopFailure.self) {
            try TestLoop.run(notes, mode: .selective) { loop in try loop.send(event) }
        }
    }

    @Test func `fails when reduce reads a clock`() throws {
        let failure = try failure(of: Notes { _ in Date().timeIntervalSince1970 }, .written)
        #expect(failure.summary.hasPrefix("send(written): reduce is not a function of state and event"))
        #expect(failure.details.contains { $0.hasPrefix("- times[0]") })
    }

    @Test func `fails when reduce takes random numbers`() throws {
        _ = try failure(of: Notes { _ in Double.random(in: 0..<1) }, .written)
    }

    @Test func `fails when a query asks for something else each time`() throws {
        let notes = Notes(look: { _ in 0 }, request: { .random(in: 0 ... .max) })
        let failure = try failure(of: notes, .asked)
        #expect(failure.details.contains { $0.contains("start ") })
    }

    @Test func `passes with the time and the random numbers of its transitions`() throws {
        let notes = Notes { transition in
            var random = transition.random
            return Double(transition.time.milliseconds) + Double.random(in: 0..<1, using: &random)
        }
        try TestLoop.run(notes, mode: .withoutStates) { loop in
            try loop.send(.written)
            #expect(loop.state.times.count == 1)
        }
    }
}
