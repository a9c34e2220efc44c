import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A sender that goes on with an earlier process's stream` {
    private static let session = SessionID(3)

    /// What a process left that had sent four entries, and knew the outcomes of two.
    private var left: PeerStream {
        var stream = PeerStream()
        stream.history = History(0x77)
        stream.epoch = Epoch(number: 1, nonce: 5)
        stream.session = Self.session
        stream.settled = 2
        stream.offered = 4
        stream.entries = [3, 4].map { Entry(kind: .event, payload: [$0], wantsSeq: $0 == 4) }
        return stream
    }

    private func bench(_ stream: PeerStream) -> PeerBench {
        var bench = PeerBench()
        bench.machine = PeerMachine(
            configuration: PeerConfiguration(peer: alice, loop: "lamps", schema: 2, name: "sender"), resuming: stream,
            at: bench.now)
        bench.session = Self.session
        return bench
    }

    private func payloads(_ batch: Batch?) -> [[UInt8]]? { batch?.entries.map { Array($0.payload) } }

    private func acceptance(_ watermark: UInt64) -> ToPeer {
        .joinAccepted(watermark: watermark, silenceLimit: .seconds(3), tickInterval: .milliseconds(500))
    }

    /// All the way in, at a reducer that knows what is settled.
    private func join(_ bench: inout PeerBench) {
        _ = bench.reply(.introduction(PeerBench.introduction))
        _ = bench.publish(acceptance(2))
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 2, grants: [])))
    }

    @Test func `asks to join as the same peer in the same session, and claims nothing`() {
        var bench = bench(left)
        _ = bench.reply(.introduction(PeerBench.introduction))
        #expect(
            bench.wait() == [
                .send(
                    .join(
                        JoinRequest(
                            peer: alice, session: Self.session, history: bench.history, epoch: bench.epoch,
                            watermark: 2, schema: 2, fingerprint: 0, capacity: 0, groups: [], name: "sender")))
            ])
        _ = bench.publish(acceptance(2))
        #expect(bench.wait() == [.send(.claim(Self.session, bench.epoch, []))])
    }

    @Test func `sends what is not settled under its old numbers, and new entries after it`() {
        var bench = bench(left)
        #expect(bench.send([5]) == .accepted(number: 5))
        join(&bench)
        let batch = bench.machine.nextBatch()
        #expect(batch?.first == 3)
        #expect(batch?.session == Self.session)
        #expect(payloads(batch) == [[3], [4], [5]])
    }

    @Test func `asks for the outcomes of what was consumed before it died`() {
        var bench = bench(left)
        _ = bench.reply(.introduction(PeerBench.introduction))
        _ = bench.publish(acceptance(4))
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 4, grants: [])))
        #expect(bench.wait().contains(.send(.outcomesRequest(Self.session, after: 2))))
        let seq = NotableOutcome(number: 4, outcome: .applied(Seq(9)))
        #expect(
            bench.reply(.outcomes(Acknowledgement(base: 2, watermark: 4, notable: [seq]))) == [
                .settled(number: 4, .applied(Seq(9)))
            ])
        #expect(bench.machine.settledNumber == 4)
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test func `tells the reducer of no outcome that is not on disk, for it forgets those`() {
        var bench = bench(left)
        join(&bench)
        _ = bench.machine.nextBatch()
        _ = bench.acknowledge(2, 4)
        func told(_ actions: [PeerAction]) -> [UInt64] {
            actions.compactMap {
                if case .send(.heartbeat(let heartbeat)) = $0 { heartbeat.settled } else { nil }
            }
        }
        #expect(told(bench.wait(500)) == [2])
        #expect(bench.send() == .accepted(number: 5))
        #expect(bench.machine.nextBatch()?.settled == 2)
        _ = bench.tick(0, watermark: 5)
        #expect(bench.wait(300).contains(.send(.outcomesRequest(Self.session, after: 2))))
        bench.machine.kept(settled: 4)
        #expect(told(bench.wait(500)) == [4])
    }

    @Test func `in another history: what may have left is refused, what never left begins the new stream`() {
        var bench = bench(left)
        #expect(bench.send([5], wantsSeq: true) == .accepted(number: 5))
        bench.history = History(0x88)
        bench.session = SessionID(1)
        _ = bench.reply(.introduction(PeerBench.introduction))
        #expect(
            bench.publish(acceptance(0)) == [
                .settled(number: 3, .refused(.historyChanged)), .settled(number: 4, .refused(.historyChanged)),
            ])
        _ = bench.reply(.assignments(Assignments(number: 0, watermark: 0, grants: [])))
        let batch = bench.machine.nextBatch()
        #expect(batch?.first == 1)
        #expect(payloads(batch) == [[5]])
        #expect(
            bench.acknowledge(0, 1, NotableOutcome(number: 1, outcome: .applied(Seq(1)))) == [
                .settled(number: 5, .applied(Seq(1)))
            ])
        #expect(bench.send() == .accepted(number: 6))
    }

    @Test func `has nothing left to keep once it may go`() {
        var bench = bench(left)
        join(&bench)
        _ = bench.machine.nextBatch()
        bench.machine.stop(at: bench.now)
        #expect(bench.machine.stream(after: 4).session == Self.session)
        var gone = PeerStream()
        gone.base = 4
        // From here on the goodbye may be read at any time: a process that went on in the session would lose it.
        #expect(bench.acknowledge(2, 4).contains(.send(bench.goodbye)))
        #expect(bench.machine.stream(after: 4) == gone)
        #expect(bench.reply(.goodbyeHeard) == [.finished])
        #expect(bench.machine.stream(after: 4) == gone)
    }
}

