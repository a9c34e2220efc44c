import LoopCluster
import LoopCore
import LoopWire
import Testing

/// A session's numbers were used elsewhere: by a copy of its outbox file, or by a forger.
@Suite struct `A peer whose session is used elsewhere` {
    enum Word: CaseIterable { case joinAccepted, tick, acknowledgement, outcomes }

    @Test(arguments: Word.allCases)
    func `leaves it as soon as it hears of a number that it never sent`(word: Word) throws {
        var bench = PeerBench()
        bench.join([bench.grant])
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.machine.nextBatch()?.entries.count == 1)
        #expect(bench.send() == .accepted(number: 2))
        if word == .joinAccepted {
            // After a restart of the reducer it is admitted again.
            bench.epoch = Epoch(number: 2, nonce: 6)
            _ = bench.tick(1)
        }
        // The second entry has not left: it is not what was consumed as the second.
        let actions =
            switch word {
            case .joinAccepted:
                bench.publish(.joinAccepted(watermark: 2, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
            case .tick: bench.tick(1, watermark: 2, received: 2)
            case .acknowledgement: bench.acknowledge(0, 2)
            case .outcomes: bench.reply(.outcomes(Acknowledgement(base: 0, watermark: 2, notable: [])))
            }
        #expect(
            actions == [
                .settled(number: 1, .refused(.historyChanged)), .settled(number: 2, .refused(.historyChanged)),
                .stop(bench.grant.effect, bench.grant.attempt),
            ])
        #expect(bench.machine.outbox.isEmpty)
        #expect(bench.machine.session == .none)
        #expect(bench.machine.configuration.peer != alice)

        // It joins again, as a peer that the reducer does not know.
        let peer = bench.machine.configuration.peer
        #expect(bench.wait() == [.send(.hello(name: "lamps", schema: 2))])
        #expect(bench.reply(.introduction(PeerBench.introduction)) == [.connect(PeerBench.introduction)])
        let joinRequests = bench.wait().compactMap {
            if case .send(.join(let joinRequest)) = $0 { joinRequest } else { nil }
        }
        #expect(joinRequests.map(\.peer) == [peer])
        #expect(joinRequests.map(\.session) == [.none])
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.machine.nextBatch() == nil)
    }

    @Test func `leaves it again when a late join acceptance leads it back`() {
        var bench = PeerBench()
        bench.join()
        _ = bench.tick(1, watermark: 1, received: 1)
        let peer = bench.machine.configuration.peer
        _ = bench.publish(.joinAccepted(watermark: 1, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        #expect(bench.machine.session == .none)
        #expect(bench.machine.configuration.peer != peer)
        #expect(bench.wait() == [.send(.hello(name: "lamps", schema: 2))])
    }

    /// An older copy of an outbox file was put back: what its session has sent since then is not in it.
    @Test func `goes on in another session with the events of a restored outbox that never left`() throws {
        var stream = PeerStream()
        (stream.history, stream.epoch, stream.session) = (History(0x77), Epoch(number: 1, nonce: 5), SessionID(3))
        (stream.settled, stream.offered) = (4, 5)
        stream.entries = [Entry(kind: .event, payload: [5]), Entry(kind: .event, payload: [6])]
        var bench = PeerBench()
        bench.machine = PeerMachine(configuration: bench.machine.configuration, resuming: stream, at: bench.now)
        _ = bench.reply(.introduction(PeerBench.introduction))
        let acceptance = bench.publish(
            .joinAccepted(watermark: 9, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        #expect(acceptance == [.settled(number: 5, .refused(.historyChanged))])
        bench.session = SessionID(8)
        bench.join()
        let pushed = bench.machine.nextBatch()
        let batch = try #require(pushed)
        #expect(batch.session == SessionID(8))
        #expect(batch.first == 1)
        #expect(batch.entries.map { Array($0.payload) } == [[6]])
    }

    /// A forged batch had the next number of a worker's session. The end of its effect came under that number, was dropped as a
    /// duplicate, and was taken for applied: the effect was not run again.
    @Test func `blocks no effect`() throws {
        var bench = try ReducerBench()
        let worker = bench.join(alice)
        let sender = bench.join(client, capacity: 0)
        let grant = try #require(try bench.send(sender, from: 1, .light("hall", 1)).grants.first)
        // The worker hears of this, and comes back as another peer.
        _ = try bench.send(worker, from: 1, .note)
        let again = bench.join(bob)
        var granted: [Grant] = []
        for _ in 0..<8 { granted += bench.say(bench.heartbeat(again), from: bob, after: 500).grants }
        #expect(granted.map(\.effect) == [grant.effect])
    }
}

@Suite struct `A peer whose reducer has ended its loop and is gone` {
    @Test func `says that events were refused only where they never left`() {
        var bench = PeerBench()
        bench.join()
        #expect(bench.send() == .accepted(number: 1))
        #expect(bench.machine.nextBatch()?.entries.count == 1)
        #expect(bench.send() == .accepted(number: 2))
        _ = bench.publish(.ended(at: Seq(1), exitCode: 0, text: "done"))
        var actions: [PeerAction] = []
        for _ in 0..<4 { actions += bench.wait(1000) }
        let told = actions.filter { if case .settled = $0 { true } else { false } }
        #expect(
            told == [.settled(number: 1, .refused(.historyChanged)), .settled(number: 2, .refused(.ended))])
        #expect(bench.machine.isOver)
    }
}
