import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A reducer hands out effects` {
    @Test func `to a worker, in the turn that started them`() throws {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let out = try bench.send(sender, from: 1, .light("a", 5))
        let grant = Grant(
            effect: EffectID(feedback: 0, seq: Seq(1), index: 0), attempt: Attempt(epoch: 1, count: 1), version: Seq(1),
            failures: 0, isResumed: false, request: try bench.coder.encode(5))
        #expect(out.messages(to: alice) == [.commands(number: 1, [.start(grant)])])
        let update = try bench.send(sender, from: 2, .light("a", 6))
        #expect(
            update.messages(to: alice) == [
                .commands(
                    number: 2,
                    [
                        .update(
                            grant.effect, grant.attempt, version: Seq(2),
                            request: try bench.coder.encode(6))
                    ])
            ])
    }

    @Test func `within their capacity`() throws {
        var bench = try ReducerBench()
        bench.join(alice, capacity: 1)
        let sender = bench.join(client, capacity: 0)
        #expect(try bench.send(sender, from: 1, .light("a", 1), .light("b", 1)).grants.count == 1)
    }

    @Test func `within the feedback's concurrency`() throws {
        var bench = try ReducerBench(policy: EffectPolicy(concurrency: 2))
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grants = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1), .light("c", 1)).grants
        #expect(grants.count == 2)
        let done = Entry(kind: .completed, effect: grants[0].effect, attempt: grants[0].attempt)
        #expect(bench.push(bench.batch(SessionID(1), from: 1, [done])).grants.count == 1)
    }

    @Test func `in the order of their priority, also one that has changed while they waited`() throws {
        var bench = try ReducerBench(policy: EffectPolicy(priorityStep: .seconds(60)))
        let worker = bench.join(alice, capacity: 1)
        let sender = bench.join(client, capacity: 0)
        var grants = try bench.send(sender, from: 1, .light("a", 1), .light("b", 3), .light("c", 2)).grants
        #expect(grants.map(\.effect.seq) == [Seq(2)])
        #expect(try bench.send(sender, from: 4, .light("a", 9)).grants == [])
        var order: [Seq] = []
        for number in UInt64(1)...3 {
            guard let grant = grants.first else { break }
            order.append(grant.effect.seq)
            let done = Entry(kind: .completed, effect: grant.effect, attempt: grant.attempt)
            grants = bench.push(bench.batch(worker, from: number, [done])).grants
        }
        #expect(order == [Seq(2), Seq(1), Seq(3)])
    }

    @Test func `and counts each that was done once, also those that their own event ended`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grants = try bench.send(sender, from: 1, .light("hall", 1), .light("stairs", 1)).grants
        try #require(grants.count == 2)
        #expect(grants.map(\.effect.seq) == [Seq(1), Seq(2)])
        let hall = (grants[0].effect, grants[0].attempt)
        _ = bench.push(
            bench.batch(
                worker, from: 1,
                [
                    try bench.event(.darken("hall"), of: hall),
                    Entry(kind: .completed, effect: grants[0].effect, attempt: grants[0].attempt),
                    Entry(kind: .completed, effect: grants[1].effect, attempt: grants[1].attempt),
                ]))
        #expect(bench.machine.status().peers.map(\.completed) == [2, 0])
    }

    @Test func `until its last event, after which it needs no cancellation`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        var last = try bench.event(.darken("hall"), of: (grant.effect, grant.attempt))
        last.isLast = true
        let out = bench.push(bench.batch(worker, from: 1, [last]))
        #expect(out.messages(to: alice) == [acknowledged(0, 1)])
        #expect(bench.machine.journaled.effects.isEmpty)
        #expect(bench.machine.status().peers.map(\.completed) == [1, 0])
        #expect(bench.machine.status().feedbacks.map(\.completed) == [1])
        #expect(bench.machine.status().peers.map(\.leases) == [0, 0])
    }

    @Test func `until its last event, after which it stays completed while it is wanted`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        var last = try bench.event(.light("stairs", 2), of: (grant.effect, grant.attempt))
        last.isLast = true
        let late = try bench.event(.darken("hall"), of: (grant.effect, grant.attempt))
        let out = bench.push(bench.batch(worker, from: 1, [last, late]))
        #expect(out.grants.map(\.effect.seq) == [Seq(2)])
        #expect(out.messages(to: alice).contains(acknowledged(0, 2, refused(2, .stale))))
        #expect(bench.machine.journaled.effects[grant.effect]?.status == .completed)
        #expect(bench.machine.status().peers.map(\.completed) == [1, 0])
    }

    /// If the body does not hear that its event is refused, the effect must not complete without the event.
    @Test(arguments: [true, false], [1, 1 << 20])
    func `until an event that is refused for its own sake, which is a failure`(isLast: Bool, byteCount: Int) throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        let event = Entry(
            kind: .event, effect: grant.effect, attempt: grant.attempt,
            payload: Array(repeating: 0xff, count: byteCount)[...],
            isLast: isLast)
        let out = bench.push(bench.batch(worker, from: 1, [event]))
        let end = try #require(ends(bench.records).last)
        #expect(end.cause == .failed && end.entry == EntryNumber(session: worker, number: 1))
        #expect(end.message.hasPrefix("its event was refused"), "\(end.message)")
        #expect(out.messages(to: alice).contains(acknowledged(0, 1)))
        // A body that goes on is told to stop.
        let isStopped = out.messages(to: alice).contains(.commands(number: 2, [.cancel(grant.effect, grant.attempt)]))
        #expect(isStopped == !isLast)
        // By a policy without another try.
        #expect(bench.machine.journaled.effects[grant.effect]?.status == .parked(end.message))
    }

    @Test func `until an event that is refused, unless its body hears of that`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        let event = Entry(
            kind: .event, effect: grant.effect, attempt: grant.attempt, payload: [0xff], wantsSeq: true)
        let out = bench.push(bench.batch(worker, from: 1, [event]))
        #expect(out.messages(to: alice) == [details(of: 1), acknowledged(0, 1, refused(1, .undecodable))])
        #expect(bench.machine.status().peers.map(\.leases) == [1, 0])
    }

    @Test func `of a silent worker to another, and refuses what the first still sends`() throws {
        var bench = try ReducerBench()
        let first = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let second = bench.join(bob)
        for _ in 0..<7 { _ = bench.say(bench.heartbeat(second), from: bob, after: 500) }
        let end = AttemptEnd(
            effect: grant.effect, upTo: grant.attempt, cause: .unresponsive,
            next: .retry(RetryTime(notBefore: WallTime(milliseconds: bench.time - 500), wait: 0)))
        let ends = bench.records.compactMap { if case .attemptEnded(let end) = $0 { end } else { nil } }
        #expect(ends.map(\.effect) == [end.effect])
        #expect(ends.map(\.cause) == [.unresponsive])
        #expect(ends.map(\.upTo) == [grant.attempt])
        let late = bench.push(
            bench.batch(first, from: 1, [try bench.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(late.messages(to: alice).contains(acknowledged(0, 1, refused(1, .attempt))))
        #expect(bench.state.notes == 0)
    }

    @Test func `of all silent workers, by worker and effect, once another worker can run them`() throws {
        var bench = try ReducerBench()
        let first = bench.join(alice)
        let second = bench.join(bob)
        let sender = bench.join(client, capacity: 0)
        let out = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1), .light("c", 1), .light("d", 1))
        let owners = [first: grants(to: alice, in: out), second: grants(to: bob, in: out)]
        #expect(owners.values.map(\.count) == [2, 2])
        for _ in 0..<10 { bench.turn(after: 500) }
        // A worker without capacity takes nothing.
        let carol = PeerID(high: 0, low: 3)
        bench.join(carol, capacity: 0)
        for _ in 0..<3 { bench.turn() }
        #expect(ends(bench.records).isEmpty)
        _ = bench.requestJoin(carol, capacity: 4)
        let expected = [first, second].sorted().flatMap { owners[$0, default: []].map(\.effect).sorted() }
        #expect(ends(bench.records).map(\.effect) == expected)
        #expect(ends(bench.records).allSatisfy { $0.cause == .unresponsive })
        #expect(bench.machine.counters[.leaseExpired] == 4)
        for _ in 0..<3 { bench.turn() }
        #expect(ends(bench.records).count == 4)
    }

    @Test func `of a worker that was heard again, and is silent again with what it got meanwhile`() throws {
        var bench = try ReducerBench()
        let first = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1))
        for _ in 0..<7 { bench.turn(after: 500) }
        _ = bench.say(bench.heartbeat(first), from: alice)
        let grant = try #require(try bench.send(sender, from: 2, .darken("a"), .light("b", 1)).grants.first)
        for _ in 0..<7 { bench.turn(after: 500) }
        let other = bench.join(bob)
        _ = bench.say(bench.heartbeat(other), from: bob, after: 500)
        #expect(ends(bench.records).map(\.effect) == [grant.effect])
    }

    private func ends(_ records: [Record]) -> [AttemptEnd] {
        records.compactMap { if case .attemptEnded(let end) = $0 { end } else { nil } }
    }

    private func grants(to peer: PeerID, in out: [Outbound]) -> [Grant] {
        out.filter { if case .inbox(peer, _) = $0 { true } else { false } }.grants
    }

    @Test(arguments: [[], [Rule.leasesRunFromTheEcho]])
    func `of a worker that hears no ticks to another, whatever it says itself`(broken: [Rule]) throws {
        var bench = try ReducerBench(breaking: broken)
        let deaf = bench.join(alice)
        let echo = bench.heartbeat(deaf)
        let sender = bench.join(client, capacity: 0)
        #expect(try bench.send(sender, from: 1, .light("a", 1)).isGranted(to: alice))
        let other = bench.join(bob)
        var isGranted = false
        for _ in 0..<8 {
            let out = bench.say(echo, from: alice, after: 500) + bench.say(bench.heartbeat(other), from: bob)
            if out.isGranted(to: bob) { isGranted = true }
        }
        // The rule is what makes the difference.
        #expect(isGranted == broken.isEmpty)
    }

    @Test func `and keeps its workers' leases when it stood still itself`() throws {
        var bench = try ReducerBench()
        let first = bench.join(alice)
        let second = bench.join(bob)
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1))
        let heartbeats = [bench.heartbeat(first), bench.heartbeat(second)]
        // Only one of the two is heard at once, and what it says is as old as the pause.
        bench.time += 60_000
        _ = bench.say(heartbeats[0], from: alice)
        #expect(bench.machine.counters[.leaseExpired] == nil)
    }

    @Test func `that are released elsewhere, at once`() throws {
        var bench = try ReducerBench()
        let first = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        bench.join(bob)
        _ = bench.say(bench.heartbeat(first, capacity: 0), from: alice)
        let released = Entry(kind: .released, effect: grant.effect, attempt: grant.attempt)
        let out = bench.push(bench.batch(first, from: 1, [released]))
        #expect(out.isGranted(to: bob))
        #expect(out.grants.map(\.isResumed) == [true])
        #expect(out.grants.map(\.attempt) == [Attempt(epoch: 1, count: 2)])
    }

    @Test func `that failed again after their delay, and parks them at last`() throws {
        let retry = Retry(attemptsMax: 2, firstDelay: .seconds(1), delayMax: .seconds(1), jitter: 0)
        var bench = try ReducerBench(policy: EffectPolicy(retry: retry))
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let failed = Entry(
            kind: .failed, effect: grant.effect, attempt: grant.attempt, payload: Failure(message: "dark").bytes[...])
        #expect(bench.push(bench.batch(worker, from: 1, [failed])).grants == [])
        #expect(bench.turn(after: 999).grants == [])
        let again = try #require(bench.turn(after: 1).grants.first)
        #expect(again.failures == 1)
        let final = Entry(
            kind: .failed, effect: again.effect, attempt: again.attempt, payload: Failure(message: "dark").bytes[...])
        _ = bench.push(bench.batch(worker, from: 2, [final]))
        #expect(bench.turn(after: 5000).grants == [])
        #expect(bench.machine.status().parked.map(\.message) == ["dark"])
        #expect(bench.machine.status().parked.map(\.failures) == [2])
    }

    @Test func `and takes back those that take too long`() throws {
        let retry = Retry(attemptsMax: 9, firstDelay: .seconds(1), delayMax: .seconds(1), jitter: 0)
        var bench = try ReducerBench(policy: EffectPolicy(retry: retry, timeout: .seconds(2)))
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let out = bench.turn(after: 2000)
        #expect(out.messages(to: alice).contains(.commands(number: 2, [.cancel(grant.effect, grant.attempt)])))
        #expect(bench.machine.counters[.effectTimedOut] == 1)
    }

    @Test func `with a number for an assignment that carries what was waiting`() throws {
        var configuration = ReducerConfiguration()
        configuration.inboxWindow = 1
        var bench = try ReducerBench(configuration: configuration)
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        // The window is full: the cancellation waits, and the assignment carries it.
        _ = try bench.send(sender, from: 2, .darken("a"))
        let out = bench.say(.assignmentsRequest(worker, bench.machine.epoch), from: alice)
        #expect(out.messages(to: alice) == [.assignments(Assignments(number: 2, watermark: 0, grants: []))])
        #expect(grant.effect == EffectID(feedback: 0, seq: Seq(1), index: 0))
    }
}
