import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A newer schema` {
    private let coder = CBORCoder()

    private func first(_ events: Plans.First.Event...) throws -> JournaledState {
        var core = JournaledState(definition: Plans.First(), coder: coder, history: History(8))
        try core.apply(.definition(core.ownDefinition))
        try core.apply(.epochBegun(Epoch(number: 1, nonce: 1), WallTime(milliseconds: 1)))
        for event in events {
            try core.apply(
                .event(
                    EventRecord(
                        seq: core.seq.next, time: core.time, session: SessionID(1), number: 1, effect: nil,
                        attempt: .none, wantsSeq: false, bytes: try coder.encode(event)[...])))
        }
        return core
    }

    @Test func `migrates the state of a snapshot, and keeps what its feedbacks still ask for`() throws {
        let old = try first(.add("dig", 2), .add("saw", 3))
        var new = try JournaledState(restoring: try old.snapshot(), definition: Plans.Second(), coder: coder)
        #expect(
            new.state(of: Plans.Second()).tasks == [
                "dig": Plans.Second.Task(minutes: 120, owner: "nobody"),
                "saw": Plans.Second.Task(minutes: 180, owner: "nobody"),
            ])
        let tasks = old.effects.filter { $0.key.feedback == 0 }
        #expect(tasks.count == 2)
        let changes = try new.apply(.definition(new.ownDefinition))
        #expect(new.table.names == ["tasks", "old news", "reviews"])
        #expect(new.effects.filter { $0.key.feedback == 0 } == tasks)
        #expect(changes.filter { $0.kind == .cancelled && $0.effect.feedback == 1 }.count == 2)
        #expect(changes.filter { $0.kind == .started && $0.effect.feedback == 2 }.count == 2)
        #expect(changes.count == 4)
    }

    @Test func `reads the events of an older one where they are reinterpreted`() throws {
        let old = try first()
        var new = JournaledState(definition: Plans.Second(), coder: coder, history: History(8))
        new.reinterprets = .always
        try new.apply(.definition(old.ownDefinition))
        try new.apply(
            .event(
                EventRecord(
                    seq: Seq(1), time: WallTime(milliseconds: 2), session: SessionID(1), number: 1, effect: nil,
                    attempt: .none, wantsSeq: false, bytes: try coder.encode(Plans.First.Event.add("dig", 1))[...])))
        #expect(new.state(of: Plans.Second()).tasks == ["dig": Plans.Second.Task(minutes: 60, owner: "nobody")])
    }

    @Test func `says what to do where a snapshot is too old, too new or unreadable`() throws {
        let old = try first(.add("dig", 2)).snapshot()
        #expect(
            message { try JournaledState(restoring: old, definition: Plans.Third(), coder: coder) } == """
                the snapshot has schema 1; this build has schema 3 and migrates states from schema 2 on: start a build that \
                reads schema 1 and has schema 2 or newer, stop it with SIGTERM, then start this one
                """)
        var second = try JournaledState(restoring: old, definition: Plans.Second(), coder: coder)
        try second.apply(.definition(second.ownDefinition))
        let newer = try second.snapshot()
        #expect(
            message { try JournaledState(restoring: newer, definition: Plans.First(), coder: coder) } == """
                the snapshot has schema 2, this build has schema 1: start the newer build, or one of before the change on a \
                backup of the journal
                """)
        let third = try JournaledState(restoring: newer, definition: Plans.Third(), coder: coder)
        #expect(third.state(of: Plans.Third()) == second.state(of: Plans.Second()))
        struct Careless: LoopDefinition {
            static let name = "plan"
            struct State: Codable, Sendable { var plans: [String: Int] = [:] }
            enum Event: Codable, Sendable { case add }
            var initial: State { State() }
            func reduce(into state: inout State, _ event: Event, _: Transition) {}
            var feedbacks: [Feedback<State, Event>] { [] }
        }
        #expect(
            message { try JournaledState(restoring: old, definition: Careless(), coder: coder) } == """
                the state of schema 1 at seq 1 cannot be read: at the top level: the key "plans" is missing; where State or its encoding \
                has changed, raise `schema` and say in `migrateState` how the old one is read
                """)
    }
}
