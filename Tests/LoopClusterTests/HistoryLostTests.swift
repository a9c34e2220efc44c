import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

@Suite struct `A journal that has lost acknowledged records` {
    /// A bench, and a peer's join request that knows as much as it does.
    private func served() throws -> (bench: ReducerBench, joinRequest: JoinRequest) {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .note, .light("a", 1))
        #expect(worker == SessionID(1))
        var joinRequest = ReducerBench.joinRequest(client, capacity: 0)
        joinRequest.history = bench.machine.history
        joinRequest.epoch = bench.machine.epoch
        joinRequest.session = sender
        joinRequest.watermark = 2
        return (bench, joinRequest)
    }

    @Test func `is not suspected where a peer knows as much or less`() throws {
        var (bench, joinRequest) = try served()
        _ = bench.say(.join(joinRequest), from: client)
        #expect(bench.lost == nil)
        joinRequest.watermark = 1
        joinRequest.epoch = .none
        _ = bench.say(.join(joinRequest), from: client)
        // What a peer knows of another history says nothing.
        joinRequest.history = History(9)
        joinRequest.watermark = 99
        joinRequest.epoch = Epoch(number: 7, nonce: 7)
        _ = bench.say(.join(joinRequest), from: client)
        // Nor does what it says of a session that is retired.
        _ = bench.say(.goodbye(SessionID(1), alice, bench.machine.history), from: alice)
        joinRequest = ReducerBench.joinRequest(bob)
        joinRequest.history = bench.machine.history
        joinRequest.session = SessionID(1)
        joinRequest.watermark = 99
        _ = bench.say(.join(joinRequest), from: bob)
        #expect(bench.lost == nil)
    }

    @Test func `is told from a second journal, whose leader was found at another address`() throws {
        var bench = try ReducerBench()
        let own = LeaderFound(address: "tcp://a:1", history: bench.machine.history)
        let other = LeaderFound(address: "tcp://b:1", history: History(9))
        bench.turn { $0.notice(leaders: [own]) }
        #expect(bench.machine.status().isReady)
        for _ in 1...2 { bench.turn { $0.notice(leaders: [own, other]) } }
        let report = bench.machine.status()
        let why = try #require(report.notReadyBecause)
        #expect(
            why.hasPrefix("TWO LEADERS WITH DIFFERENT HISTORIES: this reducer leads in history \(own.history)"),
            "\(why)")
        #expect(why.contains("tcp://b:1 leads in history \(other.history)"), "\(why)")
        #expect(!report.isReady && report.warnings == [why])
        #expect(bench.news == [.otherLeader(other, why)])
        bench.turn { $0.notice(leaders: [own]) }
        #expect(bench.machine.status().isReady)
    }

    @Test func `is told from a copy of its journal, whose leader was found at another address`() throws {
        var bench = try ReducerBench()
        let (history, epoch) = (bench.machine.history, bench.machine.epoch)
        let own = LeaderFound(address: "tcp://a:1", history: history, epoch: epoch)
        let copy = LeaderFound(address: "tcp://b:1", history: history, epoch: Epoch(number: epoch.number, nonce: 99))
        // It may be the leader before this one, as it was seen then.
        bench.turn { $0.notice(leaders: [own, copy]) }
        #expect(bench.machine.status().isReady)
        bench.turn(after: 31_000) { $0.notice(leaders: [own]) }
        #expect(bench.machine.status().isReady)
        bench.turn { $0.notice(leaders: [own, copy]) }
        let why = try #require(bench.machine.status().notReadyBecause)
        #expect(why.hasPrefix("TWO LEADERS OF ONE HISTORY: this reducer leads in epoch \(epoch)"), "\(why)")
        #expect(why.contains("tcp://b:1"), "\(why)")
        #expect(bench.machine.status().warnings.first?.hasPrefix("TWO LEADERS") == true)
        bench.turn { $0.notice(leaders: [own]) }
        #expect(bench.machine.status().isReady)
    }

    @Test func `is told from a second journal, to which a peer has gone and from which it came back`() throws {
        var (bench, joinRequest) = try served()
        #expect(bench.machine.status().warnings == [])
        joinRequest.history = History(9)
        // A peer that comes from a history before this one, and repeats its request, shows nothing.
        joinRequest.peer = bob
        for _ in 1...3 { _ = bench.say(.join(joinRequest), from: bob) }
        #expect(bench.machine.status().warnings == [])
        joinRequest.peer = client
        _ = bench.say(.join(joinRequest), from: client)
        let warnings = bench.machine.status().warnings
        #expect(warnings.count == 1 && warnings[0].contains("HISTORY \(History(9))"), "\(warnings)")
        #expect(bench.machine.counters[.otherHistory] == 1)
        // It may be over.
        _ = bench.turn(after: 599_000)
        #expect(bench.machine.status().warnings.contains(warnings[0]))
        _ = bench.turn(after: 2_000)
        #expect(!bench.machine.status().warnings.contains(warnings[0]))
        bench.machine.beginHistory(History(0x99), at: ReducerBench.moment(bench.time))
        _ = bench.turn()
        // Its worker has to join again; of the other history nothing is told any more.
        let unserved = NewsOfUnserved(feedback: "lamps", group: "default", effects: 1)
        #expect(bench.machine.status().warnings == [unserved.text])
        bench.join(alice)
        #expect(bench.machine.status().warnings == [])
    }

    @Test(arguments: ["epoch", "copy", "session", "other", "entries"])
    func `is found by what a peer knows, and serves no peer`(known: String) throws {
        var (bench, joinRequest) = try served()
        let expected: HistoryLost.Missing
        let epoch = bench.machine.epoch
        switch known {
        case "epoch":
            joinRequest.epoch = Epoch(number: 2, nonce: 3)
            expected = .epoch(joinRequest.epoch, newest: epoch)
        case "copy":
            joinRequest.epoch.nonce = 99
            expected = .epoch(joinRequest.epoch, newest: epoch)
        case "session":
            joinRequest.session = SessionID(3)
            expected = .session(SessionID(3), next: SessionID(3))
        case "other":
            joinRequest.session = SessionID(1)
            expected = .otherSession(SessionID(1), of: alice)
        default:
            joinRequest.watermark = 3
            expected = .entries(SessionID(2), acknowledged: 3, watermark: 2)
        }
        let out = bench.say(.join(joinRequest), from: client)
        let expectedLoss = HistoryLost(missing: expected, peer: client, name: "peer 9")
        #expect(bench.lost == expectedLoss)
        #expect(out.messages(to: client) == [.busy(to: .join, retryAfter: .seconds(1), reason: "\(expectedLoss)")])
        let count = bench.records.count
        #expect(try bench.send(SessionID(2), from: 3, .note) == [])
        #expect(bench.say(bench.heartbeat(SessionID(1)), from: alice, after: 600) == [])
        #expect(bench.say(.join(ReducerBench.joinRequest(bob)), from: bob).messages(to: bob).count == 1)
        #expect(bench.say(.goodbye(SessionID(1), alice, bench.machine.history), from: alice) == [])
        #expect(bench.records.count == count)
        let status = bench.machine.status()
        #expect(!status.isReady)
        #expect(status.warnings == [status.notReadyBecause])
        #expect(status.journalFault == JournalFault(.historyLost))
        #expect(status.notReadyBecause?.hasPrefix("acknowledged records are missing: the peer \"peer 9\"") == true)
        #expect(bench.machine.counters[.historyLost] == 1)
        #expect(bench.ask(.retryParked(effect: "0.2.0", who: "")).refusal?.hasPrefix("acknowledged records") == true)
    }

    @Test func `goes on under another history, with its state, and grants everything again`() throws {
        var (bench, joinRequest) = try served()
        joinRequest.watermark = 3
        _ = bench.say(.join(joinRequest), from: client)
        let before = bench.records.count
        bench.machine.beginHistory(History(0x99), at: ReducerBench.moment(bench.time))
        let out = bench.turn()
        #expect(bench.lost == nil)
        #expect(
            Array(bench.records[before...].prefix(2)) == [
                .historyBegun(History(0x99), WallTime(milliseconds: bench.time)),
                .epochBegun(Epoch(number: 2, nonce: 0x99), WallTime(milliseconds: bench.time)),
            ])
        // A listening peer learns that it is another history.
        #expect(
            out.contains { if case .inbox(alice, let frame) = $0 { frame.history == History(0x99) } else { false } })
        #expect(bench.machine.status().peers == [])
        #expect(bench.state.notes == 1)
        // A peer of the old history gets a session of its own, and the effect.
        var again = ReducerBench.joinRequest(alice)
        again.history = ReducerBench.history
        again.session = SessionID(1)
        let acceptance = bench.say(.join(again), from: alice)
        #expect(acceptance.welcomed(alice) == SessionID(3))
        let granted = bench.say(.claim(SessionID(3), bench.machine.epoch, []), from: alice)
        #expect(granted.grants.map(\.effect) == [EffectID(feedback: 0, seq: Seq(2), index: 0)])
        #expect(granted.grants.map(\.isResumed) == [true])
        #expect(granted.grants.map(\.attempt) == [Attempt(epoch: 2, count: 1)])
        // The old batch is not taken.
        #expect(bench.push(bench.batch(SessionID(2), from: 3, [try bench.event(.note)])) == [])
        // After a restart the worker goes on with its new attempt.
        var restarted = try ReducerBench(replaying: bench.records, at: bench.time + 1000)
        #expect(restarted.machine.history == History(0x99))
        let attempt = try #require(granted.grants.first?.attempt)
        let session = restarted.join(
            alice, claiming: [ClaimedAttempt(effect: EffectID(feedback: 0, seq: Seq(2), index: 0), attempt: attempt)])
        let event = try restarted.event(.note, of: (EffectID(feedback: 0, seq: Seq(2), index: 0), attempt))
        _ = restarted.push(restarted.batch(session, from: 1, [event]))
        #expect(restarted.state.notes == 2)
    }
}

extension [Outbound] {
    /// The session that a peer is admitted with.
    func welcomed(_ peer: PeerID) -> SessionID? {
        compactMap { outbound -> SessionID? in
            guard case .inbox(peer, let frame) = outbound, case .joinAccepted = frame.message else { return nil }
            return frame.session
        }.first
    }
}
