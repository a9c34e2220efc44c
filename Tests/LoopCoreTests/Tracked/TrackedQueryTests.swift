import LoopCore
import Testing

/// Feedbacks of a `TrackedDictionary` against those of a `Dictionary` of the same entries.
@Suite struct `Queries of tracked dictionaries` {
    struct State: Sendable {
        // It does not begin where the state begins.
        var title = ""
        var tracked: TrackedDictionary<Int, String> = [:]
        var same: TrackedDictionary<Int, String> { tracked }
        var plain: [Int: String] { Dictionary(uniqueKeysWithValues: tracked.map { ($0.key, $0.value) }) }
    }

    typealias Machine = Evaluator<State, Int>

    static func tracked() -> Machine {
        Machine(feedbacks: [.react("a", requests: \.tracked) { (_: String) in .none }], coder: PlainCoder())
    }

    enum Form: CaseIterable {
        case stored, computed, chosen
    }

    static func tracked(_ form: Form) -> Machine {
        let feedback: Feedback<State, Int> =
            switch form {
            case .stored: .react("a", requests: \.tracked) { (_: String) in .none }
            case .computed: .react("a", requests: \.same) { (_: String) in .none }
            case .chosen:
                .react("a", each: \.tracked) {
                    $0 % 3 == 0 ? nil : "\($0)\($1)"
                } effect: { (_: String) in
                    .none
                }
            }
        return Machine(feedbacks: [feedback], coder: PlainCoder())
    }

    /// What `chosen` makes of the entries, made again for each event.
    static func plain(_ form: Form) -> Machine {
        let requests: @Sendable (State) -> [Int: String] = { state in
            Dictionary(uniqueKeysWithValues: state.tracked.filter { $0.key % 3 != 0 }.map { ($0, "\($0)\($1)") })
        }
        let chosen = Feedback<State, Int>.react("a", requests: requests) { (_: String) in .none }
        return form == .chosen ? Machine(feedbacks: [chosen], coder: PlainCoder()) : plain()
    }

    static func plain() -> Machine {
        Machine(feedbacks: [.react("a", requests: \.plain) { (_: String) in .none }], coder: PlainCoder())
    }

    @Test(arguments: 1...12, Form.allCases)
    func `they start, update and cancel the same effects, also from memory`(seed: UInt64, form: Form) throws {
        var random = SeededRandom(seed: seed)
        let keys = [3, 30, 300][Int(seed % 3)]
        var state = State()
        var (a, b) = (Self.tracked(form), Self.plain(form))
        for step in 0..<200 {
            for _ in 0..<Int.random(in: 0..<8, using: &random) { change(&state, keys, &random) }
            var (ofA, ofB): ([EffectChange], [EffectChange]) = ([], [])
            switch Int.random(in: 0..<30, using: &random) {
            case 0:
                // Goes on in another process. The state that is read back shares nothing with the one before.
                let (memoryOfA, memoryOfB) = (try a.memory(PlainCoder()), try b.memory(PlainCoder()))
                #expect(memoryOfA == memoryOfB)
                (a, b) = (Self.tracked(form), Self.plain(form))
                let read = State(tracked: TrackedDictionary(state.tracked.map { ($0.key, $0.value) }))
                try a.restore(memoryOfB, state: read, coder: PlainCoder())
                try b.restore(memoryOfA, state: read, coder: PlainCoder())
            case 1:
                // Another definition takes over.
                let memory = try a.memory(PlainCoder())
                (a, b) = (Self.tracked(form), Self.plain(form))
                a.adopt(memory, coder: PlainCoder(), into: &ofA)
                b.adopt(memory, coder: PlainCoder(), into: &ofB)
                a.reconcile(state: state, seq: Seq(UInt64(step)), firstIndex: 7, into: &ofA)
                b.reconcile(state: state, seq: Seq(UInt64(step)), firstIndex: 7, into: &ofB)
            default:
                a.advance(state: state, event: 0, seq: Seq(UInt64(step)), into: &ofA)
                b.advance(state: state, event: 0, seq: Seq(UInt64(step)), into: &ofB)
            }
            #expect(ofA.map { "\($0)" } == ofB.map { "\($0)" }, "seed \(seed), step \(step)")
        }
    }

    private func change(_ state: inout State, _ keys: Int, _ random: inout SeededRandom) {
        let key = Int.random(in: 0..<keys, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: state.tracked[key] = nil
        case 4: state.tracked[key]?.append("!")
        case 5:
            // Removed and inserted again.
            if let value = state.tracked.removeValue(forKey: key) { state.tracked[key] = value }
        case 6 where Bool.random(using: &random):
            state.tracked = state.tracked.filter { $0.key % 5 != 0 }
        default: state.tracked[key] = "\(Int.random(in: 0..<3, using: &random))"
        }
    }

    /// Copies that are kept, changed and taken back: each shares its log of changes with others.
    @Test(arguments: 1...12) func `follow a state that is copied in the middle of a change`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let keys = [3, 60, 900][Int(seed % 3)]
        var state = State()
        var kept: [State] = [state]
        var (a, b) = (Self.tracked(), Self.plain())
        for step in 0..<300 {
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: kept.append(state)
                case 1: kept.removeFirst(kept.count / 2)
                case 2: if let other = kept.randomElement(using: &random) { state = other }
                case 3:
                    // Another branch of the same past, changed and dropped.
                    var other = state
                    for _ in 0..<3 { change(&other, keys, &random) }
                case 4 where keys > 100:
                    for _ in 0..<200 { change(&state, keys, &random) }
                default: change(&state, keys, &random)
                }
            }
            var (ofA, ofB): ([EffectChange], [EffectChange]) = ([], [])
            a.advance(state: state, event: 0, seq: Seq(UInt64(step)), into: &ofA)
            b.advance(state: state, event: 0, seq: Seq(UInt64(step)), into: &ofB)
            #expect(ofA.map { "\($0)" } == ofB.map { "\($0)" }, "seed \(seed), step \(step)")
        }
    }

    @Test func `a part that comes and goes starts again`() {
        var machine = Evaluator<State?, Int>(
            feedbacks: [Feedback<State, Int>.react("a", requests: \.tracked) { (_: String) in .none }.optional()])
        var state: State? = State(tracked: [2: "b", 1: "a"])
        func after(_ seq: UInt64) -> [String] {
            var changes: [EffectChange] = []
            machine.advance(state: state, event: nil, seq: Seq(seq), into: &changes)
            return changes.map { change in
                switch change {
                case .start(let id, let request): "start \(id): \(request)"
                case .update(let id, let request): "update \(id): \(request)"
                case .cancel(let id): "cancel \(id)"
                }
            }
        }
        #expect(after(0) == ["start 0.0.0: a", "start 0.0.1: b"])
        state = nil
        #expect(after(1) == ["cancel 0.0.0", "cancel 0.0.1"])
        state = State(tracked: [3: "c"])
        #expect(after(2) == ["start 0.2.0: c"])
    }
}

/// Integers and texts as their digits and letters: enough to order keys and to read them back.
struct PlainCoder: ValueCoder {
    func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] { Array("\(value)".utf8) }

    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let text = String(decoding: bytes, as: UTF8.self)
        let value: Any? = type == Int.self ? Int(text) : text
        guard let value = value as? Value else { throw NoValue() }
        return value
    }

    private struct NoValue: Error {}
}
