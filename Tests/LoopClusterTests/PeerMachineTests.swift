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

    @Test func `anew when the inbox is silent for the limit`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        _ = bench.wait(3000)
        #expect(bench.wait(1) == [.send(.hello(name: "lamps", schema: 2))])
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
    }

    /// Found by simulation: seed 4902. It had said goodbye to its session, the join acceptance to the next one was lost, and an old
    /// join acceptance to the first came late: it claimed what the reducer had ended, for ever, and heard its ticks all the time.
    @Test func `anew when it hears of a later session than it knows of`() {
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
        #expect(bench.reply(.refused(refused)) == [.refused(refused)])
        #expect(bench.wait(10_000) == [])
        #expect(bench.machine.isOver)
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

@Suite struct `A peer's inbox` {
    @Test func `is applied in order; after a gap nothing is, until the whole assignment`() {
        var bench = PeerBench()
        bench.join()
        #expect(bench.publish(.commands(number: 2, [.start(bench.grant)])) == [])
        #expect(bench.wait().contains(.send(.assignmentsRequest(bench.session, bench.epoch))))
        #expect(bench.publish(.commands(number: 3, [.cancel(bench.grant.effect, bench.grant.attempt)])) == [])
        let set = Assignments(number: 3, watermark: 0, grants: [bench.grant])
        #expect(bench.reply(.assignments(set)) == [.run(bench.grant)])
        #expect(
            bench.publish(.commands(number: 4, [.cancel(bench.grant.effect, bench.grant.attempt)])) == [
                .stop(bench.grant.effect, bench.grant.attempt)
            ])
    }

    @Test func `shows a lost message by the next tick`() {
        var bench = PeerBench()
        bench.join()
        #expect(bench.tick(1) == [])
        #expect(bench.wait().contains(.send(.assignmentsRequest(bench.session, bench.epoch))))
    }

    @Test func `does not apply an assignment older than itself, nor one that does not know what has settled`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.publish(.commands(number: 1, [.start(bench.grant)]))
        #expect(bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: []))) == [])
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        _ = bench.acknowledge(0, 1)
        #expect(bench.reply(.assignments(Assignments(number: 1, watermark: 0, grants: [bench.grant]))) == [])
    }

    @Test func `drops frames of another session`() {
        #expect(afterForeign { $0.session = SessionID(2) } == [])
        // The rule is what makes the difference.
        #expect(afterForeign(breaking: [.framesNameTheirSession]) { $0.session = SessionID(2) } != [])
    }

    @Test func `drops frames of an older epoch`() {
        #expect(afterForeign { $0.epoch = Epoch(number: 0, nonce: 5) } == [])
        #expect(afterForeign(breaking: [.olderEpochsAreDropped]) { $0.epoch = Epoch(number: 0, nonce: 5) } != [])
    }

    /// What a peer does on an empty assignment in a frame that was changed.
    private func afterForeign(breaking rules: [Rule] = [], _ change: (inout PeerBench) -> Void) -> [PeerAction] {
        var bench = PeerBench()
        bench.machine.brokenRules = BrokenRules(rules)
        bench.join([bench.grant])
        change(&bench)
        return bench.reply(.assignments(Assignments(number: 9, watermark: 0, grants: [])))
    }
}

