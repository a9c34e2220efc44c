import LoopCore
import LoopExamples
import Testing

@testable import LoopChaos

/// Each check is shown what it is for: a check that finds nothing in it would find nothing in a run.
@Suite struct `The checks of a run` {
    private typealias Note = LedgerPage.Note

    /// Two deposits, one booked and one cancelled, as a faultless run leaves them.
    private static let sound: [Ledger.Event] = [
        .deposit(number: 1, work: .init()), .begun(deposit: 1, slip: 7), .deposit(number: 2, work: .init()),
        .booked(deposit: 1, slip: 7), .begun(deposit: 2, slip: 8), .cancel(number: 3, deposit: 2),
    ]

    private func line(_ slip: UInt64, _ note: Note, key: String = "k") -> LedgerPage.Line {
        LedgerPage.Line(key: key, slip: slip, note: note)
    }

    private func evidence(_ events: [Ledger.Event] = sound) -> Evidence {
        let ledger = Ledger(folder: "/pages")
        var state = ledger.initial
        for event in events { ledger.reduce(&state, event) }
        let schedule = ChaosSchedule(seed: 1, duration: .seconds(30))
        var evidence = Evidence(schedule: schedule)
        evidence.state = state
        evidence.stateJSON = "{}"
        evidence.seq = UInt64(events.count)
        evidence.clients = [1: .applied(Seq(1)), 2: .applied(Seq(3)), 3: .applied(Seq(6)), 4: .refused(.overloaded)]
        evidence.pages = [
            1: [line(7, .begun(failures: 0)), line(7, .written), line(7, .booked(Seq(4)))],
            2: [line(8, .begun(failures: 0)), line(8, .refused("stale"))],
        ]
        evidence.samples = (0...300).map { step in
            StatusSample(at: .milliseconds(100 * step), history: "h", epoch: 1, seq: UInt64(10 * step))
        }
        for kind in FaultKind.allCases { evidence.felt[kind] = 1 }
        evidence.working = ["worker-1", "worker-2", "worker-3"]
        evidence.counters = ["refusedStale": 1, "refusedAttempt": 1]
        evidence.holding = .init(count: 3, heldAtEnd: 3, lives: [[1: 1, 2: 1], [1: 1, 2: 1, 3: 1]])
        evidence.replay = .init(verify: .exited(0), verifyText: "", stateJSON: "{}")
        evidence.mustRunAll = true
        return evidence
    }

    private func violations(_ evidence: Evidence) -> [String] {
        ChaosReport(ChaosPlan(seed: 1, executables: "/"), evidence).violations.map(\.description)
    }

