import LoopCollections
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

/// A reducer whose journal three database servers keep, of which two must have each append.
@Suite(.timeLimit(.minutes(5))) struct `G1 G3 G4 A reducer with a quorum` {
    private let quorum: DatabaseQuorum
    private let reducer: Program
    private let sender: RemoteConnection
    private let address = freeAddress()

    /// `{"increment":{}}` in CBOR.
    private static let event: [UInt8] = [0xa1, 0x69] + Array("increment".utf8) + [0xa0]

    init() async throws {
        quorum = try await DatabaseQuorum()
        let journal = try quorum.makeDatabase().description
        _ = try await Program.run(Executables.path("loopctl"), ["journal", "init", journal])
        reducer = try Program(
            Executables.path("loop-reducer"),
            ["counter", "--bind", address.description, "--journal", journal, "--silence-limit", "1s"])
        sender = try RemoteConnection(
            loop: "counter", reducer: address, name: "sender", log: .silent)
        _ = try await status(of: address)
    }

    /// Sends events, and gives them back as tasks that end with the seqs at which they were applied.
    private func send(_ count: Int) -> [Task<Seq, any Error>] {
        (0..<count).map { _ in Task { try await sender.send(Self.event, confirmed: true).seq } }
    }

    private func seqs(_ sent: [Task<Seq, any Error>]) async throws -> Set<Seq> {
        var seqs: Set<Seq> = []
        for task in sent { seqs.insert(try await task.value) }
        #expect(seqs.count == sent.count)
        return seqs
    }

    /// Every event is counted once, the reducer has not ended, and it never says that records are missing.
    private func finish(events: Int) async throws {
        await sender.close()
        let state = try await Program.run(
            Executables.path("loopctl"), ["state", "--json", "--reducer", address.description, "--timeout", "30s"])
        #expect(state.contains("\"count\":\(events)"), "\(state)")
        #expect(!reducer.complaints.contains("missing"), "\(reducer.complaints)")
        reducer.process.terminate()
        #expect(await reducer.process.wait(within: .seconds(20)) == .exited(0))
    }

    @Test func `goes on with one standby, is not ready without any, and goes on in a new epoch`() async throws {
        let standbys = quorum.standbys
        _ = try await seqs(send(10))
        let before = try await status(of: address)
        await standbys[0].kill()
        _ = try await seqs(send(10))
        #expect(try await status(of: address).epoch == before.epoch)

        await standbys[1].kill()
        let unanswered = send(10)
        // The append is given up after 5 s, and with it the epoch.
        let report = try await status(of: address) { $0.journalFaultMilliseconds ?? 0 > 6_000 }
        #expect(!report.isReady && report.notReadyBecause?.contains("postgres://") == true, "\(report)")
        try await standbys[0].start()
        _ = try await seqs(unanswered)
        #expect(try await status(of: address) { $0.isReady }.epoch > before.epoch)
        try await finish(events: 30)
    }

    @Test func `goes on by itself at a new primary, also while the old one is back and alone`() async throws {
        var sent = send(50)
        _ = try await sent[0].value
        let dead = quorum.primary
        await dead.kill()
        sent += send(50)
        try await quorum.promote()
        _ = try await seqs(sent)

        try await quorum.join(dead)
        sent += send(50)
        let old = quorum.primary
        old.freeze()
        sent += send(50)
        try await quorum.promote()
        old.thaw()
        _ = try await seqs(sent)
        try await finish(events: 200)
    }
}
