import LoopCompatibility
import LoopCore
import LoopWire
import Testing

@Suite struct `G8 what queries remember` {
    private let coder = CBORCoder()

    @Test(arguments: 0..<UInt64(16))
    func `is enough to go on exactly as the evaluator that was never saved`(seed: UInt64) throws {
        let garden = Garden()
        var random = SeededRandom(seed: seed)
        var original = Evaluator(feedbacks: garden.feedbacks, coder: coder)
        var restored = original
        var state = garden.initial
        var starts = 0
        for step in 0..<120 {
            let event = step == 0 ? nil : Garden.Event.any(&random)
            if let event {
                garden.reduce(into: &state, event, Transition(seq: .initial, time: WallTime(milliseconds: 0), seed: 0))
            }
            let seq = Seq(UInt64(step))
            let (one, two) = (advance(&original, state, event, seq), advance(&restored, state, event, seq))
            try #require(one.filter(isNotUnordered) == two.filter(isNotUnordered), "step \(step)")
            try #require(one.map(prefix) == two.map(prefix), "step \(step)")
            starts += one.count { $0.hasPrefix("start") }
            let memory = try original.memory(coder)
            #expect(try restored.memory(coder) == memory)
            if Int.random(in: 0..<3, using: &random) == 0 {
                restored = Evaluator(feedbacks: garden.feedbacks, coder: coder)
                try restored.restore(memory, state: state, coder: coder)
            }
        }
        #expect(starts > 300)
    }

    /// Requests that hold a dictionary print in no order; their effects are compared, and their bytes by the memory.
    private func isNotUnordered(_ change: String) -> Bool { !change.contains("State(") }
    private func prefix(_ change: String) -> Substring { change.prefix { $0 != ":" } }

    private func advance(
        _ evaluator: inout Evaluator<Garden.State, Garden.Event>, _ state: Garden.State, _ event: Garden.Event?,
        _ seq: Seq
    ) -> [String] {
        var changes: [EffectChange] = []
        evaluator.advance(state: state, event: event, seq: seq, into: &changes)
        return changes.map(\.inWords)
    }

    @Test func `of another form of feedback is refused`() throws {
        let single = Feedback<Int?, String>.lensing("a", state: { $0 }, effects: { (_: Int) in .none })
        let keyed = Feedback<Int?, String>.react("a", requests: { [1: $0 ?? 0] }, effect: { (_: Int) in .none })
        var one = Evaluator(feedbacks: [single], coder: coder)
        var changes: [EffectChange] = []
        one.advance(state: 1, event: nil, seq: .initial, into: &changes)
        let memory = try one.memory(coder)
        var other = Evaluator(feedbacks: [keyed], coder: coder)
        #expect(throws: QueryMemoryError("what it remembers is of another form of feedback")) {
            try other.restore(memory, state: 1, coder: coder)
        }
        #expect(throws: QueryMemoryError("there are memories of 0 queries for 1")) {
            try other.restore([:], state: 1, coder: coder)
        }
    }

    @Test func `needs keys and requests that are Codable, and says which are not`() {
        struct Opaque: Hashable, Sendable {}
        let feedbacks: [Feedback<Int, String>] = [
            .react("keys", requests: { [Opaque(): $0] }, effect: { (_: Int) in .none }),
            .react("requests", requests: { _ in [Opaque()] }, effect: { (_: Opaque) in .none }),
            .lensing("part", state: { _ in Opaque() }, effects: { (_: Opaque) in .none }).optional()
                .pullback(value: { $0 }, embedEvent: { $0 }, extractEvent: { $0 }),
            .lensing("fine", state: { $0 }, effects: { (_: Int) in .none }),
        ]
        #expect(feedbacks.map { $0.makeQuery?().uncodable } == ["Opaque", "Opaque", "Opaque", nil])
        var evaluator = Evaluator(feedbacks: [feedbacks[0]], coder: coder)
        var changes: [EffectChange] = []
        evaluator.advance(state: 1, event: nil, seq: .initial, into: &changes)
        #expect(throws: QueryMemoryError("its keys are of type Opaque, which is not Codable")) {
            _ = try evaluator.memory(coder)
        }
    }
}
