import LoopCluster
import LoopCore
import LoopWire
import Testing

/// Rules that faults alone need too seldom to be seen in simulated clusters: what each is for.
@Suite struct `A rule of the protocol` {
    /// The simulator finds that every refusal of this kind is of an attempt that is void already: it follows from the
    /// claims of workers that keep the protocol. It holds against one that does not.
    @Test func `a refusal for its attempt voids it, also for a worker that claims it later`() throws {
        #expect(try attemptsHeldAfterRefusal() == [])
        #expect(try attemptsHeldAfterRefusal(breaking: [.refusalVoidsTheAttempt]) == [Attempt(epoch: 1, count: 1)])
    }

    /// A worker sends an entry of an attempt that it did not claim, and claims it after the next restart.
    private func attemptsHeldAfterRefusal(breaking rules: [Rule] = []) throws -> [Attempt] {
        var first = try ReducerBench()
        let worker = first.join(alice)
        let sender = first.join(client, capacity: 0)
        _ = try first.send(sender, from: 1, .light("a", 1))
        let effect = EffectID(feedback: 0, seq: Seq(1), index: 0)
        let attempt = Attempt(epoch: 1, count: 1)

        var second = try ReducerBench(replaying: first.records, breaking: rules)
        second.comeBack(alice, worker, claiming: [])
        _ = second.push(second.batch(worker, from: 1, [try second.event(.note, of: (effect, attempt))]))

        var third = try ReducerBench(replaying: second.records)
        let answer = third.comeBack(alice, worker, claiming: [ClaimedAttempt(effect: effect, attempt: attempt)])
        return answer.messages(to: alice).flatMap { message -> [Attempt] in
            guard case .assignments(let assignments) = message else { return [] }
            return assignments.grants.map(\.attempt)
        }
    }

    @Test func `an epoch of the same number and another nonce shows that records are missing`() throws {
        #expect(try lossShownByCopy() != nil)
        #expect(try lossShownByCopy(breaking: [.epochsHaveANonce]) == nil)
    }

    /// What a reducer on a restored copy makes of a peer that saw the epoch which the copy lacks.
    private func lossShownByCopy(breaking rules: [Rule] = []) throws -> HistoryLost? {
        var bench = try ReducerBench(breaking: rules)
        var joinRequest = ReducerBench.joinRequest(alice)
        joinRequest.history = bench.machine.history
        joinRequest.epoch = Epoch(number: 1, nonce: 99)
        _ = bench.say(.join(joinRequest), from: alice)
        return bench.lost
    }
}

@Suite struct `A peer that followed a late word into a history that is gone` {
    @Test func `finds back when a hello is answered`() {
        var bench = PeerBench()
        bench.join()
        // The join acceptance of a reducer that is gone comes late, from a connection that stood still.
        bench.history = History(0x78)
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        // The one that is there is no longer listened to, and is no sign of life.
        bench.history = History(0x77)
        _ = bench.wait(2000)
        _ = bench.tick(1)
        let hello = bench.wait(1500)
        #expect(hello.contains(.send(.hello(name: "lamps", schema: 2))))
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
        _ = bench.wait()
        _ = bench.publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [])))
        #expect(bench.machine.isJoined)
        #expect(bench.machine.history == History(0x77))
    }
}

extension ReducerBench {
    /// A peer that was here before the restart asks to join with its session.
    @discardableResult
    fileprivate mutating func comeBack(
        _ peer: PeerID, _ session: SessionID, claiming claims: [ClaimedAttempt]
    ) -> [Outbound] {
        var joinRequest = ReducerBench.joinRequest(peer)
        joinRequest.history = machine.history
        joinRequest.session = session
        _ = say(.join(joinRequest), from: peer)
        return say(.claim(session, machine.epoch, ClaimPart(claims)), from: peer)
    }
}
