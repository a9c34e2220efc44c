import LoopCluster
import LoopCore
import LoopWire
import Testing

/// A reducer of the second plan, and workers of any.
private struct Upgrade {
    var machine: ReducerMachine
    var records: [Record] = []
    private var time: Int64 = 10_000

    init(recovered core: JournaledState? = nil) {
        let fresh = JournaledState(definition: Plans.Second(), coder: CBORCoder(), history: History(0x77))
        machine = ReducerMachine(
            recovered: core ?? fresh, configuration: ReducerConfiguration(), seed: 1, nonce: 7,
            at: ReducerBench.moment(time))
    }

    mutating func say(_ message: ToReducer, from peer: PeerID, after milliseconds: Int64 = 0) -> [Outbound] {
        turn(after: milliseconds) { $0.receive(message, from: ReducerBench.route(peer), by: .unknown) }
    }

    mutating func turn(
        after milliseconds: Int64 = 0, _ take: (inout ReducerMachine) -> Void = { _ in }
    ) -> [Outbound] {
        time += milliseconds
        let ready = machine.turn(at: ReducerBench.moment(time), take)
        records += ready.records
        let position = ready.position
        return machine.release(ready, JournalReceipt(through: position)).messages
    }

    static func joinRequest(_ peer: PeerID, of definition: some LoopDefinition, schema: Int, capacity: UInt32 = 8)
        -> JoinRequest
    {
        let fingerprint = DefinitionFingerprint(of: definition)
        return JoinRequest(
            peer: peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: UInt64(schema),
            fingerprint: fingerprint.value, capacity: capacity, groups: capacity > 0 ? ["default"] : [],
            name: "peer \(peer.low)", feedbacks: fingerprint.feedbacks)
    }

    mutating func join(_ joinRequest: JoinRequest, claiming claims: [ClaimedAttempt] = []) -> (SessionID, [Outbound]) {
        let session = say(.join(joinRequest), from: joinRequest.peer).compactMap { outbound -> SessionID? in
            guard case .inbox(joinRequest.peer, let frame) = outbound, case .joinAccepted = frame.message else {
                return nil
            }
            return frame.session
        }.first
        let out = say(.claim(session ?? .none, machine.epoch, ClaimPart(claims)), from: joinRequest.peer)
        return (session ?? .none, out)
    }

    mutating func send(_ session: SessionID, _ number: UInt64, _ payload: [UInt8]) -> [Outbound] {
        let batch = Batch(
            loop: LoopID(name: "plan"), history: machine.history, session: session, settled: 0, applied: 1 << 20,
            first: number, entries: [Entry(kind: .event, payload: payload[...])])
        return turn { $0.receive(batch, by: .unknown) }
    }
}

@Suite struct `A worker of an older schema with a newer reducer` {
    private let coder = CBORCoder()

