import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A restart of the reducer` {
    private static let policy = EffectPolicy(
        retry: Retry(attemptsMax: 3, firstDelay: .seconds(60), delayMax: .seconds(600), jitter: 0))

    /// A worker whose effect has failed a number of times, each try after its delay.
    private func failed(_ times: Int) throws -> (bench: ReducerBench, effect: EffectID) {
        var bench = try ReducerBench(policy: Self.policy)
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        var grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        for number in 1...times {
            _ = bench.push(bench.batch(worker, from: UInt64(number), [bench.failure(of: grant)]))
            if number == times { break }
            grant = try #require(bench.wait(for: 120_000, worker, alice).grants.first)
        }
        return (bench, grant.effect)
    }

    @Test func `goes on with the delay and the failures that are journaled`() throws {
        let (bench, effect) = try failed(1)
        let retryAt = try #require(bench.machine.journaled.effects[effect]?.retry?.notBefore)
        #expect(retryAt.milliseconds == bench.time + 60_000)
        // Twenty of the sixty seconds pass while no reducer runs.
        var again = try ReducerBench(policy: Self.policy, replaying: bench.records, at: bench.time + 20_000)
        let worker = again.join(alice)
        again.join(client, capacity: 0)
        let left = retryAt.milliseconds - again.time
        #expect(again.wait(for: left - 500, worker, alice).grants == [])
        let grants = again.wait(for: 1000, worker, alice).grants
        #expect(grants.map(\.effect) == [effect])
        #expect(grants.map(\.failures) == [1])
        // The next delay is the second one.
        let grant = try #require(grants.first)
        let number = (again.machine.journaled.sessions[worker]?.watermark ?? 0) + 1
        _ = again.push(again.batch(worker, from: number, [again.failure(of: grant)]))
        #expect(again.machine.journaled.effects[effect]?.retry?.notBefore.milliseconds == again.time + 120_000)
    }

    /// The clock was a day ahead when an effect failed, and is right again when the reducer starts again; or it was behind.
    @Test(arguments: [86_400_000, -86_400_000 as Int64])
    func `does not make a delay longer than it was meant, however the clock was set`(jump: Int64) throws {
        let (bench, effect) = try failed(1)
        let records = bench.records.compactMap { record -> Record? in
            if case .stateHash = record { return nil }
            guard case .attemptEnded(var end) = record, case .retry(var retry) = end.next else { return record }
            retry.notBefore = retry.notBefore + .milliseconds(jump)
            end.next = .retry(retry)
            return .attemptEnded(end)
        }
        var again = try ReducerBench(policy: Self.policy, replaying: records, at: bench.time)
        let worker = again.requestJoin(alice)
        // An effect whose wait is over is granted as soon as a worker has claimed, since no worker can hold it.
        var early = again.say(.claim(worker, again.machine.epoch, ClaimPart([])), from: alice).grants
        again.join(client, capacity: 0)
        early += again.wait(for: 58_000, worker, alice).grants
        #expect(early.map(\.effect) == (jump < 0 ? [effect] : []))
        #expect((early + again.wait(for: 4000, worker, alice).grants).map(\.effect) == [effect])
    }

    @Test func `does not forget how often an effect has failed, nor that it is parked`() throws {
        let (bench, effect) = try failed(3)
        #expect(bench.machine.journaled.effects[effect]?.status == .parked("dark"))
        var again = try ReducerBench(policy: Self.policy, replaying: bench.records, at: bench.time + 1000)
        let worker = again.join(alice)
        again.join(client, capacity: 0)
        #expect(again.wait(for: 700_000, worker, alice).grants == [])
        #expect(again.machine.status().parked.map(\.failures) == [3])
        #expect(again.ask(.retryParked(effect: "\(effect)", who: "eve")).refusal == nil)
        // The operator's retry is not forgotten either.
        var third = try ReducerBench(policy: Self.policy, replaying: again.records, at: again.time + 1000)
        #expect(third.machine.status().parked == [])
        let last = third.join(alice)
        #expect(third.wait(for: 4000, last, alice).grants.map(\.failures) == [0])
    }

    @Test(arguments: [Duration.zero, LeaderSearch.walkMax])
    func `waits for workers as long as they may take to notice the silence, and to find it`(search: Duration) throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        #expect(worker == SessionID(1))
        var setting = ReducerSetting()
        setting.searchLimit = search
        var again = try ReducerBench(setting: setting, replaying: bench.records, at: bench.time + 1000)
        // Another worker is here, and the one that runs the effect has not come back.
        let other = again.join(bob)
        let limit = (ReducerConfiguration().silenceLimit + search).wholeMilliseconds
        #expect(limit == (search == .zero ? 3000 : 11_000))
        #expect(again.wait(for: limit - 500, other, bob).grants == [])
        #expect(again.wait(for: 1000, other, bob).grants.map(\.effect) == [grant.effect])
    }

    @Test func `tells the peers it knew, as soon as they listen again, and no others`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        var again = try ReducerBench(replaying: bench.records, at: bench.time + 1000)
        func listened(_ peer: PeerID) -> [Outbound] {
            again.turn { $0.noticeSubscription(of: peer) }.filter {
                if case .inbox(peer, _) = $0 { true } else { false }
            }
        }
        let epoch = again.machine.epoch
        #expect(epoch.number == 2)
        let word = PeerFrame(
            history: ReducerBench.history, epoch: epoch, session: worker, message: .serverHeartbeat(again.machine.seq))
        #expect(listened(alice) == [.inbox(alice, word)])
        #expect(listened(bob) == [])
        // A peer that was admitted in this epoch knows it.
        again.join(alice)
        #expect(
            listened(alice).allSatisfy {
                if case .inbox(_, let frame) = $0 { frame.message != word.message } else { false }
            })
    }

    @Test func `names an effect by the same key at each attempt`() throws {
        var (bench, effect) = try failed(2)
        var keys: Set<String> = []
        for _ in 0..<3 {
            bench = try ReducerBench(policy: Self.policy, replaying: bench.records, at: bench.time + 1000)
            let worker = bench.join(alice)
            for outbound in bench.wait(for: 600_000, worker, alice) {
                guard case .inbox(_, let frame) = outbound, case .commands(_, let commands) = frame.message else {
                    continue
                }
                for case .start(let grant) in commands { keys.insert("\(frame.history)/\(grant.effect)") }
            }
        }
        // The idempotency key of an effect is made of these two.
        #expect(keys == ["\(ReducerBench.history)/\(effect)"])
    }

    @Test func `answers what became of the entries before it`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let entries = [
            try bench.event(.note), Entry(kind: .event, payload: [0xff]), try bench.event(.note, wantsSeq: true),
        ]
        // The acknowledgement is lost with the process.
        _ = bench.push(bench.batch(sender, from: 1, entries))
        var again = try ReducerBench(replaying: bench.records, at: bench.time + 1000)
        var joinRequest = ReducerBench.joinRequest(client, capacity: 0)
        (joinRequest.session, joinRequest.history, joinRequest.epoch) = (
            sender, bench.machine.history, bench.machine.epoch
        )
        let acceptance = again.say(.join(joinRequest), from: client)
        #expect(
            acceptance.messages(to: client) == [
                .joinAccepted(
                    watermark: 3, silenceLimit: .seconds(3), tickInterval: .milliseconds(500), feedbacks: ["lamps"])
            ])
        _ = again.say(.claim(sender, again.machine.epoch, []), from: client)
        let outcomes = again.say(.outcomesRequest(sender, after: 0), from: client).messages(to: client)
        #expect(
            outcomes == [
                details(of: 2),
                .outcomes(
                    Acknowledgement(
                        base: 0, watermark: 3,
                        notable: [
                            refused(2, .undecodable), NotableOutcome(number: 3, outcome: .applied(Seq(2))),
                        ])),
            ])
        // Sent again, they are duplicates.
        _ = again.push(again.batch(sender, from: 1, entries))
        #expect(again.machine.seq == Seq(2))
        #expect(again.machine.counters[.duplicateEntry] == 3)
    }

    @Test func `keeps a refusal for its attempt: the attempt cannot be claimed`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let other = bench.join(bob)
        _ = bench.wait(for: 4000, other, bob)
        let late = bench.push(
            bench.batch(worker, from: 1, [try bench.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(late.messages(to: alice).contains(acknowledged(0, 1, refused(1, .attempt))))
        var again = try ReducerBench(replaying: bench.records, at: bench.time + 1000)
        again.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        let refusal = again.push(
            again.batch(worker, from: 2, [try again.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(refusal.messages(to: alice).contains(acknowledged(1, 2, refused(2, .attempt))))
    }
}

@Suite struct `Hashes of the state` {
    @Test func `come into the journal, ever more seldom as the state grows, and a replay compares them`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        for number in 1...UInt64(200) { _ = try bench.send(sender, from: number, .light("lamp \(number)", 1)) }
        let seqs = bench.records.compactMap { if case .stateHash(let seq, _) = $0 { seq.value } else { nil } }
        #expect(seqs.first == 16)
        // A lamp and its effect are some eighty bytes; sixteen of them make the next hash wait for as many events.
        #expect(seqs.count == 2)
        #expect((60...120).contains(seqs.last ?? 0))
        // Another reducer comes to another state, and learns where at the latest.
        let altered = bench.records.map { record -> Record in
            guard case .event(var event) = record, event.seq == Seq(20) else { return record }
            event.bytes = event.bytes.dropLast() + [0x02]
            return .event(event)
        }
        let found = #expect(throws: RecoveryError.self) { _ = try ReducerBench(replaying: altered, at: 99_000) }
        #expect(found?.difference?.seq.value == seqs.first { $0 >= 20 })
    }

    @Test func `are left out where that was asked for`() throws {
        var configuration = ReducerConfiguration()
        configuration.stateHashes = false
        var bench = try ReducerBench(configuration: configuration)
        let sender = bench.join(client, capacity: 0)
        for number in 1...UInt64(100) { _ = try bench.send(sender, from: number, .note) }
        #expect(!bench.records.contains { if case .stateHash = $0 { true } else { false } })
    }

    @Test func `come at the end of a turn, and only where there are new events`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let entries = try (0..<40).map { _ in try bench.event(.note) }
        _ = bench.push(bench.batch(sender, from: 1, entries))
        guard case .stateHash(let seq, let hash) = bench.records.last else {
            Issue.record("the last record is \(String(describing: bench.records.last))")
            return
        }
        #expect(seq == Seq(40))
        #expect(hash == bench.machine.journaled.digest().hash)
        let count = bench.records.count
        bench.turn(after: 100)
        #expect(bench.records.count == count)
    }
}

extension ReducerBench {
    func failure(of grant: Grant) -> Entry {
        Entry(
            kind: .failed, effect: grant.effect, attempt: grant.attempt, payload: Failure(message: "dark").bytes[...])
    }

    /// Time passes, and one peer is heard twice a second.
    mutating func wait(for milliseconds: Int64, _ session: SessionID, _ peer: PeerID) -> [Outbound] {
        var out: [Outbound] = []
        let end = time + milliseconds
        while time < end { out += say(heartbeat(session), from: peer, after: min(500, end - time)) }
        return out
    }
}

@Suite struct `Effects that no worker can hold` {
    /// A worker has one of three effects; two have never been granted.
    private func waiting() throws -> (bench: ReducerBench, held: Grant) {
        var bench = try ReducerBench()
        bench.join(alice, capacity: 1)
        let sender = bench.join(client, capacity: 0)
        let grants = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1), .light("c", 1)).grants
        #expect(grants.map(\.effect.seq) == [Seq(1)])
        return (bench, try #require(grants.first))
    }

    /// What a peer is granted with its claim.
    private func grants(to peer: PeerID, capacity: UInt32, _ bench: inout ReducerBench) -> [Grant] {
        let session = bench.requestJoin(peer, capacity: capacity)
        return bench.say(.claim(session, bench.machine.epoch, ClaimPart([])), from: peer).grants
    }

    @Test func `are handed out at once after a restart, before newer ones, and without a record of their own`() throws {
        let (bench, held) = try waiting()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let before = again.records.count
        again.turn()
        let sender = again.join(client, capacity: 0)
        _ = try again.send(sender, from: 4, .light("d", 1))
        let first = grants(to: bob, capacity: 2, &again)
        #expect(first.map(\.effect.seq) == [Seq(2), Seq(3)])
        #expect(first.map(\.isResumed) == [false, false])
        let added = again.records.dropFirst(before)
        #expect(!added.contains { if case .attemptEnded = $0 { true } else { false } })
        #expect(added.last == .granted(GrantRecord(first: Attempt(epoch: 2, count: 1), effects: first.map(\.effect))))
        // The one that may be held comes behind the grace, and before the newer one that waits.
        let worker = try #require(again.machine.journaled.sessionByPeer[bob])
        for _ in 0..<7 { #expect(again.say(again.heartbeat(worker, capacity: 2), from: bob, after: 500).grants == []) }
        let entries = first.map { Entry(kind: .completed, effect: $0.effect, attempt: $0.attempt) }
        let next = again.push(again.batch(worker, from: 1, entries)).grants
        #expect(next.map(\.effect.seq) == [Seq(1), Seq(4)])
        #expect(next.map(\.isResumed) == [true, false])
        #expect(again.machine.journaled.effects[held.effect]?.floor == Attempt(epoch: 2, count: 2))
    }

    @Test func `are none of those that a worker has: it may claim its own late, until another has it`() throws {
        let (bench, held) = try waiting()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        for _ in 0..<10 { again.turn(after: 500) }
        let claim = ClaimedAttempt(effect: held.effect, attempt: held.attempt)
        let worker = again.join(alice, capacity: 1, claiming: [claim])
        _ = again.push(again.batch(worker, from: 1, [try again.event(.note, of: (held.effect, held.attempt))]))
        #expect(again.state.notes == 1)

        var third = try ReducerBench(replaying: again.records, at: 40_000)
        for _ in 0..<10 { third.turn(after: 500) }
        #expect(grants(to: bob, capacity: 1, &third).map(\.effect) == [held.effect])
        let late = third.join(alice, capacity: 1, claiming: [claim])
        let out = third.push(third.batch(late, from: 2, [try third.event(.note, of: (held.effect, held.attempt))]))
        #expect(out.messages(to: alice).contains(acknowledged(1, 2, refused(2, .attempt))))
        #expect(third.state.notes == 1)
    }

    @Test func `are those too whose attempt has ended, as the journal has it`() throws {
        var (bench, held) = try waiting()
        let worker = try #require(bench.machine.journaled.sessionByPeer[alice])
        _ = bench.say(bench.heartbeat(worker, capacity: 0), from: alice)
        let released = Entry(kind: .released, effect: held.effect, attempt: held.attempt)
        #expect(bench.push(bench.batch(worker, from: 1, [released])).grants == [])
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let all = grants(to: bob, capacity: 4, &again)
        #expect(all.map(\.effect.seq) == [Seq(1), Seq(2), Seq(3)])
        #expect(all.map(\.isResumed) == [true, false, false])
    }

    @Test func `are all of an earlier history`() throws {
        let (bench, held) = try waiting()
        var state = bench.machine.journaled
        #expect(state.effects[held.effect]?.mayBeHeld == true)
        try state.apply(.historyBegun(History(0x77), state.time))
        #expect(state.effects.allSatisfy { $0.value.wasGranted && !$0.value.mayBeHeld })
    }

    @Test func `are known from a snapshot too`() throws {
        let (bench, held) = try waiting()
        let restored = try JournaledState(
            restoring: try bench.machine.journaled.snapshot(), definition: Lamps(), coder: CBORCoder())
        #expect(restored.effects.filter { $0.value.wasGranted }.map(\.key) == [held.effect])
        #expect(restored.effects.filter { $0.value.mayBeHeld }.map(\.key) == [held.effect])
        #expect(restored.effects.map(\.value.version).sorted() == [Seq(1), Seq(2), Seq(3)])
    }
}
