import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A peer that leaves` {
    private func leaving() -> PeerBench {
        var bench = PeerBench()
        bench.join()
        bench.machine.stop(at: bench.now)
        #expect(bench.machine.takeActions() == [.send(bench.goodbye)])
        return bench
    }

    @Test func `says goodbye until it is heard`() {
        var bench = leaving()
        #expect(bench.wait(100) == [])
        #expect(bench.wait(100) == [.send(bench.goodbye)])
        #expect(bench.wait(200) == [.send(bench.goodbye)])
        #expect(bench.send() == .refused(SendRefusal(.ended)))
        #expect(bench.tick(7, watermark: 9) == [])
        #expect(!bench.machine.isOver)
        #expect(bench.reply(.goodbyeHeard) == [.finished])
        #expect(bench.wait(5000) == [])
    }

    @Test func `hears the answer also from a reducer that was restarted since`() {
        var bench = leaving()
        bench.epoch = Epoch(number: 2, nonce: 6)
        #expect(bench.publish(.serverHeartbeat(Seq(1))) == [])
        #expect(bench.reply(.goodbyeHeard) == [.finished])
    }

    @Test func `goes without an answer after two seconds`() {
        var bench = leaving()
        var actions: [PeerAction] = []
        for _ in 0..<10 { actions += bench.wait(200) }
        #expect(actions == Array(repeating: .send(bench.goodbye), count: 9) + [.finished])
    }
}

@Suite struct `A reducer that hears a goodbye` {
    @Test func `ends the session, and says so once the journal has it`() throws {
        var bench = try ReducerBench()
        let session = bench.join(alice)
        let out = bench.say(.goodbye(session, alice, bench.machine.history), from: alice)
        #expect(bench.records.last == .sessionRetired(session))
        #expect(out.messages(to: alice) == [.goodbyeHeard])
        // The answer was lost, and the peer's connection is a new one.
        let again = bench.say(.goodbye(session, alice, bench.machine.history), from: bob)
        #expect(again.messages(to: bob) == [.goodbyeHeard])
        #expect(bench.machine.journaled.sessions[session] == nil)
    }

    @Test func `ends a session that has not been admitted since it was restarted`() throws {
        var bench = try ReducerBench()
        let session = bench.join(alice)
        var again = try ReducerBench(replaying: bench.records, at: 20_000)
        _ = again.say(.goodbye(session, alice, again.machine.history), from: alice)
        #expect(again.machine.journaled.sessions[session] == nil)
    }

    @Test func `does not end a session for another peer`() throws {
        var bench = try ReducerBench()
        let session = bench.join(alice)
        #expect(bench.say(.goodbye(session, bob, bench.machine.history), from: bob) == [])
        #expect(bench.machine.journaled.sessions[session]?.peer == alice)
    }
}