    @Test func `is let in, and told the numbers of the feedbacks`() {
        var upgrade = Upgrade()
        let out = upgrade.say(.join(Upgrade.joinRequest(alice, of: Plans.First(), schema: 1)), from: alice)
        #expect(
            out.messages(to: alice) == [
                .joinAccepted(
                    watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500),
                    feedbacks: ["reviews", "tasks"])
            ])
    }

    @Test func `has its events migrated, and journaled in the present schema`() throws {
        var upgrade = Upgrade()
        let (session, _) = upgrade.join(Upgrade.joinRequest(alice, of: Plans.First(), schema: 1, capacity: 0))
        let out = upgrade.send(session, 1, try coder.encode(Plans.First.Event.add("dig", 2)))
        #expect(out.messages(to: alice) == [acknowledged(0, 1)])
        let task = Plans.Second.Task(minutes: 120, owner: "nobody")
        #expect(upgrade.machine.journaled.state(of: Plans.Second()).tasks == ["dig": task])
        let journaled = upgrade.records.compactMap {
            if case .event(let record) = $0 { Array(record.bytes) } else { nil }
        }
        #expect(journaled == [try coder.encode(Plans.Second.Event.add("dig", task))])
        // What is no event of its schema is refused, also where it would be one of the present.
        let newer = upgrade.send(session, 2, try coder.encode(Plans.Second.Event.add("saw", task)))
        let why =
            #"as an event of schema 1: at add._1: expected an integer, found {"owner": "nobody", "minutes": 120}"#
        #expect(
            newer.messages(to: alice) == [
                details(of: 2, because: why), acknowledged(1, 2, refused(2, .undecodable)),
            ])
    }

    @Test func `keeps the bytes of all other peers as they were received`() throws {
        var upgrade = Upgrade()
        let (session, _) = upgrade.join(Upgrade.joinRequest(bob, of: Plans.Second(), schema: 2, capacity: 0))
        let bytes = try coder.encode(Plans.Second.Event.add("dig", Plans.Second.Task(minutes: 1, owner: "me")))
        _ = upgrade.send(session, 1, bytes)
        let journaled = upgrade.records.compactMap {
            if case .event(let record) = $0 { Array(record.bytes) } else { nil }
        }
        #expect(journaled == [bytes])
    }

    @Test func `is granted only what its own definition has under the same name and placement`() throws {
        var upgrade = Upgrade()
        let (old, _) = upgrade.join(Upgrade.joinRequest(alice, of: Plans.First(), schema: 1))
        let first = upgrade.send(old, 1, try coder.encode(Plans.First.Event.add("dig", 2)))
        #expect(first.grants.map { upgrade.machine.journaled.feedbackName(of: $0.effect) } == ["tasks"])
        let (_, second) = upgrade.join(Upgrade.joinRequest(bob, of: Plans.Second(), schema: 2))
        #expect(second.isGranted(to: bob) && !second.isGranted(to: alice))
        #expect(second.grants.map { upgrade.machine.journaled.feedbackName(of: $0.effect) } == ["reviews"])
    }

    @Test func `keeps what it runs through the upgrade, and loses what is gone`() throws {
        var old = JournaledState(definition: Plans.First(), coder: coder, history: History(8))
        try old.apply(.definition(old.ownDefinition))
        try old.apply(.epochBegun(Epoch(number: 1, nonce: 1), WallTime(milliseconds: 1)))
        try old.apply(.sessionOpened(SessionID(1), alice))
        try old.apply(
            .event(
                EventRecord(
                    seq: Seq(1), time: old.time, session: SessionID(1), number: 1, effect: nil, attempt: .none,
                    wantsSeq: false, bytes: try coder.encode(Plans.First.Event.add("dig", 1))[...])))
        let new = try JournaledState(restoring: try old.snapshot(), definition: Plans.Second(), coder: coder)
        var upgrade = Upgrade(recovered: new)
        var joinRequest = Upgrade.joinRequest(alice, of: Plans.First(), schema: 1)
        joinRequest.session = SessionID(1)
        joinRequest.history = History(8)
        let task = EffectID(feedback: 0, seq: Seq(1), index: 0)
        let news = EffectID(feedback: 1, seq: Seq(1), index: 0)
        let attempts = [Attempt(epoch: 1, count: 1), Attempt(epoch: 1, count: 2)]
        let (session, out) = upgrade.join(
            joinRequest,
            claiming: [
                ClaimedAttempt(effect: task, attempt: attempts[0]), ClaimedAttempt(effect: news, attempt: attempts[1]),
            ])
        #expect(session == SessionID(1))
        let assigned = out.messages(to: alice).compactMap { message -> [EffectID: Attempt]? in
            guard case .assignments(let part) = message else { return nil }
            return Dictionary(uniqueKeysWithValues: part.grants.map { ($0.effect, $0.attempt) })
        }
        #expect(assigned == [[task: attempts[0]]])
        // The review that came with the new definition waits for a worker that knows how, and for nothing else.
        #expect(out.grants == [])
        let (_, joined) = upgrade.join(Upgrade.joinRequest(bob, of: Plans.Second(), schema: 2))
        #expect(joined.grants.map(\.effect) == [EffectID(feedback: 2, seq: Seq(1), index: 2)])
    }

    @Test func `is refused where it is too old, too new, or of the same schema and another definition`() {
        var upgrade = Upgrade()
        func refusal(_ joinRequest: JoinRequest) -> [String] {
            upgrade.say(.join(joinRequest), from: alice).messages(to: alice).map { message in
                if case .refused(let refused, _) = message { refused.description } else { "\(message)" }
            }
        }
        #expect(
            refusal(Upgrade.joinRequest(alice, of: Plans.Third(), schema: 3))
                == ["the reducer speaks schema 1 to 2 of this loop, this node schema 3; run the same build"])
        var third = ReducerMachine(
            definition: Plans.Third(), configuration: ReducerConfiguration(), coder: CBORCoder(), history: History(1),
            seed: 1, nonce: 1, at: ReducerBench.moment(1))
        let ready = third.turn(at: ReducerBench.moment(1)) {
            $0.receive(
                .join(Upgrade.joinRequest(alice, of: Plans.First(), schema: 1)), from: ReducerBench.route(alice),
                by: .unknown)
        }
        let position = ready.position
        #expect(
            third.release(ready, JournalReceipt(through: position)).messages.messages(to: alice)
                == [.refused(Refused(.schema, reducer: "2 to 3", peer: "1"), to: .join)])
        var other = Upgrade.joinRequest(alice, of: Plans.Second(), schema: 2)
        other.fingerprint = 0xbad
        let own = hexadecimal(DefinitionFingerprint(of: Plans.Second()).value)
        #expect(
            refusal(other) == [
                "the reducer's definition (\(own)) differs from this node's (0000000000000bad): feedbacks or placements are"
                    + " not the same; run the same build on both sides"
            ])
        #expect(upgrade.machine.counters[.joinRefused] == 2)
    }
}