@Suite struct `A peer's outbox` {
    @Test func `tells refusals, and the seqs that were asked for`() {
        var bench = PeerBench()
        bench.join()
        for wantsSeq in [false, true, false] { _ = bench.send(wantsSeq: wantsSeq) }
        bench.push()
        let applied = NotableOutcome(number: 2, outcome: .applied(Seq(8)))
        #expect(
            bench.acknowledge(0, 3, applied, refused(3, .stale)) == [
                .settled(number: 2, .applied(Seq(8))), .settled(number: 3, .refused(.stale)),
            ])
    }

    @Test func `asks for outcomes where an acknowledgement was lost`() {
        var bench = PeerBench()
        bench.join()
        for _ in 0..<3 { _ = bench.send(wantsSeq: true) }
        bench.push()
        #expect(bench.acknowledge(2, 3) == [])
        #expect(bench.wait().contains(.send(.outcomesRequest(bench.session, after: 0))))
        let outcomes = Acknowledgement(base: 0, watermark: 1, notable: [refused(1, .ended)])
        #expect(bench.reply(.outcomes(outcomes)) == [.settled(number: 1, .refused(.ended))])
    }

    @Test func `is full before the room for the ends of effects is taken, and says when it has room again`() {
        var bench = PeerBench(outboxEntriesMax: 4, reserved: 2)
        bench.join([bench.grant])
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.send() == .accepted(number: 2))
        #expect(bench.send() == .full)
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        #expect(bench.machine.nextBatch()?.entries.map(\.kind) == [.event, .event, .completed])
        #expect(bench.acknowledge(0, 1) == [])
        #expect(bench.acknowledge(1, 2) == [.hasSpace])
    }

    @Test func `refuses an event that is too large, before it has a number`() {
        var bench = PeerBench()
        bench.join()
        #expect(
            bench.send(Array(repeating: 0, count: 33))
                == .refused(SendRefusal(.tooLarge, detail: "33 bytes encoded, the limit is 32")))
        #expect(bench.send() == .accepted(number: 1))
    }

    @Test func `goes back to what was not received`() {
        var bench = PeerBench()
        bench.join()
        for _ in 0..<3 { _ = bench.send() }
        #expect(bench.machine.nextBatch()?.first == 1)
        #expect(bench.machine.nextBatch() == nil)
        _ = bench.tick(0, received: 1, resend: true)
        #expect(bench.machine.nextBatch()?.first == 2)
    }

    @Test func `builds a new socket when nothing settles while ticks come, and hands back after three`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send()
        var rebuilds = 0
        var goodbyes = 0
        for _ in 0..<60 {
            _ = bench.tick(0)
            while bench.machine.nextBatch() != nil {}
            for action in bench.wait(500) {
                if action == .rebuildPush { rebuilds += 1 }
                if action == .send(bench.goodbye) { goodbyes += 1 }
            }
            if goodbyes > 0 { break }
        }
        #expect(rebuilds == 3)
        #expect(goodbyes == 1)
        // The session goes on until the reducer has ended it: its numbers are not given twice.
        #expect(bench.machine.session == bench.session)
        #expect(bench.send() == .accepted(number: 2))
    }
}

@Suite struct `A peer's effects` {
    @Test func `end with a refusal for their attempt, but not with one for an event's bytes`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        let holder = (bench.grant.effect, bench.grant.attempt)
        for _ in 0..<2 { _ = bench.machine.send([1], of: holder, wantsSeq: false) }
        bench.push()
        #expect(bench.acknowledge(0, 1, refused(1, .undecodable)) == [.settled(number: 1, .refused(.undecodable))])
        #expect(
            bench.acknowledge(1, 2, refused(2, .attempt)) == [
                .stop(bench.grant.effect, bench.grant.attempt), .settled(number: 2, .refused(.attempt)),
            ])
    }

    @Test func `are updated by newer requests only`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        let (effect, attempt) = (bench.grant.effect, bench.grant.attempt)
        #expect(bench.publish(.commands(number: 1, [.update(effect, attempt, version: Seq(1), request: [2])])) == [])
        #expect(
            bench.publish(.commands(number: 2, [.update(effect, attempt, version: Seq(2), request: [2])])) == [
                .update(effect, attempt, request: [2])
            ])
    }

    @Test func `are handed back when the process is to stop, and it goes when that is known`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        bench.machine.stop(at: bench.now)
        #expect(bench.machine.takeActions() == [.stop(bench.grant.effect, bench.grant.attempt)])
        #expect(bench.machine.nextBatch()?.entries.map(\.kind) == [.released])
        #expect(bench.acknowledge(0, 1) == [.send(bench.goodbye)])
        #expect(bench.reply(.goodbyeHeard) == [.finished])
        #expect(bench.machine.isOver)
    }

    @Test func `come too late for a process that is to stop, and go back unless they are cancelled by then`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send()
        bench.machine.stop(at: bench.now)
        #expect(bench.publish(.commands(number: 1, [.start(bench.grant)])) == [])
        let second = Grant(
            effect: EffectID(feedback: 0, seq: Seq(2), index: 0), attempt: Attempt(epoch: 1, count: 2),
            version: Seq(2), failures: 0, isResumed: false, request: [1])
        #expect(bench.publish(.commands(number: 2, [.start(second)])) == [])
        _ = bench.publish(.commands(number: 3, [.cancel(second.effect, second.attempt)]))
        #expect(bench.machine.outbox.count == 1)
        _ = bench.wait()
        #expect(bench.machine.nextBatch()?.entries.map(\.kind) == [.event, .released])
        #expect(bench.acknowledge(0, 2).last == .send(bench.goodbye))
    }

    @Test func `that it finished are not run again`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        bench.machine.effectEnded(bench.grant.effect, bench.grant.attempt, failure: nil)
        #expect(bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [bench.grant]))) == [])
    }
}

