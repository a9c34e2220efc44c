import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `What is too large for one message` {
    private func attempts(_ count: Int) -> [ClaimedAttempt] {
        (0..<count).map {
            ClaimedAttempt(
                effect: EffectID(feedback: 0, seq: Seq(UInt64($0) + 1), index: 0),
                attempt: Attempt(epoch: 1, count: UInt64($0) + 1))
        }
    }

    @Test func `of a claim goes in parts, each of which fits`() throws {
        let claim = attempts(100_000)
        let parts = ClaimPart.parts(of: claim, number: 3, bytesMax: Wire.messageBytesMax / 2)
        #expect(parts.count == 7)
        #expect(parts.flatMap(\.attempts) == claim)
        for part in parts {
            let message = ToReducer.claim(SessionID(1), Epoch(number: 1, nonce: 1), part)
            let bytes = message.bytes(loop: LoopID(name: "lamps"))
            #expect(bytes.count <= Wire.messageBytesMax)
            #expect(try ToReducer(bytes: bytes[...], loop: LoopID(name: "lamps")) == message)
        }
        #expect(parts.map(\.isLast) == [false, false, false, false, false, false, true])
    }

    @Test func `of a claim counts once all of it has come, and not together with another claim`() throws {
        var first = try ReducerBench()
        first.join(alice, capacity: 9)
        let sender = first.join(client, capacity: 0)
        let grants = try ["a", "b", "c"].enumerated().flatMap { index, name in
            try first.send(sender, from: UInt64(index) + 1, .light(name, 1)).grants
        }
        #expect(grants.count == 3)
        let claim = grants.map { ClaimedAttempt(effect: $0.effect, attempt: $0.attempt) }
        var bench = try ReducerBench(replaying: first.records, at: 20_000)
        let session = bench.requestJoin(alice, capacity: 9)
        let epoch = bench.machine.epoch
        func parts(_ number: UInt64) -> [ToReducer] {
            ClaimPart.parts(of: claim, number: number, bytesMax: 32).map { .claim(session, epoch, $0) }
        }
        #expect(parts(1).count == 3)
        // The second part is lost with a connection.
        #expect(bench.say(parts(1)[0], from: alice) == [])
        #expect(bench.say(parts(1)[2], from: alice) == [])
        #expect(bench.say(parts(2)[0], from: alice) == [])
        // Late parts of the claim before.
        #expect(bench.say(parts(1)[1], from: alice) == [])
        #expect(bench.say(parts(1)[2], from: alice) == [])
        #expect(bench.say(parts(2)[1], from: alice) == [])
        let out = bench.say(parts(2)[2], from: alice).messages(to: alice)
        guard case .assignments(let assigned)? = out.first else {
            Issue.record("no assignment: \(out)")
            return
        }
        #expect(assigned.grants.map(\.attempt) == grants.map(\.attempt))
        // Each whole claim is answered, in case the answer was lost.
        for part in parts(3).dropLast() { #expect(bench.say(part, from: alice) == []) }
        #expect(bench.say(parts(3)[2], from: alice).messages(to: alice) == out)
    }

    @Test func `of outcomes goes in parts that follow each other`() throws {
        var configuration = ReducerConfiguration()
        configuration.payloadBytesMax = 40
        var bench = try ReducerBench(configuration: configuration)
        let sender = bench.join(client, capacity: 0)
        let garbage = Entry(kind: .event, payload: [0xff])
        let entries = [garbage, garbage, try bench.event(.note), garbage, try bench.event(.note), garbage, garbage]
        let out = bench.push(bench.batch(sender, from: 1, entries)).messages(to: client)
        let parts = [
            Acknowledgement(base: 0, watermark: 2, notable: [refused(1, .undecodable), refused(2, .undecodable)]),
            Acknowledgement(base: 2, watermark: 6, notable: [refused(4, .undecodable), refused(6, .undecodable)]),
            Acknowledgement(base: 6, watermark: 7, notable: [refused(7, .undecodable)]),
        ]
        #expect(
            out.filter { if case .acknowledgement = $0 { true } else { false } } == parts.map { .acknowledgement($0) })
        let answer = bench.say(.outcomesRequest(sender, after: 0), from: client).messages(to: client)
        #expect(
            answer == [
                details(of: 1, 2), .outcomes(parts[0]), details(of: 4, 6), .outcomes(parts[1]), details(of: 7),
                .outcomes(parts[2]),
            ])
    }

    @Test func `of a status report is left out, and counted`() throws {
        var configuration = ReducerConfiguration()
        configuration.payloadBytesMax = 3000
        var bench = try ReducerBench(configuration: configuration)
        for number in 1...40 { bench.join(PeerID(high: 9, low: UInt64(number)), capacity: 0) }
        let out = bench.say(.statusRequest, from: client).messages(to: client)
        guard case .status(let document)? = out.first else {
            Issue.record("no status: \(out)")
            return
        }
        #expect(document.count <= 3000)
        let report = try CBORCoder().decode(StatusReport.self, from: document)
        #expect(!report.peers.isEmpty)
        #expect(report.peers.count + (report.peersLeftOut ?? 0) == 40)
        #expect(bench.machine.status().peersLeftOut == nil)
    }

    @Test func `of groups lets a report name fewer peers, and one report answers all who ask in a turn`() throws {
        var bench = try ReducerBench()
        let groups = (100..<164).map { "group \($0) " + String(repeating: "é", count: 50) }
        for number in 1...60 {
            let peer = PeerID(high: 9, low: UInt64(number))
            var join = ReducerBench.joinRequest(peer)
            join.groups = groups
            _ = bench.say(.join(join), from: peer)
        }
        let askers = [alice, client]
        let out = bench.turn { intake in
            for peer in askers { intake.receive(.statusRequest, from: ReducerBench.route(peer), by: .unknown) }
        }
        let documents = askers.flatMap { out.messages(to: $0) }.compactMap { message -> [UInt8]? in
            guard case .status(let document) = message else { return nil }
            return document
        }
        #expect(documents.count == 2 && documents[0] == documents[1])
        let report = try CBORCoder().decode(StatusReport.self, from: try #require(documents.first))
        #expect(report.peers.first?.groups.count == groups.count)
        #expect(report.peers.count == 36)
        #expect(report.peersLeftOut == 24)
    }
}
