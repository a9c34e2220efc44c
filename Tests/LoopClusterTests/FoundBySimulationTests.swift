import LoopCluster
import LoopCore
import LoopWire
import Testing

/// Bugs that simulated clusters found, each as the shortest conversation that shows it.
@Suite struct `Found by simulation` {
    private let stranger = PeerID(high: 0, low: 77)

    /// A client that asked for the seqs of its events, and has not heard of them.
    private func bench() throws -> (bench: ReducerBench, session: SessionID) {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = bench.push(bench.batch(session, from: 1, [try bench.event(.note, wantsSeq: true)]))
        return (bench, session)
    }

    @Test func `a peer of another history that asks for the outcomes of its session lets none be forgotten`() throws {
        var (bench, session) = try bench()
        // Its own session had the same number, in a history that is gone.
        _ = bench.say(.outcomesRequest(session, after: 40), from: stranger)
        let answer = bench.say(.outcomesRequest(session, after: 0), from: client)
        #expect(
            answer.messages(to: client) == [
                .outcomes(
                    Acknowledgement(
                        base: 0, watermark: 1, notable: [NotableOutcome(number: 1, outcome: .applied(Seq(1)))]))
            ])
    }

    /// Seed 8961: it had sent entries in the session of an earlier epoch, of which none was consumed, and had not joined again.
    @Test func `a peer that comes from another history does not get the session in which it sent before`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        var restarted = try ReducerBench(replaying: bench.records, at: 20_000)
        _ = restarted.say(.join(ReducerBench.joinRequest(client, capacity: 0)), from: client)
        var joinRequest = ReducerBench.joinRequest(client, capacity: 0)
        (joinRequest.session, joinRequest.history) = (SessionID(8), History(99))
        _ = restarted.say(.join(joinRequest), from: client)
        let next = try #require(restarted.machine.journaled.sessionByPeer[client])
        #expect(next > session)
        // The join request is repeated until its join acceptance arrives.
        _ = restarted.say(.join(joinRequest), from: client)
        #expect(restarted.machine.journaled.sessionByPeer[client] == next)
    }

    @Test func `a goodbye of another history's session ends no session`() throws {
        var (bench, session) = try bench()
        _ = bench.say(.goodbye(session, stranger, bench.machine.history), from: stranger)
        #expect(bench.machine.journaled.sessions[session] != nil)
        _ = bench.say(.goodbye(session, client, History(9)), from: client)
        #expect(bench.machine.journaled.sessions[session] != nil)
        _ = bench.say(.goodbye(session, client, bench.machine.history), from: client)
        #expect(bench.machine.journaled.sessions[session] == nil)
    }

    @Test func `a heartbeat of another epoch does not take the answers of a session to where it came from`() throws {
        var (bench, session) = try bench()
        let stale = Heartbeat(
            session: session, epoch: Epoch(number: 1, nonce: 99), echo: 0, applied: 0, settled: 0, capacity: 0)
        _ = bench.say(.heartbeat(stale), from: stranger)
        let answer = bench.say(.outcomesRequest(session, after: 0), from: client)
        #expect(answer.messages(to: client).count == 1)
        #expect(answer.messages(to: stranger) == [])
    }

    /// The clock may be set back between the failure and the restart; what the journal has seen is a lower bound.
    @Test func `a retry waits no longer than it was to when the clock was set back`() throws {
        let policy = EffectPolicy(
            retry: Retry(attemptsMax: 9, firstDelay: .milliseconds(100), delayMax: .milliseconds(100), jitter: 0))
        var first = try ReducerBench(policy: policy, at: 7_200_000)
        let worker = first.join(alice)
        let sender = first.join(client, capacity: 0)
        let started = try first.send(sender, from: 1, .light("a", 1))
        let grant = try #require(started.grants.first)
        let failure = Failure(message: "no luck")
        _ = first.push(
            first.batch(
                worker, from: 1,
                [Entry(kind: .failed, effect: grant.effect, attempt: grant.attempt, payload: failure.bytes[...])]))
        // An hour earlier.
        var second = try ReducerBench(policy: policy, replaying: first.records, at: 3_600_000)
        let other = second.join(bob)
        var granted: [Outbound] = []
        // The grace for claims, and then the delay.
        for _ in 0..<10 { granted += second.say(second.heartbeat(other), from: bob, after: 400) }
        #expect(granted.grants.map(\.effect) == [grant.effect])
    }

    @Test func `an attempt does not continue after a later one, even if the record that voided it is lost`() throws {
        var first = try ReducerBench()
        let early = first.join(alice)
        let sender = first.join(client, capacity: 0)
        let one = try #require(try first.send(sender, from: 1, .light("a", 1)).grants.first)
        let late = first.join(bob)
        // Alice is silent for so long that her effect goes to Bob.
        var regrants: [Grant] = []
        for _ in 0..<60 where regrants.isEmpty {
            regrants = first.say(first.heartbeat(late), from: bob, after: 500).grants
        }
        let two = try #require(regrants.first { $0.effect == one.effect })
        #expect(two.attempt > one.attempt)
        _ = first.push(first.batch(late, from: 1, [try first.event(.note, of: (two.effect, two.attempt))]))

        let kept = first.records.filter { if case .attemptEnded = $0 { false } else { true } }
        #expect(kept.count < first.records.count)
        var second = try ReducerBench(replaying: kept)
        #expect(claim(one, of: alice, early, at: &second) == [])
        // The worker that held the later one continues.
        #expect(claim(two, of: bob, late, at: &second) == [two.attempt])
    }

    @Test func `an effect is not taken for another one that had its number in a part of the journal that is lost`()
        throws
    {
        var first = try ReducerBench()
        let worker = first.join(alice)
        let sender = first.join(client, capacity: 0)
        let lost = try #require(try first.send(sender, from: 1, .light("a", 1)).grants.first)
        let kept = first.records.filter { if case .event = $0 { false } else { true } }
        var second = try ReducerBench(replaying: kept)
        _ = second.join(client, capacity: 0)
        #expect(try second.send(sender, from: 1, .light("b", 2)).grants == [])
        var third = try ReducerBench(replaying: second.records)
        #expect(third.requestJoin(alice) == worker)
        let claim = ClaimedAttempt(effect: lost.effect, attempt: lost.attempt)
        let out = third.say(.claim(worker, third.machine.epoch, ClaimPart([claim])), from: alice)
        // The effect that the worker runs is not assigned to it. The other one is granted at once, since no worker can hold it.
        #expect(out.messages(to: alice).contains(.assignments(Assignments(number: 0, watermark: 0, grants: []))))
        #expect(out.grants.map(\.effect) == [lost.effect])
        #expect(out.grants.map(\.attempt) == [Attempt(epoch: 3, count: 1)])
        #expect(out.grants.map(\.isResumed) == [false])
        #expect(out.grants.first?.request != lost.request)
    }

    /// The machine lost power after the turn that told of it, and no peer noticed that the turn was missing.
    @Test func `a request of a part of the journal that is lost gives way to the journal's`() {
        var bench = PeerBench()
        bench.join()
        var grant = bench.grant
        grant.version = Seq(9)
        #expect(bench.publish(.commands(number: 1, [.start(grant)])) == [.run(grant)])
        bench.epoch = Epoch(number: 2, nonce: 6)
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        grant.version = Seq(7)
        grant.request = [4]
        #expect(
            bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [grant])))
                == [.update(grant.effect, grant.attempt, request: [4])])
        // Within an epoch an older request comes too late.
        grant.version = Seq(6)
        #expect(bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [grant]))) == [])
    }

    @Test func `a lease that begins after a standstill of the reducer is no longer than others`() throws {
        var bench = try ReducerBench()
        bench.turn()
        // No peer was served for ten seconds; then the first join request comes.
        _ = bench.say(.join(ReducerBench.joinRequest(alice)), from: alice, after: 10_000)
        #expect(bench.machine.status().peers.map(\.leaseMilliseconds) == [3000])
    }

    @Test func `a worker that claims in an epoch after the end is assigned nothing`() throws {
        var (bench, worker, grant) = try ended()
        #expect(claim(grant, of: alice, worker, at: &bench) == [])
        var again = try ReducerBench(replaying: bench.records)
        #expect(claim(grant, of: alice, worker, at: &again) == [])
        // Nor does the journal have to say of the rest who has not claimed it.
        let count = again.records.count
        again.turn(after: 10_000)
        #expect(!again.records[count...].contains { if case .attemptEnded = $0 { true } else { false } })
    }

    @Test func `what was assigned in the turn in which a loop ends does not leave`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        #expect(try bench.send(sender, from: 1, .light("a", 1)).grants.count == 1)
        let batch = bench.batch(sender, from: 2, [try bench.event(.finish)])
        let ask = ToReducer.assignmentsRequest(worker, bench.machine.epoch)
        let out = bench.turn { intake in
            intake.receive(ask, from: ReducerBench.route(alice), by: .unknown)
            intake.receive(batch, by: .unknown)
        }
        #expect(out.messages(to: alice) == [.ended(at: Seq(2), exitCode: 1, text: "done")])
        #expect(
            bench.say(ask, from: alice).messages(to: alice) == [
                .assignments(Assignments(number: 1, watermark: 0, grants: []))
            ])
    }

    @Test func `a reducer whose loop has ended does not wake for effects that wait for their next try`() throws {
        let retry = Retry(attemptsMax: 9, firstDelay: .milliseconds(100), delayMax: .milliseconds(100), jitter: 0)
        var bench = try ReducerBench(policy: EffectPolicy(retry: retry))
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let failure = Failure(message: "no luck").bytes[...]
        _ = bench.push(
            bench.batch(
                worker, from: 1,
                [Entry(kind: .failed, effect: grant.effect, attempt: grant.attempt, payload: failure)]))
        _ = try bench.send(sender, from: 2, .finish)
        bench.turn(after: 200)
        var machine = bench.machine
        let now = ReducerBench.moment(bench.time)
        #expect(machine.turn(at: now).deadline > now.monotonic)
    }

    /// The journal has lost what was acknowledged, and the acknowledgement came after the join request.
    @Test func `a peer asks to join again when what it is assigned knows less than it does`() {
        var bench = PeerBench()
        bench.join()
        for _ in 0..<2 { _ = bench.send() }
        while bench.machine.nextBatch() != nil {}
        let last = bench.frame(
            .acknowledgement(Acknowledgement(base: 0, watermark: 2, notable: [])))
        // Another reducer process goes on.
        bench.epoch = Epoch(number: 2, nonce: 6)
        _ = bench.publish(.tick(Tick(number: 0, watermark: 1, received: 1, stamp: 0, resend: false)))
        #expect(bench.joinRequests(in: bench.wait()) == [0])
        bench.machine.receivePublished(last, at: bench.now)
        _ = bench.publish(.joinAccepted(watermark: 1, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        _ = bench.wait()
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 1, grants: [])))
        #expect(!bench.machine.isJoined)
        #expect(bench.joinRequests(in: bench.wait()) == [2])
    }

    /// A loop that has ended, a worker that ran an effect of it, and that effect.
    private func ended() throws -> (bench: ReducerBench, worker: SessionID, grant: Grant) {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        _ = try bench.send(sender, from: 2, .finish)
        return (bench, worker, grant)
    }

    /// A worker asks to join again and claims what it runs.
    /// - Returns: the attempts that it may go on with.
    private func claim(
        _ grant: Grant, of peer: PeerID, _ session: SessionID, at bench: inout ReducerBench
    ) -> [Attempt]? {
        _ = bench.say(.join(ReducerBench.joinRequest(peer)), from: peer)
        let claim = ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)
        for case .assignments(let assignments) in bench.say(.claim(session, bench.machine.epoch, [claim]), from: peer)
            .messages(to: peer)
        { return assignments.grants.map(\.attempt) }
        return nil
    }
}