@Suite struct `What a peer's effects leave` {
    @Test(arguments: 0..<40)
    func `becomes the same entries whether it is taken together or one by one`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let grants = (0..<24).map { index in
            Grant(
                effect: EffectID(feedback: 0, seq: Seq(1), index: index), attempt: Attempt(epoch: 1, count: 1),
                version: Seq(1), failures: 0, isResumed: false, request: [1])
        }
        var together = PeerBench(outboxEntriesMax: 200, reserved: 40, capacity: 24)
        together.join(grants)
        var single = together
        for _ in 0..<6 {
            let run = EntryRun((0..<Int.random(in: 0...60, using: &random)).map { _ in entry(grants, &random) })
            let first = together.machine.lastNumber + 1
            let acceptance = together.machine.accept(run)
            #expect(acceptance.first == first)
            var ended: [EffectID] = []
            for (index, entry) in run.enumerated() {
                let one = single.machine.accept([entry])
                ended += one.ended.map(\.effect)
                // Each has the number, or the refusal, that it has by itself.
                #expect(acceptance[index] == one[0])
            }
            #expect(acceptance.ended.map(\.effect) == ended)
            #expect(together.machine.running == single.machine.running)
            #expect(together.machine.outbox.unsettled.map(\.entry) == single.machine.outbox.unsettled.map(\.entry))
        }
    }

    private func entry(_ grants: [Grant], _ random: inout SeededRandom) -> Entry {
        let effect = grants[Int.random(in: 0..<grants.count, using: &random)].effect
        // Now and then of an attempt that does not run here.
        let attempt = Attempt(epoch: 1, count: Int.random(in: 0..<12, using: &random) == 0 ? 2 : 1)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return Entry(kind: .event, payload: [1, 2])
        case 1: return Entry(kind: .completed, effect: effect, attempt: attempt)
        case 2:
            return Entry(kind: .failed, effect: effect, attempt: attempt, payload: Failure(message: "no").bytes[...])
        case 3: return Entry(kind: .event, effect: effect, attempt: attempt, payload: [3], wantsSeq: true)
        default: return Entry(kind: .event, effect: effect, attempt: attempt, payload: [4, 5, 6])
        }
    }
}

