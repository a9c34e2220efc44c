import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

@Suite struct `Timers of the reducer` {
    @Test func `fire when they are due, by one record each, in the order of their times`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("b", at: 12_000), .set("a", at: 11_500), .set("c", at: 15_000))
        #expect(bench.deadline <= 11_500)
        #expect(bench.machine.status().timers == 3)
        #expect(bench.machine.status().nextTimer == 11_500)
        try bench.turn(after: 1499)
        #expect(bench.expired == [])
        #expect(bench.deadline == 11_500)
        let before = bench.records.count
        try bench.turn(after: 501)
        #expect(
            bench.records[before...].filter { if case .stateHash = $0 { false } else { true } } == [
                try bench.record(2, 0, .expired("a"), seq: 4), try bench.record(1, 0, .expired("b"), seq: 5),
            ])
        #expect(bench.expired == ["a@12000", "b@12000"])
        #expect(bench.machine.status().timers == 1)
    }

    @Test func `are not counted by a loop that has none set`() throws {
        let bench = try DeadlineBench()
        let status = bench.machine.status()
        #expect(status.timers == nil && status.nextTimer == nil)
    }

    @Test func `fire at once where their time has passed`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: -5))
        try bench.turn()
        #expect(bench.expired == ["a@10000"])
    }

    @Test func `do not fire for a time that the state no longer asks for`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000), .set("b", at: 11_000))
        try bench.send(.set("a", at: 13_000), .clear("b"))
        try bench.turn(after: 2000)
        #expect(bench.expired == [])
        try bench.turn(after: 1000)
        #expect(bench.expired == ["a@13000"])
    }

    @Test func `come after what arrives in the same turn, which may still cancel them`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000))
        try bench.send(.clear("a"), after: 5000)
        try bench.turn()
        #expect(bench.expired == [])
    }

    @Test func `fire once while their key stays, and again for another time`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("Always", at: 11_000))
        try bench.turn(after: 1000)
        try bench.turn(after: 5000)
        #expect(bench.expired == ["Always@11000"])
        try bench.send(.set("Always", at: 17_000))
        try bench.turn(after: 1000)
        #expect(bench.expired == ["Always@11000", "Always@17000"])
    }

    // MARK: Restarts

    @Test func `that are overdue fire at the start, in order, and never twice`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("c", at: 13_000), .set("Kept", at: 10_500), .set("a", at: 12_000))
        try bench.turn(after: 1000)
        #expect(bench.expired == ["Kept@11000"])
        var again = try DeadlineBench(replaying: bench.records, at: 60_000)
        #expect(again.machine.status().timers == 2)
        try again.turn()
        #expect(again.expired == ["Kept@11000", "a@60000", "c@60000"])
        var third = try DeadlineBench(replaying: again.records, at: 70_000)
        try third.turn(after: 1000)
        #expect(third.expired == again.expired)
    }

    @Test func `fire again where the record that they had fired was lost with their event`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000))
        let durable = bench.records
        try bench.turn(after: 2000)
        #expect(bench.expired == ["a@12000"])
        var again = try DeadlineBench(replaying: durable, at: 13_000)
        try again.turn()
        #expect(again.expired == ["a@13000"])
    }

    @Test func `are the same from a snapshot`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("Kept", at: 10_500), .set("a", at: 12_000))
        try bench.turn(after: 1000)
        let snapshot = try bench.machine.journaled.snapshot()
        var restored = try JournaledState(restoring: snapshot, definition: Deadlines(), coder: CBORCoder())
        #expect(try restored.differences(from: bench.machine.journaled) == [])
        // Both ask for the same effects from there on.
        var replayed = bench.machine.journaled
        let count = bench.records.count
        try bench.send(.set("Kept", at: 20_000), .clear("a"))
        for record in bench.records[count...] {
            try restored.apply(record)
            try replayed.apply(record)
        }
        #expect(try restored.differences(from: bench.machine.journaled) == [])
        #expect(restored.effects == replayed.effects)
    }

    @Test func `fire during the grace of workers, for which they do not wait`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000))
        var again = try DeadlineBench(replaying: bench.records, at: 20_000)
        try again.turn()
        #expect(again.expired == ["a@20000"])
    }

    // MARK: Clocks

    @Test func `fire nothing twice, and nothing early, when the clock is set back`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("Kept", at: 11_000), .set("b", at: 14_000))
        try bench.turn(after: 1000)
        bench.wallOffset = -5000
        try bench.turn(after: 500)
        try bench.send(.set("c", at: 11_000))
        try bench.turn()
        // The journaled time stands still at 11000 until the clock has come back to it.
        #expect(bench.expired == ["Kept@11000", "c@11000"])
        try bench.turn(after: 7499)
        #expect(bench.expired.count == 2)
        try bench.turn(after: 1)
        #expect(bench.expired == ["Kept@11000", "c@11000", "b@14000"])
        #expect(bench.time == 19_000)
    }

    @Test func `fire when the clock is set forward, at the next turn`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 3_600_000))
        // However far the timer is, the next tick looks at the clock.
        #expect(bench.deadline < 11_000)
        bench.wallOffset = 3_600_000
        try bench.turn(after: 500)
        #expect(bench.expired == ["a@3610500"])
    }

    @Test func `may be due at the ends of time`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("Never", at: .max), .set("first", at: .min))
        try bench.turn(after: 100)
        #expect(bench.expired == ["first@10000"])
        try bench.turn(after: 1_000_000_000)
        #expect(bench.expired.count == 1)
    }

    // MARK: Turns

    @Test func `share a turn's limit, and the next turn follows at once`() throws {
        var bench = try DeadlineBench()
        for first in stride(from: 0, to: 1500, by: 250) {
            try bench.send((first..<first + 250).map { .set("t\($0)", at: 20_000) })
        }
        try bench.turn(after: 10_000)
        #expect(bench.expired.count == 1024)
        #expect(bench.deadline <= bench.time)
        try bench.turn()
        #expect(bench.expired.count == 1500)
        #expect(bench.deadline > bench.time)
    }

    @Test func `do not fire after the end of the loop`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000), .finish)
        try bench.turn(after: 2000)
        #expect(bench.expired == [])
        #expect(bench.deadline > bench.time)
        var again = try DeadlineBench(replaying: bench.records, at: 20_000)
        try again.turn()
        #expect(again.expired == [])
    }

    @Test func `do not fire while records are missing, and do in the new history`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000))
        let join = JoinRequest(
            peer: alice, session: SessionID(9), history: bench.machine.history, epoch: .none, watermark: 0, schema: 1,
            fingerprint: DefinitionFingerprint(of: Deadlines()).value, capacity: 0, groups: [], name: "alice")
        try bench.turn { $0.receive(.join(join), from: ReducerBench.route(alice), by: .unknown) }
        try bench.turn(after: 2000)
        #expect(bench.expired == [])
        bench.machine.beginHistory(
            History(8), at: Moment(monotonic: .zero + .milliseconds(12_000), wall: WallTime(milliseconds: 12_000)))
        try bench.turn()
        #expect(bench.expired == ["a@12000"])
    }

    @Test func `are granted to no worker, whatever group it names`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 60_000))
        let join = JoinRequest(
            peer: alice, session: .none, history: .none, epoch: .none, watermark: 0, schema: 1,
            fingerprint: DefinitionFingerprint(of: Deadlines()).value, capacity: 4, groups: [reducerGroup],
            name: "alice")
        let out = try bench.turn { $0.receive(.join(join), from: ReducerBench.route(alice), by: .unknown) }
        let refusals = out.compactMap { outbound -> Refused? in
            guard case .reply(_, let frame) = outbound, case .refused(let refused, _) = frame.message else {
                return nil
            }
            return refused
        }
        #expect(refusals.map(\.what) == [.placement])
        #expect(refusals.first?.description.contains("(reducer)") == true)
    }

    // MARK: Definitions

    @Test func `of a feedback that another definition lacks are cancelled`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 11_000))
        var other = try DeadlineBench(
            Deadlines(hasTimers: false), replaying: bench.records, at: 20_000, reinterprets: .always)
        try other.turn(after: 1000)
        #expect(other.expired == [])
        #expect(other.machine.journaled.effects.isEmpty)
    }

    /// Only the code of the query is another one: what the state asks for is due a second later.
    @Test func `are due when the present definition says`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("a", at: 21_000))
        var later = try DeadlineBench(Deadlines(isLater: true), replaying: bench.records, at: 21_500)
        try later.turn()
        #expect(later.expired == [])
        try later.turn(after: 500)
        #expect(later.expired == ["a@22000"])
    }

    @Test func `that have fired fire again where another definition asks for another time`() throws {
        var bench = try DeadlineBench()
        try bench.send(.set("Kept", at: 10_000))
        #expect(bench.expired == ["Kept@10000"])
        let restored = try JournaledState(
            restoring: try bench.machine.journaled.snapshot(), definition: Deadlines(isLater: true), coder: CBORCoder())
        let moment = Moment(monotonic: .zero + .milliseconds(20_000), wall: WallTime(milliseconds: 20_000))
        var later = ReducerMachine(
            recovered: restored, configuration: ReducerConfiguration(), seed: 1, nonce: 9, at: moment)
        _ = later.turn(at: moment)
        #expect(later.journaled.state(of: Deadlines()).expired == ["Kept@10000", "Kept@20000"])
        _ = later.turn(at: moment)
        #expect(later.journaled.state(of: Deadlines()).expired.count == 2)
    }
}

