import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A reducer lets peers in` {
    @Test func `introduced, admitted through the inbox, assigned after the claim`() throws {
        var bench = try ReducerBench()
        let hello = bench.say(.hello(name: "lamps", schema: 2), from: alice)
        let fingerprint = DefinitionFingerprint(of: Lamps()).value
        #expect(
            hello.messages(to: alice) == [
                .introduction(
                    Introduction(
                        name: "lamps", schema: 2, fingerprint: fingerprint, publisher: "", collector: "",
                        eventBytesMax: 512 << 10))
            ])
        let acceptance = bench.say(.join(ReducerBench.joinRequest(alice)), from: alice)
        let frame = PeerFrame(
            history: ReducerBench.history, epoch: Epoch(number: 1, nonce: 7), session: SessionID(1),
            message: .joinAccepted(
                watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500), feedbacks: ["lamps"]))
        #expect(acceptance == [.inbox(alice, frame)])
        #expect(bench.records.last == .sessionOpened(SessionID(1), alice))
        let assigned = bench.say(.claim(SessionID(1), bench.machine.epoch, []), from: alice)
        #expect(assigned.messages(to: alice) == [.assignments(Assignments(number: 0, watermark: 0, grants: []))])
    }

    /// What is published before a subscription has come is gone: a peer whose join acceptance was faster waited until it asked to join again.
    @Test func `admitted again when they listen later than they ask to join, and once where both come together`() throws
    {
        var bench = try ReducerBench()
        // The first turn has its ticks.
        bench.turn()
        let acceptance = bench.say(.join(ReducerBench.joinRequest(alice)), from: alice)
        #expect(acceptance.count == 1)
        #expect(bench.turn { $0.noticeSubscription(of: alice) } == acceptance)
        let session = try #require(bench.machine.core.sessionByPeer[alice])
        _ = bench.say(.claim(session, bench.machine.epoch, []), from: alice)
        #expect(bench.turn { $0.noticeSubscription(of: alice) } == [])
        let both = bench.turn { intake in
            intake.receive(.join(ReducerBench.joinRequest(bob)), from: ReducerBench.route(bob))
            intake.noticeSubscription(of: bob)
        }
        #expect(both.messages(to: bob).count == 1)
        #expect(bench.turn { $0.noticeSubscription(of: client) } == [])
    }

    @Test func `of another loop, schema or definition is refused, naming both sides`() throws {
        var bench = try ReducerBench()
        let loop = bench.say(.hello(name: "links", schema: 1), from: alice)
        #expect(loop.messages(to: alice) == [.refused(Refused(.loop, reducer: "lamps", peer: "links"))])
        var joinRequest = ReducerBench.joinRequest(alice)
        joinRequest.schema = 3
        let schema = bench.say(.join(joinRequest), from: alice)
        #expect(schema.messages(to: alice) == [.refused(Refused(.schema, reducer: "2", peer: "3"))])
        joinRequest.schema = 2
        joinRequest.fingerprint = 0xbad
        let definition = bench.say(.join(joinRequest), from: alice)
        let own = hexadecimal(DefinitionFingerprint(of: Lamps()).value)
        #expect(
            definition.messages(to: alice) == [
                .refused(Refused(.definition, reducer: own, peer: "0000000000000bad"))
            ])
        #expect(bench.machine.counters[.joinRefused] == 3)
    }

    @Test func `who repeat their join request get one session`() throws {
        var bench = try ReducerBench()
        var joinRequest = ReducerBench.joinRequest(alice)
        joinRequest.session = SessionID(40)
        joinRequest.history = History(0x9999)
        for _ in 0..<3 { _ = bench.say(.join(joinRequest), from: alice) }
        let opened = bench.records.filter { if case .sessionOpened = $0 { true } else { false } }
        #expect(opened == [.sessionOpened(SessionID(1), alice)])
    }

    @Test func `but a peer that was here under another history gets a session of its own again`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .note)
        var joinRequest = ReducerBench.joinRequest(client, capacity: 0)
        joinRequest.session = SessionID(40)
        joinRequest.history = History(0x9999)
        _ = bench.say(.join(joinRequest), from: client)
        #expect(bench.records.last == .sessionOpened(SessionID(2), client))
    }
}

@Suite struct `A reducer consumes entries` {
    @Test func `an event is journaled, applied and acknowledged`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let entry = try bench.event(.note, wantsSeq: true)
        let out = bench.push(bench.batch(session, from: 1, [entry]))
        #expect(
            bench.records.last
                == .event(
                    EventRecord(
                        seq: Seq(1), time: WallTime(milliseconds: 10_000), session: session, number: 1, effect: nil,
                        attempt: .none, wantsSeq: true, bytes: entry.payload)))
        #expect(
            out.messages(to: client) == [acknowledged(0, 1, NotableOutcome(number: 1, outcome: .applied(Seq(1))))])
        #expect(bench.machine.state.notes == 1)
    }

    @Test func `a duplicate is acknowledged again and not applied`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .note, .note)
        let count = bench.records.count
        let out = try bench.send(session, from: 1, .note, .note)
        #expect(out.messages(to: client) == [acknowledged(2, 2)])
        #expect(bench.records.count == count)
        #expect(bench.machine.state.notes == 2)
        #expect(bench.machine.counters[.duplicateEntry] == 2)
    }

    @Test func `a gap ends the batch, and its sender is asked to send again`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = try bench.send(session, from: 3, .note)
        let ticks = out.compactMap { outbound -> Tick? in
            guard case .inbox(client, let frame) = outbound, case .tick(let tick) = frame.message, tick.resend else {
                return nil
            }
            return tick
        }
        #expect(ticks.map(\.received) == [0])
        #expect(bench.machine.seq == .initial)
    }

    @Test func `bytes that are no event are refused, by record`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let out = bench.push(bench.batch(session, from: 1, [Entry(kind: .event, payload: [0xff])]))
        #expect(out.messages(to: client) == [acknowledged(0, 1, refused(1, .undecodable))])
        #expect(
            bench.records.last
                == .refused(
                    RefusalRecord(session: session, number: 1, reason: .undecodable, effect: nil, attempt: .none)))
    }

    @Test func `an event of an effect that the event before it cancelled is refused`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        let holder = (grant.effect, grant.attempt)
        let out = bench.push(
            bench.batch(
                worker, from: 1, [try bench.event(.darken("a"), of: holder), try bench.event(.note, of: holder)]))
        #expect(
            out.messages(to: alice) == [
                .commands(number: 2, [.cancel(grant.effect, grant.attempt)]), acknowledged(0, 2, refused(2, .stale)),
            ])
        #expect(bench.machine.state.notes == 0)
    }

    @Test func `whose effects end, and whose places others take, among many that have none`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice, capacity: 64)
        let sender = bench.join(client, capacity: 0)
        let names = (0..<40).map { "\($0)" }
        let grants = try bench.push(
            bench.batch(sender, from: 1, names.map { try bench.event(.light($0, 1)) })
        ).grants.sorted { $0.effect < $1.effect }
        try #require(grants.count == 40)
        var (entries, isApplied): ([Entry], [Bool]) = ([], [])
        for (name, grant) in zip(names, grants) {
            let holder = (grant.effect, grant.attempt)
            // Its effect ends, and the place of it is that of another; or nothing is there any more.
            entries.append(try bench.event(.darken(name), of: holder))
            entries.append(try bench.event(name.hasSuffix("3") ? .light(name, 2) : .note))
            entries.append(try bench.event(.note, of: holder))
            for _ in 0..<(name.hasSuffix("5") ? 20 : 1) { entries.append(try bench.event(.note)) }
            isApplied += [true, true, false] + Array(repeating: true, count: entries.count - isApplied.count - 3)
        }
        let before = bench.records.count
        _ = bench.push(bench.batch(worker, from: 1, entries))
        let applied = bench.records[before...].compactMap { record -> Bool? in
            switch record {
            case .event: true
            case .refused(let record): record.reason == .stale ? false : nil
            default: nil
            }
        }
        #expect(applied == isApplied)
        #expect(bench.machine.state.burning.keys.sorted() == ["13", "23", "3", "33"])
        #expect(bench.machine.status().peers.map(\.completed) == [40, 0])
        #expect(bench.machine.status().peers.map(\.leases) == [4, 0])
    }

    @Test func `a batch before the claim is dropped`() throws {
        var bench = try ReducerBench()
        _ = bench.say(.join(ReducerBench.joinRequest(client, capacity: 0)), from: client)
        #expect(try bench.send(SessionID(1), from: 1, .note) == [])
        #expect(bench.machine.counters[.beforeClaim] == 1)
    }

    @Test func `a batch of another history is dropped`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        var batch = bench.batch(session, from: 1, [try bench.event(.note)])
        batch.history = History(1)
        #expect(bench.push(batch) == [])
        #expect(bench.machine.counters[.foreignHistory] == 1)
    }
}

@Suite struct `A reducer hands out effects` {
    @Test func `to a worker, in the turn that started them`() throws {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let out = try bench.send(sender, from: 1, .light("a", 5))
        let grant = Grant(
            effect: EffectID(feedback: 0, seq: Seq(1), index: 0), attempt: Attempt(epoch: 1, count: 1), version: Seq(1),
            failures: 0, isResumed: false, request: RequestBytes(try bench.coder.encode(5)))
        #expect(out.messages(to: alice) == [.commands(number: 1, [.start(grant)])])
        let update = try bench.send(sender, from: 2, .light("a", 6))
        #expect(
            update.messages(to: alice) == [
                .commands(
                    number: 2,
                    [
                        .update(
                            grant.effect, grant.attempt, version: Seq(2),
                            request: RequestBytes(try bench.coder.encode(6)))
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

    @Test func `until its last event, behind which nobody has to cancel it`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        var last = try bench.event(.darken("hall"), of: (grant.effect, grant.attempt))
        last.isLast = true
        let out = bench.push(bench.batch(worker, from: 1, [last]))
        #expect(out.messages(to: alice) == [acknowledged(0, 1)])
        #expect(bench.machine.core.effects.isEmpty)
        #expect(bench.machine.status().peers.map(\.completed) == [1, 0])
        #expect(bench.machine.status().peers.map(\.leases) == [0, 0])
    }

    @Test func `until its last event, behind which it stays completed while it is wanted`() throws {
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
        #expect(bench.machine.core.effects[grant.effect]?.status == .completed)
        #expect(bench.machine.status().peers.map(\.completed) == [1, 0])
    }

    @Test func `until its last event, also where that is refused for its own sake`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        let last = Entry(
            kind: .event, effect: grant.effect, attempt: grant.attempt, payload: [0xff], isLast: true)
        let out = bench.push(bench.batch(worker, from: 1, [last]))
        #expect(out.messages(to: alice) == [acknowledged(0, 1, refused(1, .undecodable))])
        #expect(bench.machine.core.effects[grant.effect]?.status == .completed)
        #expect(bench.machine.status().peers.map(\.leases) == [0, 0])
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
            next: .retry(WallTime(milliseconds: bench.time - 500)))
        let ends = bench.records.compactMap { if case .attemptEnded(let end) = $0 { end } else { nil } }
        #expect(ends.map(\.effect) == [end.effect])
        #expect(ends.map(\.cause) == [.unresponsive])
        #expect(ends.map(\.upTo) == [grant.attempt])
        let late = bench.push(
            bench.batch(first, from: 1, [try bench.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(late.messages(to: alice).contains(acknowledged(0, 1, refused(1, .attempt))))
        #expect(bench.machine.state.notes == 0)
    }

    @Test func `of all silent workers, by worker and effect, once somebody is there to run them`() throws {
        var bench = try ReducerBench()
        let first = bench.join(alice)
        let second = bench.join(bob)
        let sender = bench.join(client, capacity: 0)
        let out = try bench.send(sender, from: 1, .light("a", 1), .light("b", 1), .light("c", 1), .light("d", 1))
        let owners = [first: grants(to: alice, in: out), second: grants(to: bob, in: out)]
        #expect(owners.values.map(\.count) == [2, 2])
        for _ in 0..<10 { bench.turn(after: 500) }
        // Who can run nothing takes nothing.
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

@Suite struct `A restarted reducer` {
    private func running() throws -> (bench: ReducerBench, grant: Grant) {
        var bench = try ReducerBench()
        bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("a", 1)).grants.first)
        return (bench, grant)
    }

    @Test func `holds what its journal gives, and begins a new epoch`() throws {
        let (bench, _) = try running()
        let again = try ReducerBench(replaying: bench.records, at: 20_000)
        #expect(again.machine.state == bench.machine.state)
        #expect(again.machine.seq == bench.machine.seq)
        #expect(again.machine.epoch.number == 2)
    }

    @Test func `lets a worker go on with what it claims`() throws {
        let (bench, grant) = try running()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let session = again.join(alice, claiming: [ClaimedAttempt(effect: grant.effect, attempt: grant.attempt)])
        #expect(session == SessionID(1))
        _ = again.push(
            again.batch(session, from: 1, [try again.event(.note, of: (grant.effect, grant.attempt))]))
        #expect(again.machine.state.notes == 1)
    }

    @Test func `gives what nobody claims to others, after the silence limit`() throws {
        let (bench, grant) = try running()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        let session = again.join(bob)
        for _ in 0..<5 { #expect(again.say(again.heartbeat(session), from: bob, after: 500).grants == []) }
        let late = again.say(again.heartbeat(session), from: bob, after: 500).grants
        #expect(late.map(\.effect) == [grant.effect])
        #expect(late.map(\.attempt) == [Attempt(epoch: 2, count: 1)])
        #expect(late.map(\.isResumed) == [true])
    }

    @Test func `retires the sessions of those who never come back`() throws {
        let (bench, _) = try running()
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        // What it ran goes to nobody any more. The turns are short, so that the reducer does not seem to stand still.
        for _ in 0..<(23 * 3600) { again.turn(after: 1000) }
        #expect(!again.records.contains(.sessionRetired(SessionID(2))))
        for _ in 0..<(2 * 3600) { again.turn(after: 1000) }
        #expect(again.records.contains(.sessionRetired(SessionID(2))))
    }
}

@Suite struct `A loop that ends` {
    @Test func `acknowledges the event that ended it before it says so, and refuses what comes after`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let out = try bench.send(sender, from: 1, .finish)
        #expect(out.messages(to: client) == [acknowledged(0, 1), .ended(at: Seq(1), exitCode: 1, text: "done")])
        #expect(bench.machine.end == Outcome(text: "done", exitCode: 1))
        let late = try bench.send(sender, from: 2, .note)
        #expect(late.messages(to: client) == [acknowledged(1, 2, refused(2, .ended))])
    }
}

@Suite struct `Observers` {
    @Test func `are shown the state of each turn that changed it, while there are any`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        let silent = try bench.send(sender, from: 1, .note)
        #expect(!silent.contains { if case .publish(.updates, _) = $0 { true } else { false } })
        bench.subscriptions.streams = [UpdateStream(.full)]
        bench.time += 1000
        let shown = try bench.send(sender, from: 2, .note)
        let updates = shown.compactMap { outbound -> ToPeer? in
            guard case .publish(.updates, let frame) = outbound else { return nil }
            return frame.message
        }
        #expect(updates == [.update(Seq(2), state: try bench.coder.encode(bench.machine.state))])
    }

    @Test func `fetch the state in parts`() throws {
        var bench = try ReducerBench()
        let whole = try bench.coder.encode(bench.machine.state)
        let out = bench.say(.stateRequest(transfer: 0, part: 0), from: bob)
        #expect(
            out.messages(to: bob) == [
                .statePart(
                    StatePart(transfer: 1, seq: .initial, part: 0, end: .state, bytes: whole))
            ])
    }
}
