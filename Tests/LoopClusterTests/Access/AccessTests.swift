import CBOR
import LoopCluster
import LoopCore
import LoopKeys
import LoopWire
import Testing

@Suite struct `G11 a reducer with keys` {
    private func status(_ guarded: inout GuardedBench, by principal: Principal) -> Refused? {
        guarded.refusal(of: .statusRequest, from: alice, by: principal)
    }

    @Test func `answers no one but the owners of admitted keys`() throws {
        var guarded = try GuardedBench()
        let (worker, stranger) = (guarded.worker, guarded.stranger)
        #expect(status(&guarded, by: .key(worker)) == nil)
        #expect(status(&guarded, by: .key(stranger)) == Refused(.key, reducer: "", peer: stranger.z85))
        #expect(status(&guarded, by: .unknown) == Refused(.key, reducer: "", peer: "(none)"))
        let hello = ToReducer.hello(name: "", schema: 0)
        #expect(guarded.refusal(of: hello, from: alice, by: .unknown)?.what == .key)
        #expect(
            guarded.bench.news.filter { if case .notAllowed = $0 { true } else { false } } == [
                .notAllowed("refused a message of a key that is not admitted: \(stranger.z85)"),
                .notAllowed("refused a message of a key that is not admitted: it has shown none"),
            ])
    }

    @Test func `admits no key before it is told which`() throws {
        var setting = ReducerSetting()
        setting.isGuarded = true
        var bench = try ReducerBench(setting: setting)
        let key = GuardedBench.key(1)
        let answer = bench.say(.statusRequest, from: alice, by: .key(key)).messages(to: alice)
        #expect(answer == [.refused(Refused(.key, reducer: "", peer: key.z85), to: ToReducer.statusRequest.question)])
    }

    @Test func `lets a key do what its role allows, and nothing else`() throws {
        var guarded = try GuardedBench()
        let (observer, sender) = (guarded.observer, guarded.sender)
        let fetch = ToReducer.stateRequest(transfer: 0, part: 0)
        #expect(guarded.refusal(of: fetch, from: alice, by: .key(observer)) == nil)
        #expect(
            guarded.refusal(of: fetch, from: alice, by: .key(sender))
                == Refused(
                    .role, reducer: "\"s\", which is sender",
                    peer: "fetch states; its certificate must have the role observer"))
    }

    @Test func `gives a worker the groups of its key alone`() throws {
        var guarded = try GuardedBench()
        let (worker, other, sender) = (guarded.worker, guarded.otherWorker, guarded.sender)
        #expect(guarded.join(alice, by: worker, capacity: 4) != .none)
        let request = ToReducer.join(ReducerBench.joinRequest(bob, capacity: 4))
        let video = guarded.refusal(of: request, from: bob, by: .key(other))
        let remedy = "its certificate must name that group, and the role worker"
        #expect(
            video
                == Refused(
                    .role, reducer: "\"v\", which is worker", peer: "run effects of the group \"default\"; \(remedy)"))
        #expect(
            guarded.refusal(of: request, from: bob, by: .key(sender))
                == Refused(
                    .role, reducer: "\"s\", which is sender",
                    peer: "run effects; its certificate must have the role worker"))
        #expect(guarded.bench.machine.memberCount(besides: nil) == 1)
    }

    @Test func `lets no peer without a role for it join`() throws {
        var guarded = try GuardedBench()
        let admin = guarded.admin
        let request = ToReducer.join(ReducerBench.joinRequest(bob, capacity: 0))
        #expect(guarded.refusal(of: request, from: bob, by: .key(admin))?.what == .role)
    }

    @Test func `takes events of senders, and none of observers, who are told`() throws {
        var guarded = try GuardedBench()
        let (observer, sender) = (guarded.observer, guarded.sender)
        let session = guarded.join(client, by: sender)
        let batch = guarded.bench.batch(session, from: 1, [try guarded.bench.event(.note)])
        _ = guarded.bench.push(batch, by: .key(sender))
        #expect(guarded.bench.machine.seq == Seq(1))
        let watching = guarded.join(alice, by: observer)
        let forbidden = guarded.bench.batch(watching, from: 1, [try guarded.bench.event(.note)])
        let told = guarded.bench.push(forbidden, by: .key(observer)).messages(to: alice)
        let refused = Refused(
            .role, reducer: "\"o\", which is observer", peer: "send events; its certificate must have the role sender")
        #expect(told == [ToPeer.refused(refused, to: .none)])
        #expect(guarded.bench.machine.seq == Seq(1))
    }

    @Test func `binds a session to the key that has opened it`() throws {
        var guarded = try GuardedBench()
        let (worker, sender) = (guarded.worker, guarded.sender)
        let session = guarded.join(client, by: sender)
        #expect(guarded.bench.records.contains(.sessionOwned(session, sender)))
        let epoch = guarded.bench.machine.epoch
        let history = ReducerBench.history
        let claims: [ToReducer] = [
            .claim(session, epoch, ClaimPart([])), .assignmentsRequest(session, epoch),
            .outcomesRequest(session, after: 0), .goodbye(session, client, history),
            .heartbeat(Heartbeat(session: session, epoch: epoch, echo: 0, applied: 0, settled: 0, capacity: 0)),
            .join(ReducerBench.joinRequest(client, capacity: 0)),
        ]
        for claim in claims {
            #expect(
                guarded.refusal(of: claim, from: bob, by: .key(worker))
                    == Refused(.session, reducer: "\"w\"", peer: "\(session)"), "\(claim)")
        }
        let forged = guarded.bench.batch(session, from: 1, [try guarded.bench.event(.note)])
        #expect(guarded.bench.push(forged, by: .key(worker)) == [])
        #expect(guarded.bench.machine.seq == Seq(0))
        #expect(guarded.bench.machine.journaled.sessions[session]?.peer == client)
        _ = guarded.bench.push(forged, by: .key(sender))
        #expect(guarded.bench.machine.seq == Seq(1))
    }

    /// After a restart without a journal the numbers of sessions begin again. A refusal ends a peer.
    @Test func `refuses no peer that has not heard of a new epoch yet, although its session is another key's now`()
        throws
    {
        var guarded = try GuardedBench()
        let (worker, sender) = (guarded.worker, guarded.sender)
        let session = guarded.join(client, by: sender)
        let earlier = Epoch(number: 1, nonce: 77)
        for late: ToReducer in [
            .claim(session, earlier, ClaimPart([])), .assignmentsRequest(session, earlier),
            .goodbye(session, client, History(77)),
            .heartbeat(Heartbeat(session: session, epoch: earlier, echo: 0, applied: 0, settled: 0, capacity: 0)),
        ] {
            #expect(guarded.refusal(of: late, from: bob, by: .key(worker)) == nil, "\(late)")
        }
        #expect(guarded.bench.machine.journaled.sessions[session]?.peer == client)
    }

    @Test func `gives a session without a key to the first that joins in it`() throws {
        var open = try ReducerBench()
        let session = open.join(client, capacity: 0)
        var guarded = try GuardedBench(replaying: open.records)
        let (worker, sender) = (guarded.worker, guarded.sender)
        #expect(guarded.join(client, by: sender) == session)
        let request = ToReducer.join(ReducerBench.joinRequest(client, capacity: 0))
        #expect(guarded.refusal(of: request, from: bob, by: .key(worker))?.what == .session)
    }

    @Test func `knows the owners of sessions again after a restart and from a snapshot`() throws {
        var guarded = try GuardedBench()
        let sender = guarded.sender
        let session = guarded.join(client, by: sender)
        let document = try guarded.bench.machine.journaled.snapshot()
        let restored = try JournaledState(
            restoring: document, definition: Lamps(), coder: CBORCoder())
        #expect(restored.sessions[session]?.owner == sender)
        #expect(restored.digest() == guarded.bench.machine.journaled.digest())
        let again = try GuardedBench(replaying: guarded.bench.records)
        #expect(again.bench.machine.journaled.sessions[session]?.owner == sender)
    }

    @Test func `ends the sessions of a key that it does not admit any more`() throws {
        var guarded = try GuardedBench()
        let (worker, sender) = (guarded.worker, guarded.sender)
        let (kept, lost) = (guarded.join(client, by: sender), guarded.join(alice, by: worker, capacity: 4))
        let left = guarded.without(worker)
        guarded.bench.turn { $0.admit(left) }
        #expect(guarded.bench.records.last == .sessionRetired(lost))
        #expect(guarded.bench.machine.journaled.sessions.keys.sorted() == [kept])
        #expect(guarded.bench.machine.counters[.sessionRevoked] == 1)
        #expect(status(&guarded, by: .key(worker))?.what == .key)
    }

    @Test func `shows an inbox to its owner only, and topics to those who may follow them`() throws {
        var guarded = try GuardedBench()
        let (worker, observer, sender) = (guarded.worker, guarded.observer, guarded.sender)
        _ = guarded.join(client, by: sender)
        let loop = LoopID(name: Lamps.name)
        func may(_ topic: Topic, _ principal: Principal) -> Bool {
            var result = false
            guarded.bench.turn { result = $0.mayFollow(topic, principal) }
            return result
        }
        #expect(may(.inbox(loop, client), .key(sender)))
        #expect(!may(.inbox(loop, client), .key(worker)))
        #expect(!may(.inbox(loop, client), .unknown))
        // It has no owner yet: its peer may listen before it asks to join.
        #expect(may(.inbox(loop, alice), .key(worker)))
        #expect(may(.transitions(loop), .key(observer)) && !may(.transitions(loop), .key(sender)))
        #expect(may(.tick(loop), .key(sender)) && !may(.tick(loop), .unknown))
    }

    @Test func `lets admins alone ask what operators ask`() throws {
        var guarded = try GuardedBench()
        let (admin, observer) = (guarded.admin, guarded.observer)
        let requests: [AdministrationRequest] = [
            .effects(EffectSelection()), .quarantine, .trim(before: 1), .history(from: 0, through: nil, after: nil),
            .verify,
        ]
        for request in requests {
            let message = ToReducer.administration(request: 7, try CBOR.encode(request)[...])
            let answers = guarded.bench.say(message, from: alice, by: .key(observer)).messages(to: alice)
            guard case .answer(let part)? = answers.first else {
                Issue.record("no answer to \(request)")
                continue
            }
            let answer = try CBOR.decode(AdministrationAnswer.self, from: Array(part.bytes))
            guard case .refused(let why) = answer else {
                Issue.record("\(request) was answered")
                continue
            }
            #expect(why.contains("the key \"o\", which is observer, may not"))
        }
        #expect(guarded.bench.machine.counters[.notAllowed] == 5)
        let message = ToReducer.administration(request: 8, try CBOR.encode(AdministrationRequest.verify)[...])
        _ = guarded.bench.say(message, from: alice, by: .key(admin))
        #expect(guarded.bench.journalRequests.count == 1)
    }
}

