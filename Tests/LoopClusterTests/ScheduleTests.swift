import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// A loop with one schedule, every ten seconds, and a list of its runs.
private struct Chimes: LoopDefinition {
    static let name = "chimes"
    var missed = MissedRuns.once
    var interval = 10
    var hasSchedule = true
    /// Called while a run is reduced: where another loop would trap.
    var onRun: @Sendable () -> Void = {}

    struct State: Codable, Equatable, Sendable {
        /// The due times in seconds, with how many were missed before, and "hand" for those that were asked for.
        var runs: [String] = []
    }

    enum Event: Codable, Equatable, Sendable {
        case chimed(ScheduleRun)
    }

    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        onRun()
        switch event {
        case .chimed(let run):
            state.runs.append(
                "\(run.due.milliseconds / 1000)" + (run.missed > 0 ? "+\(run.missed)" : "")
                    + (run.isByHand ? " hand" : ""))
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        hasSchedule ? [.schedule("chime", .every(.seconds(interval)), missed: missed) { .chimed($0) }] : []
    }
}

private struct ChimeBench {
    var machine: ReducerMachine
    var records: [Record]
    var news: [ReducerNews] = []
    /// Both clocks in milliseconds.
    var time: Int64
    var deadline: Int64 = 0
    private var replayed: JournaledState
    private let coder = CBORCoder()
    private static let history = History(0x1234)

    init(
        _ definition: Chimes = Chimes(), replaying records: [Record] = [], at time: Int64 = 15_000,
        note: CrashNote? = nil, reinterprets: Reinterpretation = .never, acceptsClock: Bool = false
    ) throws {
        self.time = time
        self.records = records
        var journal = try MemoryRecords { Self.history }.open()
        var configuration = ReducerConfiguration()
        configuration.acceptsClock = acceptsClock
        _ = try journal.append(records, through: UInt64(records.count))
        let recovery = try Recovery(
            definition, from: journal, coder: coder, reinterprets: reinterprets, note: note)
        // Only the machine steps on mines.
        var harmless = definition
        harmless.onRun = {}
        replayed = JournaledState(definition: harmless, coder: coder, history: Self.history)
        replayed.reinterprets = reinterprets
        for record in records { try replayed.apply(record) }
        machine = ReducerMachine(
            recovery, configuration: configuration, seed: 1, nonce: UInt64(7 + records.count),
            at: ReducerBench.moment(time))
        try turn()
    }

    @discardableResult
    mutating func turn(
        after milliseconds: Int64 = 0, _ take: (inout ReducerMachine) -> Void = { _ in }
    ) throws -> [Outbound] {
        time += milliseconds
        let ready = machine.turn(at: ReducerBench.moment(time), take)
        records += ready.records
        deadline = Int64((ready.deadline - .zero).wholeMilliseconds)
        for record in ready.records { try replayed.apply(record) }
        let position = ready.position
        #expect(try replayed.position == position && replayed.differences(from: machine.journaled) == [])
        let released = machine.release(ready, JournalReceipt(through: position))
        news += released.news
        return released.messages
    }

    mutating func ask(_ request: AdministrationRequest) throws -> AdministrationAnswer? {
        let document = try coder.encode(request)
        return try turn {
            $0.receive(.administration(request: 1, document[...]), from: ReducerBench.route(client), by: .unknown)
        }.answer(1)
    }

    mutating func listed() throws -> [ListedSchedule] {
        guard case .schedules(let listed) = try ask(.schedules) else { return [] }
        return listed
    }

    var runs: [String] { machine.journaled.state(of: Chimes()).runs }
}

@Suite struct `Schedules of the reducer` {
    private let definition = Chimes()

