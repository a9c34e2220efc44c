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
        let session = try #require(bench.machine.journaled.sessionByPeer[alice])
        _ = bench.say(.claim(session, bench.machine.epoch, []), from: alice)
        #expect(bench.turn { $0.noticeSubscription(of: alice) } == [])
        let both = bench.turn { intake in
            intake.receive(.join(ReducerBench.joinRequest(bob)), from: ReducerBench.route(bob), by: .unknown)
            intake.noticeSubscription(of: bob)
        }
        #expect(both.messages(to: bob).count == 1)
        #expect(bench.turn { $0.noticeSubscription(of: client) } == [])
    }

    @Test func `of another loop, schema or definition is refused, naming both sides`() throws {
        var bench = try ReducerBench()
        let loop = bench.say(.hello(name: "links", schema: 1), from: alice)
        #expect(loop.messages(to: alice) == [.refused(Refused(.loop, reducer: "lamps", peer: "links"), to: .hello)])
        var joinRequest = ReducerBench.joinRequest(alice)
        joinRequest.schema = 3
        let schema = bench.say(.join(joinRequest), from: alice)
        #expect(schema.messages(to: alice) == [.refused(Refused(.schema, reducer: "2", peer: "3"), to: .join)])
        joinRequest.schema = 2
        joinRequest.fingerprint = 0xbad
        let definition = bench.say(.join(joinRequest), from: alice)
        let own = hexadecimal(DefinitionFingerprint(of: Lamps()).value)
        #expect(
            definition.messages(to: alice) == [
                .refused(Refused(.definition, reducer: own, peer: "0000000000000bad"), to: .join)
            ])
        #expect(bench.machine.counters[.joinRefused] == 3)
    }

    @Test func `that repeat their join request get one session`() throws {
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