@Suite struct `A peer of a loop that ends` {
    @Test func `stops its effects and goes`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        #expect(
            bench.publish(.ended(at: Seq(9), exitCode: 1, text: "done")) == [
                .stop(bench.grant.effect, bench.grant.attempt), .send(bench.goodbye),
                .loopEnded(exitCode: 1, text: "done"),
            ])
    }

    @Test func `stays until it knows what became of its outbox`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send(wantsSeq: true)
        bench.push()
        #expect(bench.publish(.ended(at: Seq(9), exitCode: 0, text: "")) == [])
        #expect(bench.send() == .refused(SendRefusal(.ended)))
        #expect(bench.wait().contains(.send(.outcomesRequest(bench.session, after: 0))))
        let applied = NotableOutcome(number: 1, outcome: .applied(Seq(4)))
        #expect(
            bench.reply(.outcomes(Acknowledgement(base: 0, watermark: 1, notable: [applied]))) == [
                .settled(number: 1, .applied(Seq(4))), .send(bench.goodbye),
                .loopEnded(exitCode: 0, text: ""),
            ])
    }

    /// Whoever had been told of the end, and closed the connection for it, was told of another end by the connection's own.
    @Test func `that is asked to stop while it learns what became of its outbox says that the loop has ended`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send(wantsSeq: true)
        bench.push()
        #expect(bench.publish(.ended(at: Seq(9), exitCode: 3, text: "done")) == [])
        bench.machine.stop(at: bench.now)
        _ = bench.wait()
        let applied = NotableOutcome(number: 1, outcome: .applied(Seq(4)))
        #expect(
            bench.reply(.outcomes(Acknowledgement(base: 0, watermark: 1, notable: [applied]))) == [
                .settled(number: 1, .applied(Seq(4))), .send(bench.goodbye),
                .loopEnded(exitCode: 3, text: "done"),
            ])
    }

    @Test func `stays until an observer beside it has the last state`() {
        var bench = PeerBench()
        bench.join()
        var observer = ObserverMachine(.wholeStates, at: bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        #expect(bench.publish(.ended(at: Seq(9), exitCode: 0, text: "done")) == [])
        observer.share(with: &bench.machine, at: bench.now)
        #expect(observer.takeActions() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.receivePublished(bench.frame(.update(Seq(9), state: [1])), at: bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        #expect(observer.takeActions() == [.state(Seq(9), [1])])
        #expect(observer.takeActions() == [.ended(exitCode: 0, text: "done")])
        #expect(bench.machine.deadline(with: observer) == bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        #expect(bench.machine.deadline(with: observer) > bench.now)
        #expect(
            bench.machine.takeActions() == [
                .send(bench.goodbye), .loopEnded(exitCode: 0, text: "done"),
            ])
    }

    @Test func `starts nothing more, and takes no more work`() {
        var bench = PeerBench()
        bench.join([bench.grant])
        _ = bench.send(wantsSeq: true)
        #expect(
            bench.publish(.ended(at: Seq(9), exitCode: 0, text: "")) == [
                .stop(bench.grant.effect, bench.grant.attempt)
            ])
        // An assignment that was made before the end comes late.
        #expect(bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [bench.grant]))) == [])
        let capacities = bench.wait(600).compactMap { action -> UInt32? in
            if case .send(.heartbeat(let heartbeat)) = action { heartbeat.capacity } else { nil }
        }
        #expect(capacities == [0])
    }

    /// The journal may have lost the end with the epoch in which it came.
    @Test func `goes on in a newer epoch, unless that says it again`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send(wantsSeq: true)
        _ = bench.publish(.ended(at: Seq(9), exitCode: 0, text: ""))
        bench.epoch = Epoch(number: 2, nonce: 6)
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        #expect(
            bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [bench.grant]))) == [
                .run(bench.grant)
            ])
        #expect(bench.send() == .accepted(number: 2))
        bench.push()
        _ = bench.acknowledge(0, 2)
        #expect(
            bench.publish(.ended(at: Seq(9), exitCode: 1, text: "again")) == [
                .stop(bench.grant.effect, bench.grant.attempt), .send(bench.goodbye),
                .loopEnded(exitCode: 1, text: "again"),
            ])
    }

    @Test func `gives up also where it looks for the reducer`() {
        var bench = PeerBench()
        bench.join()
        var observer = ObserverMachine(.wholeStates, at: bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        _ = bench.send()
        _ = bench.publish(.ended(at: Seq(9), exitCode: 0, text: ""))
        #expect(bench.wait(3001).contains(.send(.hello(name: "lamps", schema: 2))))
        observer.share(with: &bench.machine, at: bench.now)
        observer.advance(to: bench.now + .seconds(1))
        #expect(observer.takeActions().last == .ended(exitCode: 0, text: ""))
        observer.share(with: &bench.machine, at: bench.now)
        #expect(bench.wait(3001).last == .loopEnded(exitCode: 0, text: ""))
    }

    @Test func `whose observer knows of a newer epoch looks for the reducer in a silence`() {
        var bench = PeerBench()
        bench.join()
        var observer = ObserverMachine(.wholeStates, at: bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        _ = bench.publish(.ended(at: Seq(9), exitCode: 0, text: ""))
        bench.epoch = Epoch(number: 2, nonce: 6)
        observer.receivePublished(bench.frame(.update(Seq(7), state: [1])), at: bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        #expect(observer.takeActions() == [.state(Seq(7), [1])])
        #expect(bench.wait(3001).contains(.send(.hello(name: "lamps", schema: 2))))
        #expect(observer.takeActions() == [])
    }

    @Test func `gives up when the reducer is gone`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send()
        _ = bench.publish(.ended(at: Seq(9), exitCode: 0, text: ""))
        #expect(
            bench.wait(3001).suffix(3) == [
                .settled(number: 1, .refused(.ended)), .send(bench.goodbye),
                .loopEnded(exitCode: 0, text: ""),
            ])
    }
}