    /// Expects violations of this check and of no other.
    private func expect(
        _ check: Check, _ words: String, _ evidence: Evidence, also others: [Check] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = violations(evidence)
        #expect(
            found.contains { $0.hasPrefix(check.name + ": ") && $0.contains(words) }, "\(found)",
            sourceLocation: sourceLocation)
        let names = [check.name] + others.map(\.name)
        #expect(
            found.allSatisfy { text in names.contains { text.hasPrefix($0 + ": ") } }, "\(found)",
            sourceLocation: sourceLocation)
    }

    @Test func `find nothing where all is well`() {
        #expect(violations(evidence()) == [])
    }

    @Test func `find a worker that does nothing`() {
        var idle = evidence()
        idle.working = ["worker-1", "worker-2"]
        expect(.everyWorkerWorks, "worker-3 never held an effect", idle)
    }

    @Test func `find an event that was confirmed and is lost`() {
        var lost = evidence()
        lost.clients[5] = .applied(Seq(2))
        expect(.confirmedIsAppliedOnce, "event 5 was confirmed as applied at 2, and is not in the state", lost)
    }

    @Test func `find an event that was applied twice`() {
        expect(.confirmedIsAppliedOnce, "1 events were applied twice", evidence(Self.sound + [Self.sound[0]]))
    }

    @Test func `find two events that were confirmed at one seq, or beyond the end`() {
        var same = evidence()
        same.clients[2] = .applied(Seq(1))
        expect(.confirmedIsAppliedOnce, "both confirmed as applied at 1", same)
        var beyond = evidence()
        beyond.clients[3] = .applied(Seq(99))
        expect(.confirmedIsAppliedOnce, "beyond the end", beyond)
    }

    @Test func `find an event of a deposit that is lost`() {
        let events: [Ledger.Event] = Self.sound + [.booked(deposit: 77, slip: 1)]
        expect(.confirmedIsAppliedOnce, "never came in", evidence(events))
    }

    @Test func `find a sender that was not told, or was told of another history`() {
        var untold = evidence()
        untold.clients[9] = .unknown
        expect(.everySenderWasTold, "event 9 was never told what became of it; it was not applied", untold)
        var changed = evidence()
        changed.clients[9] = .refused(.historyChanged)
        expect(.everySenderWasTold, "event 9 was told that the history is another one", changed)
    }

    @Test func `find an event that was refused and applied, or that was never sent`() {
        var both = evidence()
        both.clients[1] = .refused(.overloaded)
        expect(.everySenderWasTold, "event 1 was refused (overloaded), and is in the state", both)
        var unsent = evidence()
        unsent.clients[3] = nil
        expect(.everySenderWasTold, "1 numbers are in the state that nobody sent", unsent)
    }

    @Test func `find a stale event that was applied`() {
        let events: [Ledger.Event] = Self.sound + [.booked(deposit: 2, slip: 8)]
        expect(.nothingStale, "1 events of closed deposits were applied", evidence(events))
    }

    @Test func `find two attempts at once, in the state and on the pages`() {
        var events = Self.sound
        events[3] = .booked(deposit: 1, slip: 6)
        expect(.oneAttemptAtATime, "another attempt than the last that began", evidence(events))
        var booked = evidence()
        booked.pages[1]?.append(line(9, .booked(Seq(4))))
        expect(.oneAttemptAtATime, "deposit 1 was booked by 2 attempts", booked)
        var keys = evidence()
        keys.pages[1]?.append(line(9, .begun(failures: 0), key: "other"))
        expect(.oneAttemptAtATime, "different keys", keys)
    }

    @Test func `find an effect that did not complete, and one without its file`() {
        var events = Self.sound
        events.removeLast()
        var open = evidence(events)
        open.clients[3] = nil
        expect(.everyEffectCompleted, "deposit 2 is still open", open)
        var missing = evidence()
        missing.pages[1] = nil
        expect(.everyEffectCompleted, "deposit 1 was booked, and has no page", missing)
        var unwritten = evidence()
        unwritten.pages[1] = [line(7, .begun(failures: 0))]
        expect(.everyEffectCompleted, "nobody has written it", unwritten)
    }

    @Test func `find a held effect that was started twice in one life, is missing, or stays`() {
        var twice = evidence()
        twice.holding?.lives[1][2] = 2
        expect(.heldEffectsStay, "started 1 effects more than once, such as 2", twice)
        var never = evidence()
        never.holding?.lives[1][3] = nil
        expect(.heldEffectsStay, "2 effects of 3 that were to be held have ever been started", never)
        var lost = evidence()
        lost.holding?.heldAtEnd = 2
        expect(.heldEffectsStay, "held 2 of 3 effects", lost)
        var left = evidence()
        left.holding?.leftAtEnd = 1
        expect(.heldEffectsStay, "1 held effects were there after all of them were given up", left)
        var none = evidence()
        none.holding = nil
        #expect(violations(none) == [])
    }

    @Test func `find pages that say something else than the state`() {
        var page = evidence()
        page.pages[2]?.append(line(8, .booked(Seq(6))))
        expect(.bookingsAgreeWithThePages, "deposit 2 says booked at 6, and the state does not", page)
        var stranger = evidence()
        stranger.pages[50] = [line(8, .begun(failures: 0))]
        expect(.bookingsAgreeWithThePages, "page of deposit 50, which is not in the state", stranger)
    }

    @Test func `find a replay that differs or fails`() {
        var differs = evidence()
        differs.replay?.stateJSON = "{ }"
        expect(.theReplayIsTheSame, "the states differ from character 1 on", differs)
        var fails = evidence()
        fails.replay?.verify = .exited(1)
        expect(.theReplayIsTheSame, "verify ended with exit code 1", fails)
    }

    @Test func `find no state at all`() {
        var none = evidence()
        none.state = nil
        none.stateJSON = ""
        #expect(violations(none).count >= 7)
    }

    @Test func `find too few events, on the whole and in a calm`() throws {
        var slow = evidence()
        slow.samples = slow.samples.map { sample in
            StatusSample(at: sample.at, history: "h", epoch: 1, seq: sample.seq / 3)
        }
        expect(.throughput, "33.3 events a second on the whole", slow)
        var gap = evidence()
        let calm = try #require(gap.schedule.calm.first)
        gap.samples = gap.samples.map { sample in
            var sample = sample
            sample.seq *= 10
            if calm.contains(sample.at) { sample.seq = UInt64(calm.lowerBound / .milliseconds(1)) }
            return sample
        }
        expect(.throughput, "0.0 events a second in a window", gap)
        var blind = evidence()
        blind.samples = blind.samples.filter { !calm.contains($0.at) }
        expect(.throughput, "no window without faults of the reducer was sampled", blind)
    }

    @Test func `find a kind of fault that was not felt, and refusals that did not come in a long run`() {
        for kind in FaultKind.ofOneReducer {
            var unfelt = evidence()
            unfelt.felt[kind] = nil
            expect(.everyKindOfFault, "no '\(kind.rawValue)' was felt", unfelt)
        }
        for counter in ["refusedStale", "refusedAttempt"] {
            var none = evidence()
            none.counters[counter] = 0
            #expect(violations(none) == [])
            none.schedule = ChaosSchedule(seed: 1, duration: Check.refusalsFrom)
            expect(.everyKindOfFault, "no \(counter)", none)
        }
    }

    @Test func `find a process that complains, and bytes that are none of the protocol's`() {
        var complaint = evidence()
        complaint.complaints = ["reducer.log: this is a mistake in the program"]
        expect(.nobodyComplains, "this is a mistake in the program", complaint)
        var malformed = evidence()
        malformed.counters["malformedFrame"] = 2
        expect(.nobodyComplains, "dropped 2 frames", malformed)
        #expect(RunFolder.isComplaint("x.swift:3: Fatal error: Index out of range"))
        #expect(RunFolder.isComplaint("reducer ledger: record 7 is corrupt"))
        #expect(!RunFolder.isComplaint("reducer ledger: recovered seq 12 from the first record and 9 records in 1 ms"))
    }

    @Test func `find what is left, what ended by itself, and what could not run`() {
        var left = evidence()
        left.leftovers = ["the process 12"]
        expect(.nothingIsLeft, "the process 12", left)
        var ended = evidence()
        ended.unexpected = ["reducer ended by itself: exit code 2"]
        expect(.processesDoAsTold, "reducer ended by itself", ended)
        var notRun = evidence()
        notRun.notRun = ["packet loss and partitions: no root"]
        expect(.allParts, "no root", notRun)
        notRun.mustRunAll = false
        #expect(violations(notRun) == [])
    }

    @Test func `measure the longest pause and go on in another history`() {
        let samples: [StatusSample] = [
            .init(at: .zero, history: "a", epoch: 1, seq: 100),
            .init(at: .seconds(1), history: "a", epoch: 1, seq: 150),
            .init(at: .seconds(3), history: "a", epoch: 1, seq: 150),
            .init(at: .seconds(4), history: "b", epoch: 1, seq: 20),
        ]
        let throughput = Throughput(samples, calm: [])
        #expect(throughput.events == 70)
        #expect(throughput.longestGap == .seconds(3))
        #expect(throughput.perSecond == 17.5)
        #expect(throughput.slowestWindow == nil)
    }

    @Test func `measure how soon a reducer that was started again applies events`() {
        let samples = [(0, 5), (10, 5), (20, 9), (30, 9), (40, 12)].map { time, seq in
            StatusSample(at: .seconds(time), history: "a", epoch: 1, seq: UInt64(seq))
        }
        let lives = [
            Duration.seconds(4)..<Duration.seconds(25), .seconds(26)..<(.seconds(31)), .seconds(35)..<(.seconds(50)),
        ]
        #expect(Throughput.returns(after: lives, samples) == [.seconds(5), .seconds(16)])
    }
}
