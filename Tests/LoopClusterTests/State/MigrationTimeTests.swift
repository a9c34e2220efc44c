import CBOR
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

private struct FirstTasks: LoopDefinition {
    struct State: Codable, Sendable { var open: [String] = [] }
    enum Event: Codable, Sendable { case add(String) }

    static let name = "tasks"
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        if case .add(let task) = event { state.open.append(task) }
    }

    var feedbacks: [Feedback<State, Event>] { [] }
}

/// Schema 2 knows since when a task is open.
private struct Tasks: LoopDefinition {
    struct State: Codable, Sendable { var since: [String: WallTime] = [:] }
    enum Event: Codable, Sendable { case add(String) }

    static let name = "tasks"
    static let schema = 2
    static let oldestSchema = 1
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        if case .add(let task) = event { state.since[task] = transition.time }
    }

    var feedbacks: [Feedback<State, Event>] { [] }

    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> State {
        let open = try old.decode(FirstTasks.State.self).open
        return State(since: Dictionary(uniqueKeysWithValues: open.map { ($0, time) }))
    }
}

@Suite struct `A state that is migrated` {
    @Test func `gets the time of the last event before it, the same at each start`() throws {
        var first = JournaledState(definition: FirstTasks(), coder: CBORCoder(), history: History(1))
        try first.apply(.definition(first.ownDefinition))
        for seq in 1...2 as ClosedRange<UInt64> {
            try first.apply(
                .event(
                    EventRecord(
                        seq: Seq(seq), time: WallTime(milliseconds: Int64(seq) * 1000), session: SessionID(1),
                        number: seq, effect: nil, attempt: .none, wantsSeq: false,
                        bytes: try CBOR.encode(FirstTasks.Event.add("\(seq)"))[...])))
        }
        let snapshot = try first.snapshot()
        for _ in 0..<2 {
            let second = try JournaledState(restoring: snapshot, definition: Tasks(), coder: CBORCoder())
            let time = WallTime(milliseconds: 2000)
            #expect(second.state(of: Tasks()).since == ["1": time, "2": time])
        }
    }
}