@Suite struct `G11 lost history` {
    private func report(_ peer: PeerID, session: SessionID, epoch: Epoch, watermark: UInt64 = 0) -> ToReducer {
        var request = ReducerBench.joinRequest(peer, capacity: 0)
        request.history = ReducerBench.history
        request.session = session
        request.epoch = epoch
        request.watermark = watermark
        return .join(request)
    }

    @Test func `is believed of the key whose session it was`() throws {
        var guarded = try GuardedBench()
        let sender = guarded.sender
        let session = guarded.join(client, by: sender)
        let request = report(client, session: session, epoch: guarded.bench.machine.epoch, watermark: 5)
        _ = guarded.bench.say(request, from: client, by: .key(sender))
        #expect(guarded.bench.lost != nil)
    }

    @Test func `is not believed of others, who are counted and told`() throws {
        var guarded = try GuardedBench()
        let (worker, sender) = (guarded.worker, guarded.sender)
        let session = guarded.join(client, by: sender)
        let epoch = guarded.bench.machine.epoch
        let reports = [
            report(alice, session: session, epoch: epoch, watermark: 5),
            report(alice, session: SessionID(77), epoch: epoch),
            report(alice, session: .none, epoch: Epoch(number: 9, nonce: 9)),
        ]
        for request in reports {
            #expect(guarded.refusal(of: request, from: alice, by: .key(worker))?.what == .session)
            #expect(guarded.bench.lost == nil)
        }
        #expect(guarded.bench.machine.counters[.lossNotBelieved] == 3)
        let warnings = guarded.bench.machine.status().warnings
        #expect(
            warnings.contains { $0.contains("not believed") && $0.contains("trim --after 0 JOURNAL") }, "\(warnings)")
        #expect(status(&guarded, sender) == nil)
    }

    private func status(_ guarded: inout GuardedBench, _ key: PublicKey) -> Refused? {
        guarded.refusal(of: .statusRequest, from: alice, by: .key(key))
    }
}
