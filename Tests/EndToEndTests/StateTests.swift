import LoopNode
import Testing

@Suite(.timeLimit(.minutes(1))) struct `loopctl state` {
    @Test func `prints the newest state where the journal is in memory, and says what it cannot print`() async throws {
        let ledger = try await LedgerProcess(keys: false, journal: "memory")
        let seq = try await ledger.send(#"{"hold":{"count":0}}"#)
        #expect(try await ledger.state().hasPrefix(#"{"seq":\#(seq),"state":{"#))
        let error = await #expect(throws: (any Error).self) {
            try await Program.run(
                Executables.path("loopctl"), ["state", "--at", "0"] + ledger.options(.admin))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("keeps its journal in memory"))
    }
}