@Suite struct `What is kept of a sender's stream` {
    private func bench() -> PeerBench {
        var bench = PeerBench()
        bench.machine = PeerMachine(
            configuration: PeerConfiguration(peer: alice, loop: "lamps"), resuming: PeerStream(), at: bench.now)
        return bench
    }

    @Test func `is every entry that is not settled, and whether it may have left`() {
        var bench = bench()
        for number in 1...3 { #expect(bench.send([UInt8(number)]) == .accepted(number: UInt64(number))) }
        var stream = bench.machine.stream(after: 0)
        #expect(stream.entries.map { Array($0.payload) } == [[1], [2], [3]])
        #expect(stream.session == .none)
        #expect(stream.offered == 0)
        bench.join()
        // Before a batch is made, so that it can be written to a file before it is pushed.
        stream = bench.machine.stream(after: 2)
        #expect(stream.entries.map { Array($0.payload) } == [[3]])
        #expect(stream.session == bench.session)
        #expect(stream.offered == 3)
        _ = bench.machine.nextBatch()
        _ = bench.acknowledge(0, 2)
        stream = bench.machine.stream(after: 0)
        #expect(stream.settled == 2)
        #expect(stream.entries.count == 1)
    }

    @Test func `gives a stream that goes on wherever it is read back`() {
        var bench = bench()
        bench.join()
        for number in 1...5 { _ = bench.send([UInt8(number)]) }
        _ = bench.machine.nextBatch()
        _ = bench.acknowledge(0, 3)
        let stream = bench.machine.stream(after: 0)
        let again = PeerMachine(
            configuration: PeerConfiguration(peer: alice, loop: "lamps"), resuming: stream, at: bench.now)
        #expect(again.stream(after: 0) == stream)
        #expect(again.lastNumber == 5)
        #expect(again.settledNumber == 3)
    }
}

@Suite struct `G3 G4 A sender with a stream on disk` {
    @Test func `has what it kept applied once, wherever it, its reducer and their words are lost`() throws {
        var (deaths, applied, lost, histories) = (0, 0, 0, 0)
        for seed in 1...20 as ClosedRange<UInt64> {
            var world = try SenderWorld(seed: seed)
            do {
                try world.run(steps: 600)
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
            deaths += world.deaths
            applied += world.appliedCount
            lost += world.lostCount
            histories += world.histories - 1
        }
        // All of it has happened, or nothing was shown.
        #expect(deaths > 40 && applied > 2000 && lost > 20 && histories > 10)
    }
}