@Suite struct `A timer whose event ends the process` {
    private static let thread: UInt32 = 77

    /// A process that begins with what the one before has left.
    private func process(
        _ memory: NoteMemory, replaying records: [Record] = [], at time: Int64 = 10_000
    ) throws -> (DeadlineBench, CrashFinding) {
        let finding = memory.note.begin(history: History(0x1234), executable: 1, thread: Self.thread)
        let bench = try DeadlineBench(
            Deadlines(onMine: { memory.freeze() }), replaying: records, at: time, note: memory.note)
        memory.forget()
        return (bench, finding)
    }

    /// The process dies in a turn, and starts again.
    private func dying(_ bench: DeadlineBench, _ memory: NoteMemory, at time: Int64) throws -> (
        DeadlineBench, NoteMemory, CrashFinding
    ) {
        var last = bench
        last.lastTurn(after: time - bench.time)
        let next = NoteMemory(try #require(memory.image))
        let (again, finding) = try process(next, replaying: bench.records, at: time)
        return (again, next, finding)
    }

    private func mined() throws -> (DeadlineBench, NoteMemory) {
        let memory = NoteMemory()
        var (bench, _) = try process(memory)
        try bench.send(.set("a", at: 10_900), .set("mine", at: 11_000), .set("z", at: 11_100))
        return (bench, memory)
    }

    @Test func `once fires alone at the next start, behind those before it`() throws {
        let (first, memory) = try mined()
        var (second, note, finding) = try dying(first, memory, at: 12_000)
        guard case .suspect(let suspect) = finding else {
            Issue.record("the note says \(finding)")
            return
        }
        #expect(suspect.session == .none && suspect.number == 0)
        #expect(suspect.effect == EffectID(feedback: 0, seq: Seq(2), index: 0))
        try second.turn()
        #expect(second.expired == ["a@12000"])
        #expect(second.deadline <= second.time)
        try second.turn()
        #expect(second.expired == ["a@12000", "mine@12000"])
        #expect(note.note.suspects == [])
        #expect(second.machine.counters[.reducedAlone] == 1)
        try second.turn()
        #expect(second.expired == ["a@12000", "mine@12000", "z@12000"])
    }

    /// The simulator has found this: nothing of the turn was durable, so no start knew the timer, and it was no suspect.
    @Test func `is a suspect also where it fired in the turn that started it`() throws {
        let memory = NoteMemory()
        _ = memory.note.begin(history: History(0x1234), executable: 1, thread: Self.thread)
        // The picture of the first time: the bench applies the records again.
        var first = try DeadlineBench(
            Deadlines(onMine: { if memory.image == nil { memory.freeze() } }), note: memory.note)
        try first.send(.set("a", at: 90_000))
        let durable = first.records
        try first.send(.set("mine", at: 9_000))
        let note = NoteMemory(try #require(memory.image))
        var (second, _) = try process(note, replaying: durable, at: 12_000)
        #expect(note.note.suspects.map(\.crashes) == [1])
        // Now it is durable before it fires.
        try second.send(.set("mine", at: 9_000))
        #expect(second.expired == [])
        var (third, last, _) = try self.dying(second, note, at: 13_000)
        try third.turn()
        #expect(third.expired == [])
        #expect(third.machine.journaled.quarantine[1]?.crashes == 2)
        #expect(last.note.suspects == [])
    }

    @Test func `fires in its turn also where events arrive in every turn`() throws {
        let (first, memory) = try mined()
        var (second, _, _) = try dying(first, memory, at: 12_000)
        try second.turn()
        try second.send(.set("b", at: 90_000))
        #expect(second.expired.contains("mine@12000"))
    }

    @Test func `twice is set aside, and the others fire`() throws {
        let (first, memory) = try mined()
        var (second, note, _) = try dying(first, memory, at: 12_000)
        try second.turn()
        var (third, last, _) = try dying(second, note, at: 13_000)
        try third.turn()
        #expect(third.expired == ["a@12000", "z@13000"])
        #expect(last.note.suspects == [])
        #expect(third.machine.journaled.effects[EffectID(feedback: 0, seq: Seq(2), index: 0)]?.status == .completed)
        let aside = try #require(third.machine.journaled.quarantine[1])
        #expect(aside.session == .none && aside.number == 0 && aside.crashes == 2)
        // The timer has ended with it, which is of no interest later.
        var told = aside
        told.isLast = true
        #expect(third.news == [.quarantined(told, feedback: "deadline")])
        // It does not fire at the next start, and an operator may have it applied.
        var (fourth, _) = try process(last, replaying: third.records, at: 14_000)
        try fourth.turn()
        #expect(fourth.expired == third.expired)
        #expect(try fourth.ask(.retryQuarantined(id: 1, who: "eve")) == .done("event 1 is applied as seq 6"))
        #expect(fourth.expired.last == "mine@14000")
    }
}
