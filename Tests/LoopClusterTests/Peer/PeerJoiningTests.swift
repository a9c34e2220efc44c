import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A peer asks to join` {
    @Test func `step by step, and repeats each step until the next is seen`() {
        var bench = PeerBench()
        let hello = PeerAction.send(.hello(name: "lamps", schema: 2))
        #expect(bench.wait() == [hello])
        #expect(bench.wait(199) == [])
        #expect(bench.wait(1) == [hello])
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
        let joinRequest = JoinRequest(
            peer: alice, session: .none, history: .none, epoch: .none, watermark: 0, schema: 2, fingerprint: 1,
            capacity: 4, groups: ["default"], name: "worker")
        #expect(bench.wait() == [.send(.join(joinRequest))])
        #expect(bench.wait(200) == [.send(.join(joinRequest))])
        #expect(
            bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
                == [])
        #expect(bench.wait() == [.send(.claim(bench.session, bench.epoch, []))])
        #expect(!bench.machine.isJoined)
        #expect(
            bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [bench.grant]))) == [
                .run(bench.grant)
            ])
        #expect(bench.machine.isJoined)
    }

    /// A socket takes nothing for a connection that does not stand yet: every peer began with a hello that was lost, and waited
    /// until it was due again.
    @Test func `again at once when its word found no connection, and now there is one`() {
        var bench = PeerBench()
        let hello = PeerAction.send(.hello(name: "lamps", schema: 2))
        #expect(bench.wait() == [hello])
        #expect(bench.wait(1) == [])
        bench.machine.hasConnected()
        #expect(bench.wait() == [hello])
        #expect(bench.wait(199) == [])
        bench.join()
        _ = bench.wait()
        bench.machine.hasConnected()
        let isHeard = bench.wait().contains { if case .send(.heartbeat) = $0 { true } else { false } }
        #expect(isHeard)
    }

    @Test func `and claims once, however often it is admitted`() {
        var bench = PeerBench()
        let acceptance = ToPeer.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500))
        _ = bench.wait()
        _ = bench.reply(.introduction(PeerBench.introduction))
        _ = bench.wait()
        _ = bench.publish(acceptance)
        #expect(bench.wait() == [.send(.claim(bench.session, bench.epoch, []))])
        #expect(bench.publish(acceptance) == [])
        #expect(bench.wait() == [])
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [])))
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.machine.nextBatch()?.first == 1)
        #expect(bench.publish(acceptance) == [])
        #expect(bench.machine.isJoined)
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test func `and sends no batch before it is assigned`() {
        var bench = PeerBench()
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.machine.nextBatch() == nil)
        bench.join()
        #expect(bench.machine.nextBatch()?.entries.count == 1)
    }

    @Test func `again when the inbox is silent for the limit`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        _ = bench.wait(3000)
        #expect(bench.wait(1) == [.send(.hello(name: "lamps", schema: 2))])
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
    }

    @Test func `over another connection when its greeting is not answered for the limit, again and again`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.wait(3001)
        for _ in 1...2 {
            #expect(!bench.wait(3000).contains(.redial))
            #expect(bench.wait(1).contains(.redial))
        }
        // It has answered that it is busy.
        _ = bench.reply(.busy(to: .hello, retryAfter: .seconds(2), reason: ""))
        #expect(!bench.wait(5000).contains(.redial))
        #expect(bench.wait(1).contains(.redial))
    }

    /// Where its questions get lost, and ticks come.
    enum Question: CaseIterable { case join, claim, assignments, outcomes }

    @Test(arguments: Question.allCases)
    func `again when a question is not answered for the limit, although the inbox is not silent`(question: Question) {
        var bench = PeerBench()
        _ = bench.wait()
        _ = bench.reply(.introduction(PeerBench.introduction))
        if question != .join {
            _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        }
        if question == .assignments || question == .outcomes {
            _ = bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [])))
            _ = bench.send()
            bench.push()
        }
        var greeted: Int64?
        let start = bench.time
        var redials = 0
        while bench.time < start + 60_000 {
            let actions = bench.wait(250)
            if greeted == nil, actions.contains(.send(.hello(name: "lamps", schema: 2))) {
                greeted = bench.time - start
            }
            redials += actions.count { $0 == .redial }
            _ = bench.tick(question == .assignments ? 7 : 0, watermark: question == .outcomes ? 1 : 0)
        }
        #expect(greeted.map { (3000...4000).contains($0) } == true, "\(greeted ?? -1)")
        #expect(redials > 10)
    }

    @Test func `again when no tick comes for the limit, although outcomes do`() {
        var bench = PeerBench()
        bench.join()
        var isGreeted = false
        for number in 1...8 as ClosedRange<UInt64> {
            _ = bench.send()
            bench.push()
            isGreeted = isGreeted || bench.wait(500).contains(.send(.hello(name: "lamps", schema: 2)))
            _ = bench.acknowledge(number - 1, number)
        }
        #expect(isGreeted)
    }

    @Test func `and waits as long as it is told to, however long`() {
        var bench = PeerBench()
        _ = bench.wait()
        _ = bench.reply(.introduction(PeerBench.introduction))
        #expect(bench.joinRequests(in: bench.wait()) == [0])
        for _ in 1...3 {
            _ = bench.reply(.busy(to: .join, retryAfter: .seconds(10), reason: "full"))
            for _ in 1...39 {
                _ = bench.publish(.serverHeartbeat(Seq(1)))
                #expect(bench.wait(250) == [])
            }
            #expect(bench.joinRequests(in: bench.wait(250)) == [0])
        }
    }

    @Test func `again when its connection is gone, and at once`() {
        var bench = PeerBench()
        bench.join()
        bench.machine.hasRedialled()
        #expect(bench.wait(0) == [.send(.hello(name: "lamps", schema: 2))])
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test(arguments: ContactLoss.allCases)
    func `again when it has lost its reducer, and counts why`(cause: ContactLoss) {
        var bench = PeerBench(places: cause == .leaderMoved ? ["a", "b"] : [])
        bench.join()
        // An assignment or a batch that is never answered.
        let missing: UInt64 = cause == .noAnswer ? 7 : 0
        if cause == .unread { _ = bench.send() }
        switch cause {
        case .silence: _ = bench.wait(3001)
        case .noAnswer, .unread:
            for _ in 0..<100 where bench.machine.isJoined {
                bench.push()
                _ = bench.wait(250)
                _ = bench.tick(missing)
            }
        case .newEpoch:
            bench.epoch = Epoch(number: 2, nonce: 6)
            _ = bench.tick(0)
        case .leaderMoved: _ = bench.standby(.redirect("x"))
        case .redialled: bench.machine.hasRedialled()
        case .sessionTaken: _ = bench.acknowledge(0, 5)
        }
        #expect(!bench.machine.isJoined)
        #expect(bench.machine.contactLosses == [cause: 1])
    }

    @Test func `and has lost no reducer that it leaves`() {
        var bench = PeerBench()
        bench.join()
        bench.machine.stop(at: bench.now)
        _ = bench.wait()
        #expect(!bench.machine.isJoined)
        #expect(bench.machine.contactLosses == [:])
    }

    /// Found by simulation: seed 4902. It had said goodbye to its session, the join acceptance to the next one was lost, and an old
    /// join acceptance to the first came late: it claimed what the reducer had ended, for ever, and heard its ticks all the time.
    @Test func `again when it hears of a later session than it knows of`() {
        var bench = PeerBench()
        bench.join()
        let old = bench.session
        bench.session = SessionID(15)
        #expect(bench.tick(0) == [])
        let greets = bench.wait().contains {
            if case .send(.join(let joinRequest)) = $0 { joinRequest.session == old } else { false }
        }
        #expect(greets)
        #expect(
            bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
                == [])
        #expect(bench.wait() == [.send(.claim(bench.session, bench.epoch, []))])
    }

    @Test func `and stays away when it is refused`() {
        var bench = PeerBench()
        let refused = Refused(.loop, reducer: "links", peer: "lamps")
        #expect(bench.reply(.refused(refused, to: .join)) == [.refused(refused)])
        #expect(bench.wait(10_000) == [])
        #expect(bench.machine.isOver)
    }

    @Test func `and goes on when a tool's or an observer's question is refused`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        let refused = Refused(.role, reducer: "administration", peer: "")
        for question in [ToReducer.statusRequest.question, .state(transfer: 4)] {
            #expect(bench.reply(.refused(refused, to: question)) == [])
        }
        #expect(!bench.machine.isOver)
    }

    @Test func `with every attempt that runs or has entries in the outbox, after a restart of the reducer`() {
        var bench = PeerBench()
        var other = bench.grant
        other.effect.index = 1
        bench.join([bench.grant, other])
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        bench.epoch = Epoch(number: 2, nonce: 6)
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        let claims = [
            ClaimedAttempt(effect: bench.grant.effect, attempt: bench.grant.attempt),
            ClaimedAttempt(effect: other.effect, attempt: other.attempt),
        ]
        #expect(bench.wait() == [.send(.claim(bench.session, bench.epoch, ClaimPart(claims)))])
    }

    @Test func `a new history: what it had sent is refused, what it ran is stopped`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        _ = bench.send()
        bench.history = History(0x88)
        bench.session = SessionID(1)
        #expect(
            bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500))) == [
                .settled(number: 1, .refused(.historyChanged)), .stop(bench.grant.effect, bench.grant.attempt),
            ])
        #expect(bench.send() == .accepted(number: 1))
        // A late word of the history it left does not bring it back.
        bench.history = History(0x77)
        bench.session = SessionID(3)
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        #expect(bench.machine.history == History(0x88))
    }
}
