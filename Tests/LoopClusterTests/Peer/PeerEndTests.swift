import LoopCluster
import LoopCore
import LoopWire
import Testing

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

    /// An owner that had been told of the end, and closed the connection for it, was told of another end when that closed.
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
        #expect(observer.takeRest() == [.send(.stateRequest(transfer: 0, part: 0))])
        observer.receivePublished(bench.frame(.update(Seq(9), state: [1])), at: bench.now)
        observer.share(with: &bench.machine, at: bench.now)
        #expect(observer.takeRest() == [.state(Seq(9), [1])])
        #expect(observer.takeRest() == [.ended(exitCode: 0, text: "done")])
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

    /// As after a freeze: the newest tick is old, and the end comes all the same.
    @Test func `still offers what it has to a reducer that repeats the end`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.send(wantsSeq: true)
        bench.time += 5000
        for _ in 1...2 {
            #expect(bench.publish(.ended(at: Seq(9), exitCode: 0, text: "")) == [])
            #expect(!bench.wait(500).contains { if case .settled = $0 { true } else { false } })
        }
        bench.push()
        #expect(
            bench.acknowledge(0, 1, NotableOutcome(number: 1, outcome: .refused(.ended))) == [
                .settled(number: 1, .refused(.ended)), .send(bench.goodbye), .loopEnded(exitCode: 0, text: ""),
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
        #expect(observer.takeRest().last == .ended(exitCode: 0, text: ""))
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
        #expect(observer.takeRest() == [.state(Seq(7), [1])])
        #expect(bench.wait(3001).contains(.send(.hello(name: "lamps", schema: 2))))
        #expect(observer.takeRest() == [])
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
