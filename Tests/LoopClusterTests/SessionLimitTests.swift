import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `Sessions` {
    private static let carol = PeerID(high: 0, low: 77)

    private func configuration(_ change: (inout ReducerConfiguration) -> Void = { _ in }) -> ReducerConfiguration {
        var configuration = ReducerConfiguration()
        configuration.sessionsMax = 2
        change(&configuration)
        return configuration
    }

    /// Time passes, and these are heard twice a second.
    private func wait(_ bench: inout ReducerBench, for milliseconds: Int64, hearing peers: [(SessionID, PeerID)]) {
        for _ in 0..<(milliseconds / 500) {
            bench.turn(after: 500)
            for (session, peer) in peers { _ = bench.say(bench.heartbeat(session), from: peer) }
        }
    }

    @Test func `that are idle make room for others, the longest idle one first`() throws {
        var bench = try ReducerBench(configuration: configuration())
        let first = bench.join(alice, capacity: 0)
        bench.turn(after: 1000)
        let second = bench.join(bob, capacity: 0)
        wait(&bench, for: 4000, hearing: [])
        let third = bench.join(Self.carol)
        #expect(third != .none)
        #expect(bench.machine.journaled.sessions.keys.sorted() == [second, third])
        #expect(bench.machine.counters[.sessionEvicted] == 1)
        // It is distinguished from one that was never granted, and gets another.
        var joinRequest = ReducerBench.joinRequest(alice)
        (joinRequest.session, joinRequest.history) = (first, bench.machine.history)
        joinRequest.epoch = bench.machine.epoch
        wait(&bench, for: 4000, hearing: [(third, Self.carol)])
        _ = bench.say(.join(joinRequest), from: alice)
        #expect(bench.lost == nil)
        #expect(bench.machine.journaled.sessionByPeer[alice]?.value == 4)
    }

    @Test
    func
        `of peers that are heard, have effects or have not heard of an outcome are kept, and others wait and know why`()
        throws
    {
        var bench = try ReducerBench(configuration: configuration())
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1))
        // The worker has an effect; it is unknown whether the sender has learned the outcome of its event.
        wait(&bench, for: 10_000, hearing: [])
        let refused = bench.say(.join(ReducerBench.joinRequest(bob)), from: bob).messages(to: bob)
        #expect(
            refused == [
                .busy(
                    to: .join, retryAfter: .seconds(1),
                    reason:
                        "all 2 sessions are taken, and the peer of each is there, has effects or has to be told of outcomes"
                )
            ])
        #expect(bench.machine.counters[.sessionsFull] == 1)
        #expect(bench.machine.journaled.sessions.keys.sorted() == [worker, sender])
        var beat = Heartbeat(
            session: sender, epoch: bench.machine.epoch, echo: 0, applied: 0, settled: 1, capacity: 0)
        _ = bench.say(.heartbeat(beat), from: client)
        #expect(bench.say(.join(ReducerBench.joinRequest(bob)), from: bob, after: 1000).messages(to: bob).count == 1)
        #expect(bench.machine.journaled.sessions[sender] != nil)
        beat.settled = 1
        wait(&bench, for: 4000, hearing: [])
        bench.join(bob)
        #expect(bench.machine.journaled.sessions[sender] == nil)
    }

    @Test(arguments: [false, true])
    func `of workers that were killed before they heard of their last outcome make room`(restarted: Bool) throws {
        var bench = try ReducerBench(configuration: configuration())
        let sender = bench.join(client, capacity: 0)
        let worker = bench.join(alice)
        let effects = try bench.send(sender, from: 1, .light("a", 1)).grants
        let effect = try #require(effects.first)
        var end = try bench.event(.note, of: (effect.effect, effect.attempt), wantsSeq: true)
        end.isLast = true
        _ = bench.push(bench.batch(worker, from: 1, [end]))
        #expect(bench.machine.journaled.sessions[worker]?.watermark == 1)
        if restarted {
            bench = try ReducerBench(configuration: configuration(), replaying: bench.records)
            #expect(bench.join(client, capacity: 0) == sender)
        }
        wait(&bench, for: 4000, hearing: [(sender, client)])
        let next = bench.join(bob)
        #expect(bench.machine.journaled.sessions.keys.sorted() == [sender, next])
    }

    @Test func `of peers that are there are kept while the reducer itself stands still`() throws {
        var bench = try ReducerBench(configuration: configuration())
        let first = bench.join(alice, capacity: 0)
        let second = bench.join(bob, capacity: 0)
        // No peer was heard, since the reducer did not listen; the newcomer's join request is the first to be read.
        #expect(bench.say(.join(ReducerBench.joinRequest(Self.carol)), from: Self.carol, after: 60_000).count > 0)
        #expect(bench.machine.journaled.sessions.keys.sorted() == [first, second])
        _ = bench.say(.join(ReducerBench.joinRequest(Self.carol)), from: Self.carol, after: 1000)
        #expect(bench.machine.journaled.sessions.keys.sorted() == [first, second])
        wait(&bench, for: 4000, hearing: [(first, alice)])
        bench.join(Self.carol)
        #expect(bench.machine.journaled.sessions.keys.sorted() == [first, SessionID(3)])
    }

    @Test func `are warned of from four fifths on`() throws {
        var bench = try ReducerBench(configuration: configuration { $0.sessionsMax = 5 })
        for number in 1...3 { bench.join(PeerID(high: 9, low: UInt64(number))) }
        #expect(bench.machine.status().warnings == [])
        bench.join(PeerID(high: 9, low: 4))
        #expect(bench.machine.status().warnings.map { $0.prefix(27) } == ["4 OF 5 SESSIONS ARE TAKEN, "])
        #expect(bench.machine.status().isReady)
    }

    @Test
    func `that no peer uses end a day after the epoch of their last record, however often the reducer is restarted`()
        throws
    {
        var records: [Record] = []
        var bench = try ReducerBench()
        let session = bench.join(alice)
        records = bench.records
        let hour: Int64 = 3_600_000
        for number in 1...24 {
            bench = try ReducerBench(replaying: records, at: 10_000 + Int64(number) * hour)
            for _ in 0..<130 { bench.turn(after: 1000) }
            #expect(bench.machine.journaled.sessions[session] != nil)
            records = bench.records
        }
        bench = try ReducerBench(replaying: records, at: 10_000 + 26 * hour)
        for _ in 0..<130 { bench.turn(after: 1000) }
        #expect(bench.machine.journaled.sessions[session] == nil)
    }

    @Test func `end as soon as ever, when the wall clock is set back`() throws {
        let short = configuration { $0.sessionRetention = .seconds(100) }
        var bench = try ReducerBench(configuration: short)
        let session = bench.join(alice)
        let late = try ReducerBench(configuration: short, replaying: bench.records, at: 50 * 3_600_000)
        bench = try ReducerBench(configuration: short, replaying: late.records, at: 20_000)
        for _ in 0..<99 { bench.turn(after: 1000) }
        #expect(bench.machine.journaled.sessions[session] != nil)
        for _ in 0..<62 { bench.turn(after: 1000) }
        #expect(bench.machine.journaled.sessions[session] == nil)
    }

    @Test func `keep in a snapshot how long they are idle`() throws {
        var bench = try ReducerBench()
        let session = bench.join(alice)
        let again = try ReducerBench(replaying: bench.records, at: 20_000)
        let present = try JournaledState(
            restoring: again.machine.journaled.snapshot(), definition: Lamps(), coder: CBORCoder())
        #expect(present.sessions[session]?.idleSince == WallTime(milliseconds: 20_000))
        #expect(try present.differences(from: again.machine.journaled) == [])
    }

    @Test func `keep in a snapshot whether they sent events of their own`() throws {
        var bench = try ReducerBench()
        let (worker, sender) = (bench.join(alice), bench.join(client, capacity: 0))
        _ = try bench.send(sender, from: 1, .note)
        let document = try bench.machine.journaled.snapshot()
        let restored = try JournaledState(restoring: document, definition: Lamps(), coder: CBORCoder())
        #expect(restored.sessions == bench.machine.journaled.sessions)
        #expect(restored.sessions[worker]?.isOnlyOfEffects == true)
        #expect(restored.sessions[sender]?.isOnlyOfEffects == false)
    }

    @Test func `of peers that are there are kept`() throws {
        var bench = try ReducerBench(configuration: configuration { $0.sessionRetention = .seconds(100) })
        let session = bench.join(alice)
        wait(&bench, for: 300_000, hearing: [(session, alice)])
        #expect(bench.machine.journaled.sessions[session] != nil)
        wait(&bench, for: 103_000, hearing: [])
        #expect(bench.machine.journaled.sessions[session] == nil)
    }

    @Test func `of the reducer's own process are one, whatever the limit, and cannot be taken by another`() throws {
        var bench = try ReducerBench(configuration: configuration())
        bench.join(alice)
        bench.join(bob)
        var joinRequest = ReducerBench.joinRequest(.local)
        joinRequest.groups = [localGroup]
        let refused = bench.say(.join(joinRequest), from: client).messages(to: client)
        #expect(refused.count == 1)
        #expect(bench.machine.journaled.sessionByPeer[.local] == nil)
        bench.turn { $0.receive(.join(joinRequest), from: .local, by: .local) }
        let own = try #require(bench.machine.journaled.sessionByPeer[.local])
        #expect(bench.machine.localStream?.session == own)
        _ = bench.say(.goodbye(own, .local, bench.machine.history), from: client)
        #expect(bench.machine.journaled.sessions[own] != nil)
        let again = try ReducerBench(configuration: configuration(), replaying: bench.records, at: 20_000)
        #expect(again.machine.localStream?.session == own)
        #expect(again.machine.localStream?.settled == 0)
    }
}
