import Foundation
import LoopNode
import LoopWire
import TestFolders
import Testing

/// The peers of Tests/IndependentPeer, which were written in Python from the protocol's specification alone.
enum IndependentPeer {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    static func start(_ arguments: [String]) throws -> Program {
        try Program("/usr/bin/python3", ["-B", tests.appending(path: "IndependentPeer").path] + arguments)
    }

    static let vectors = tests.appending(path: "LoopWireTests/Vectors/messages.txt").path

    /// The document that a program has printed last.
    static func report(_ printed: String) throws -> [String: Any] {
        let line = try #require(printed.split(separator: "\n").last)
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
}

/// The specification is enough: peers that share no code with ours take part in a loop.
@Suite(.timeLimit(.minutes(2))) struct `An independent peer` {
    @Test func `reads and writes all vectors of the specification`() async throws {
        _ = try await IndependentPeer.start(["vectors", IndependentPeer.vectors]).finished()
    }

    @Test func `finds each answer of the specification right, at real reducers`() async throws {
        let tried = try IndependentPeer.start(["answers", "--programs", Executables.folder])
        let verdicts = try await tried.finished().split(separator: "\n")
        #expect(verdicts.count == 18 && verdicts.allSatisfy { $0.contains(": right (") }, "\(verdicts)")
    }

    @Test(arguments: [false, true])
    func `G4 sends its batches twice, late and not at all, and each event is applied once`(keys: Bool) async throws {
        let ledger = try await LedgerProcess(keys: keys)
        let events = deposits(1...300)
        ledger.folder.write("events", events)
        let sender = try IndependentPeer.start(
            ["sender", "--events", "\(ledger.folder.path)/events", "--at-once", "16", "--roughness", "0.1"]
                + ledger.independentOptions(.sender))
        let report = try IndependentPeer.report(try await sender.finished())
        #expect(report["applied"] as? Int == 300)
        #expect(report["newest"] as? Int == 300)
        #expect(try #require(report["lost"] as? Int) > 0 && #require(report["doubled"] as? Int) > 0)
        let status = try await ledger.status()
        #expect(status.seq == 300)
        #expect(status.counters["duplicateEntry"] ?? 0 > 0)
        #expect(status.counters["gapInStream"] ?? 0 > 0)
        #expect(try await ledger.state().contains(#""doubles":0"#))
    }

    @Test func `asks, and is answered by the state right after each event, although batches and answers get lost`()
        async throws
    {
        let ledger = try await LedgerProcess(keys: false)
        ledger.folder.write("events", deposits(1...300))
        let sender = try IndependentPeer.start(
            ["sender", "--ask", "--events", "\(ledger.folder.path)/events", "--at-once", "16", "--roughness", "0.1"]
                + ledger.independentOptions(.sender))
        let report = try IndependentPeer.report(try await sender.finished())
        let answers = try #require(report["answers"] as? [[String: Int]])
        // No worker books: after each deposit one more is open.
        #expect(answers == (1...300).map { ["number": $0, "open": $0] })
        #expect(try #require(report["lost"] as? Int) > 0 && #require(report["doubled"] as? Int) > 0)
        #expect(try await ledger.status().seq == 300)
    }

    @Test(arguments: [false, true])
    func `G9 comes to the state and the hash that the reducer has`(keys: Bool) async throws {
        let ledger = try await LedgerProcess(keys: keys)
        let observer = try IndependentPeer.start(["observer", "--until", "200"] + ledger.independentOptions(.observer))
        ledger.folder.write("events", deposits(1...200))
        let sender = try IndependentPeer.start(
            ["sender", "--events", "\(ledger.folder.path)/events"] + ledger.independentOptions(.sender))
        _ = try await sender.finished()
        let printed = try await observer.finished()
        let report = try IndependentPeer.report(printed)
        // The hash that it compared is the reducer's word for the state.
        #expect(try #require(report["compared"] as? Int) > 0)
        #expect(report["seq"] as? Int == 200)
        let state = try await ledger.state().dropFirst(#"{"seq":200,"#.count)
        #expect(printed.hasSuffix(state))
        let current = try IndependentPeer.start(["observer", "--current"] + ledger.independentOptions(.observer))
        #expect(try await current.finished().hasSuffix(state))
    }

    @Test(arguments: [false, true])
    func `G6 runs its effects once, although the reducer is killed and started again`(keys: Bool) async throws {
        let ledger = try await LedgerProcess(keys: keys)
        let worker = try IndependentPeer.start(
            [
                "worker", "--loop", "ledger", "--schema", "1", "--feedback", "book@workers(default)", "--feedback",
                "hold@workers(holders)", "--until", "\(ledger.folder.path)/may-book",
            ] + ledger.independentOptions(.worker))
        ledger.folder.write("events", deposits(1...6))
        let sender = try IndependentPeer.start(
            ["sender", "--events", "\(ledger.folder.path)/events"] + ledger.independentOptions(.sender))
        _ = try await sender.finished()
        // Each has begun, and none is booked.
        _ = try await ledger.status { $0.seq == 12 && $0.peers.contains { $0.leases == 6 } }
        ledger.process.kill()
        _ = await ledger.process.wait()
        try await ledger.start()
        ledger.folder.write("may-book", "")
        let status = try await ledger.status { $0.seq == 18 && $0.peers.allSatisfy { $0.leases == 0 } }
        #expect(status.epoch == 2)
        worker.process.terminate()
        let report = try IndependentPeer.report(try await worker.finished())
        #expect(report["started"] as? Int == 6)
        #expect(report["finished"] as? Int == 6)
        #expect(report["admissions"] as? Int == 2)
        #expect(report["refused"] as? Int == 0)
        let state = try await ledger.state()
        for nothing in ["resumed", "doubles", "stale", "torn", "missing"] {
            #expect(state.contains("\"\(nothing)\":0"), "\(state)")
        }
        // Its goodbye has ended its session.
        #expect(try await ledger.status { $0.peers.isEmpty }.peers.isEmpty)
    }

    private func deposits(_ numbers: ClosedRange<Int>) -> String {
        numbers.map {
            #"{"deposit":{"number":\#($0),"work":{"milliseconds":0,"failures":0}}}"# + "\n"
        }.joined()
    }
}
