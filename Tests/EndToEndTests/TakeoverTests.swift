import Glibc
import LoopNode
import LoopPostgres
import TestDatabase
import Testing

/// Two reducers of one loop, whose journal is in a database.
@Suite(.timeLimit(.minutes(2))) struct `A reducer that takes over` {
    private let ledger: LedgerProcess
    private let journal: String

    init() async throws {
        let url = try await TestDatabase.shared.value.makeDatabase()
        journal = url.description
        _ = try await Program.run(Executables.path("loopctl"), ["journal", "init", journal])
        ledger = try await LedgerProcess(keys: false, journal: journal)
    }

    private func worker(_ name: String) throws -> Program {
        try Program(
            Executables.path("loop-effect"),
            ["ledger", "--reducer", ledger.address.description, "--name", name])
    }

    /// A deposit, with the work that a worker does for it.
    private func deposit(_ number: Int, milliseconds: Int = 0) -> Task<UInt64, any Error> {
        Task {
            try await ledger.send(
                #"{"deposit":{"number":\#(number),"work":{"milliseconds":\#(milliseconds),"failures":0}}}"#)
        }
    }

    @Test func `continues where a killed one was, with every event applied once`() async throws {
        let workers = try [worker("w1"), worker("w2")]
        defer { for worker in workers { worker.process.kill() } }
        try await ledger.startWaiting()
        var deposits = (1...5).map { deposit($0) }
        for deposit in deposits { _ = try await deposit.value }
        let before = ledger.said.count
        // One is under way when the reducer is killed, and its effect is.
        deposits.append(deposit(6, milliseconds: 1000))
        _ = try await deposits[5].value
        deposits += (7...12).map { deposit($0) }
        ledger.formerProcess.kill()
        try await ledger.says("listening at", after: before)
        var seqs: [UInt64] = []
        for deposit in deposits { seqs.append(try await deposit.value) }
        #expect(Set(seqs).count == 12)
        _ = try await ledger.status { $0.feedbacks.allSatisfy { $0.running + $0.waiting == 0 } }

        let reducer = Executables.path("loop-reducer")
        // The numbers from 1 and the 11 behind it, each received and booked once.
        let state = try await Program.run(reducer, ["ledger", "state", journal])
        for fact in [#""received":[1,11]"#, #""booked":[1,11]"#, #""doubles":0"#, #""missing":0"#] {
            #expect(state.contains(fact), "\(state)")
        }
        _ = try await Program.run(reducer, ["ledger", "verify", journal])
        #expect(!ledger.said.contains { $0.contains("history") && $0.contains("lost") })
    }

    @Test func `has the journal at once where the other one stops in an orderly way`() async throws {
        _ = try await deposit(1).value
        try await ledger.startWaiting()
        let before = ledger.said.count
        ledger.formerProcess.terminate()
        #expect(await ledger.formerProcess.wait() == .exited(0))
        try await ledger.says("listening at", after: before)
        #expect(try await deposit(2).value > 1)
    }

    @Test func `leaves the one before it without a word, when that comes back`() async throws {
        _ = try await deposit(1).value
        // The stopped one keeps its addresses.
        try await ledger.startWaiting(at: freeAddress())
        let before = ledger.said.count
        ledger.formerProcess.send(SIGSTOP)
        try await ledger.says("recovered seq", after: before)
        ledger.formerProcess.send(SIGCONT)
        let line = try await saidLine(containing: "not ready, trying again", after: before)
        #expect(line.contains("does not know this process as the journal's holder any more"))
    }

    private func saidLine(containing text: String, after before: Int) async throws -> String {
        try await ledger.says(text, after: before)
        return ledger.said.dropFirst(before).first { $0.contains(text) } ?? ""
    }
}
