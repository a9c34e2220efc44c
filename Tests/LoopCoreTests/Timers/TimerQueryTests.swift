import LoopCore
import Testing

@Suite struct `Queries of timers` {
    struct State: Sendable {
        var plain: [String: WallTime] = [:]
        var tracked: TrackedDictionary<String, WallTime> = [:]
        var orders: TrackedDictionary<String, Order> = [:]
        var only: WallTime?

        mutating func set(_ key: String, _ milliseconds: Int64?) {
            let time = milliseconds.map { WallTime(milliseconds: $0) }
            plain[key] = time
            tracked[key] = time
            // An order without a time has no timer.
            orders[key] = Order(name: key, due: time)
        }
    }

    struct Order: Sendable, Equatable {
        var name: String
        var due: WallTime?
    }

    typealias Machine = Evaluator<State, String>

    private static let forms: [Feedback<State, String>] = [
        .timer("a", at: \.plain) { $0 }, .timer("a", at: \.tracked) { $0 },
        .timer("a", of: \.orders, at: \.due) { $0 },
    ]

    private static func machine(_ form: Int) -> Machine { Machine(feedbacks: [forms[form]], coder: PlainCoder()) }

    private func words(_ changes: [EffectChange]) -> [String] {
        changes.map { change in
            switch change {
            case .start(let id, let request as TimerRequest<String>):
                "start \(id): \(request.key)@\(request.time.milliseconds)"
            case .update(let id, let request as TimerRequest<String>):
                "update \(id): \(request.key)@\(request.time.milliseconds)"
            case .cancel(let id): "cancel \(id)"
            case .start(let id, _), .update(let id, _): "another request of \(id)"
            }
        }
    }

    private func advance(_ machine: inout Machine, _ state: State, _ seq: UInt64) -> [String] {
        var changes: [EffectChange] = []
        machine.advance(state: state, event: seq == 0 ? nil : "", seq: Seq(seq), into: &changes)
        return words(changes)
    }

    @Test(arguments: 0..<3) func `another time of a key is another timer`(form: Int) {
        var machine = Self.machine(form)
        var state = State()
        state.set("b", 20)
        state.set("a", 10)
        #expect(advance(&machine, state, 0) == ["start 0.0.0: a@10", "start 0.0.1: b@20"])
        #expect(advance(&machine, state, 1) == [])
        state.set("a", 30)
        #expect(advance(&machine, state, 2) == ["cancel 0.0.0", "start 0.2.0: a@30"])
        state.set("a", 30)
        #expect(advance(&machine, state, 3) == [])
        state.set("b", nil)
        #expect(advance(&machine, state, 4) == ["cancel 0.0.1"])
        // Back within one transition is no change.
        state.set("a", 1)
        state.set("a", 30)
        #expect(advance(&machine, state, 5) == [])
    }

    @Test func `a single timer follows its optional time`() {
        var machine = Machine(feedbacks: [.timer("a", at: \.only) { "due" }], coder: PlainCoder())
        var state = State()
        var log: [Int] = []
        for time in [nil, 5, 5, 6, nil] as [Int64?] {
            state.only = time.map { WallTime(milliseconds: $0) }
            var changes: [EffectChange] = []
            machine.advance(state: state, event: "", seq: Seq(1), into: &changes)
            log.append(changes.count)
        }
        #expect(log == [0, 1, 0, 2, 1])
    }

    @Test(arguments: 1...8) func `all forms set and cancel the same timers, also from memory`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var state = State()
        var machines = (0..<3).map { Self.machine($0) }
        for step in 1..<UInt64(150) {
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
                let key = "\(Int.random(in: 0..<30, using: &random))"
                state.set(key, [nil, 1, 2, 3, 4].randomElement(using: &random) ?? nil)
            }
            let happening = Int.random(in: 0..<20, using: &random)
            let memories = try machines.map { try $0.memory(PlainCoder()) }
            #expect(memories[0] == memories[1] && memories[0] == memories[2])
            var told: [[String]] = []
            for index in machines.indices {
                var changes: [EffectChange] = []
                if happening < 2 {
                    // Goes on in another process, or by another definition. What is read back shares nothing with the state before.
                    var read = state
                    read.tracked = TrackedDictionary(state.tracked.map { ($0.key, $0.value) })
                    read.orders = TrackedDictionary(state.orders.map { ($0.key, $0.value) })
                    machines[index] = Self.machine(index)
                    if happening == 0 {
                        machines[index].adopt(memories[index], coder: PlainCoder(), into: &changes)
                        machines[index].reconcile(state: read, seq: Seq(step), firstIndex: 100, into: &changes)
                    } else {
                        try machines[index].restore(memories[index], state: read, coder: PlainCoder())
                    }
                }
                machines[index].advance(state: state, event: "", seq: Seq(step), into: &changes)
                told.append(words(changes))
            }
            #expect(told[0] == told[1] && told[0] == told[2])
        }
    }
}