    @Test func `begin when the definition first has them, and run at their times by one record each`() throws {
        var bench = try ChimeBench()
        let plan = try #require(bench.machine.journaled.schedules[0]?.plan)
        func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: seconds * 1000) }
        #expect(
            bench.records.contains(.scheduled(ScheduleRecord(schedule: 0, time: at(15), next: at(20), plan: plan))))
        #expect(bench.runs == [])
        let count = bench.records.count
        try bench.turn(after: 4_999)
        #expect(bench.records.count == count)
        #expect(bench.deadline == 20_000)
        try bench.turn(after: 1)
        let run = ScheduledRun(schedule: 0, due: at(20), next: at(30), plan: plan, isByHand: false)
        let bytes = try CBORCoder().encode(Chimes.Event.chimed(ScheduleRun(due: at(20))))
        #expect(
            bench.records[count...].filter { if case .stateHash = $0 { false } else { true } }
                == [.event(EventRecord(run, seq: Seq(1), time: at(20), bytes: bytes[...]))])
        try bench.turn(after: 10_000)
        #expect(bench.runs == ["20", "30"])
    }

    @Test func `go on after a restart where they stood, and run what was missed as their policy says`() throws {
        let policies: [(MissedRuns, [String])] = [
            (.once, ["20", "100+7"]), (.skip, ["20"]), (.all, ["20", "30", "40", "50", "60", "70", "80", "90", "100"]),
            (.all(atMost: 2), ["20", "90+6", "100"]),
        ]
        for (missed, runs) in policies {
            var bench = try ChimeBench(Chimes(missed: missed))
            try bench.turn(after: 5_000)
            // A run that is less than a minute late is none that was missed.
            let again = try ChimeBench(Chimes(missed: missed), replaying: bench.records, at: 109_000)
            #expect(again.runs == (missed == .skip ? ["20", "100+7"] : runs))
            let third = try ChimeBench(Chimes(missed: missed), replaying: again.records, at: 109_500)
            #expect(third.runs == again.runs)
        }
        var bench = try ChimeBench(Chimes(missed: .skip, interval: 3600))
        try bench.turn(after: 3_600_000)
        #expect(bench.runs == ["3600"])
        var again = try ChimeBench(Chimes(missed: .skip, interval: 3600), replaying: bench.records, at: 8_000_000)
        #expect(again.runs == ["3600"])
        try again.turn(after: 2_800_000)
        #expect(again.runs == ["3600", "10800"])
    }

    @Test func `are in snapshots`() throws {
        var bench = try ChimeBench()
        try bench.turn(after: 5_000)
        #expect(try bench.ask(.pauseSchedule(name: "chime", who: "eve")) == .done("the schedule chime is paused"))
        let snapshot = try bench.machine.journaled.snapshot()
        let restored = try JournaledState(restoring: snapshot, definition: Chimes(), coder: CBORCoder())
        #expect(try restored.differences(from: bench.machine.journaled) == [])
        #expect(restored.schedules == bench.machine.journaled.schedules)
        #expect(restored.digest() == bench.machine.journaled.digest())
    }

    @Test func `begin again if the definition has another one under their name, and end if it has none`() throws {
        var bench = try ChimeBench()
        try bench.turn(after: 5_000)
        let other = try ChimeBench(Chimes(interval: 60), replaying: bench.records, at: 61_000, reinterprets: .always)
        #expect(other.runs == ["20"])
        #expect(other.machine.journaled.schedules[0]?.next == WallTime(milliseconds: 120_000))
        let without = try ChimeBench(
            Chimes(hasSchedule: false), replaying: bench.records, at: 61_000, reinterprets: .always)
        #expect(without.machine.journaled.schedules.isEmpty)
    }

    // MARK: A clock that was wrong

    /// The clock was a day ahead for a moment.
    @Test func `do not run until the clock has caught up, and say so, unless the clock is accepted at a start`() throws
    {
        var ahead = try ChimeBench()
        try ahead.turn(after: 86_400_000)
        #expect(ahead.runs.count == 1)
        let until = ahead.time
        var bench = try ChimeBench(replaying: ahead.records, at: 30_000)
        try bench.turn(after: 60_000)
        #expect(bench.runs.count == 1)
        #expect(try bench.listed().map(\.standsStillUntil) == [until])
        #expect(bench.machine.status().clockBehindMilliseconds == until - bench.time)
        let day = WallTime(milliseconds: until).civilText
        let warning =
            "THE CLOCK IS 23 h 58 min BEHIND THE JOURNAL: it was ahead before, or it is wrong now. Timers and schedules do not run"
            + " until \(day). If the clock is right, start the reducer once with --accept-clock"
        #expect(bench.machine.status().warnings == [warning])
        let told = bench.news.compactMap { news -> String? in
            if case .clockBehind(_, let text) = news { text } else { nil }
        }
        #expect(told.count == 1 && told[0].hasPrefix("THE CLOCK IS ") && told[0].contains("until \(day)"), "\(told)")
        var accepted = try ChimeBench(replaying: bench.records, at: 100_000, acceptsClock: true)
        #expect(accepted.machine.status().clockBehindMilliseconds == nil)
        #expect(accepted.machine.status().warnings == [])
        #expect(accepted.news.contains(.clockAccepted(.milliseconds(until - 100_000))))
        try accepted.turn(after: 10_000)
        #expect(accepted.runs.dropFirst() == ["110"])
        let listed = try accepted.listed()
        #expect(listed.map(\.standsStillUntil) == [nil])
        #expect(listed.first?.next.first == 120_000)
    }

    @Test func `of a clock that is right are not changed by accepting it`() throws {
        let first = try ChimeBench()
        let accepted = try ChimeBench(replaying: first.records, at: 16_000, acceptsClock: true)
        #expect(!accepted.records.contains { if case .operatorAction = $0 { true } else { false } })
        #expect(accepted.records.count { if case .scheduled = $0 { true } else { false } } == 1)
    }

    // MARK: Operators

    @Test func `are listed with their next runs`() throws {
        var bench = try ChimeBench()
        try bench.turn(after: 5_000)
        #expect(
            try bench.ask(.schedules)
                == .schedules([
                    ListedSchedule(
                        name: "chime", schedule: "every 10 s", isPaused: false, last: 20_000,
                        next: [30_000, 40_000, 50_000, 60_000, 70_000])
                ]))
    }

    @Test func `do not run while they are paused, and go on with the next run that is to come`() throws {
        var bench = try ChimeBench()
        #expect(try bench.ask(.pauseSchedule(name: "chime", who: "eve")) == .done("the schedule chime is paused"))
        #expect(
            try bench.ask(.pauseSchedule(name: "chime", who: "eve"))
                == .refused("the schedule chime is paused already"))
        try bench.turn(after: 30_000)
        #expect(bench.runs == [])
        // Also after a restart.
        var again = try ChimeBench(replaying: bench.records, at: 100_000)
        try again.turn(after: 5_000)
        #expect(again.runs == [])
        #expect(
            try again.ask(.schedules)
                == .schedules([
                    ListedSchedule(name: "chime", schedule: "every 10 s", isPaused: true, last: nil, next: [])
                ]))
        #expect(try again.ask(.resumeSchedule(name: "chime", who: "eve")) == .done("the schedule chime goes on"))
        #expect(
            try again.ask(.resumeSchedule(name: "chime", who: "eve")) == .refused("the schedule chime is not paused"))
        try again.turn(after: 5_000)
        #expect(again.runs == ["110"])
    }

    @Test func `run once more by hand, also while they are paused`() throws {
        var bench = try ChimeBench()
        _ = try bench.ask(.pauseSchedule(name: "chime", who: "eve"))
        #expect(
            try bench.ask(.runSchedule(name: "chime", who: "eve")) == .done("the schedule chime has run, as seq 1"))
        #expect(bench.runs == ["15 hand"])
        #expect(bench.machine.journaled.schedules[0]?.last == nil)
        #expect(
            bench.records.contains(
                .operatorAction(OperatorAction(.runSchedule(0), by: "eve", at: WallTime(milliseconds: 15_000)))))
        #expect(
            try bench.ask(.runSchedule(name: "no", who: "eve"))
                == .refused("there is no schedule named \"no\"; see: loopctl schedules"))
    }

    // MARK: Poison

    private func begin(_ memory: NoteMemory, _ records: [Record], at time: Int64) throws -> ChimeBench {
        _ = memory.note.begin(history: History(0x1234), executable: 1, thread: 77)
        memory.forget()
        return try ChimeBench(Chimes(onRun: { memory.freeze() }), replaying: records, at: time, note: memory.note)
    }

    /// Each start finds another run due, since more were missed.
    @Test func `whose event ends the process twice leave a run out, although each start has another event`() throws {
        let first = try begin(NoteMemory(), [], at: 15_000)
        var memory = NoteMemory()
        for time in [200_000, 400_000] as [Int64] {
            let next = NoteMemory(memory.image ?? NoteMemory.blank)
            var bench = try begin(next, first.records, at: time)
            if next.image == nil { try bench.turn() }
            #expect(bench.runs.count == 1)
            memory = next
        }
        let last = try begin(NoteMemory(try #require(memory.image)), first.records, at: 600_000)
        #expect(last.runs == [])
        #expect(last.machine.journaled.quarantine[1]?.crashes == 2)
    }

    @Test func `whose event ends the process twice leave that run out`() throws {
        let memory = NoteMemory()
        var first = try begin(memory, [], at: 15_000)
        let records = first.records
        try first.turn(after: 5_000)
        // The process ended in that turn: its records are gone. It ends again in the turn that has the run alone.
        let again = NoteMemory(try #require(memory.image))
        var second = try begin(again, records, at: 21_000)
        #expect(second.runs == [])
        #expect(second.machine.status().counters["reducedAlone"] == 0)
        let before = second.records
        try second.turn()
        #expect(second.runs == ["20"])
        let last = NoteMemory(try #require(again.image))
        let third = try begin(last, before, at: 22_000)
        #expect(third.runs == [])
        #expect(third.machine.journaled.quarantine[1]?.crashes == 2)
        #expect(third.machine.journaled.schedules[0]?.next == WallTime(milliseconds: 30_000))
        let aside = try #require(third.machine.journaled.quarantine[1])
        #expect(third.news == [.quarantined(aside, feedback: nil)])
    }
}
