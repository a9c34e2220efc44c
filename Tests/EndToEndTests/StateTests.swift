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

    @Test func `waits until the state is at a seq, and says where it is if that does not come`() async throws {
        let ledger = try await LedgerProcess(keys: false)
        let options = ledger.options(.admin)
        async let later = Program.run(
            Executables.path("loopctl"), ["state", "--json", "--at-least", "2"] + options)
        for _ in 0..<2 { _ = try await ledger.send(#"{"hold":{"count":0}}"#) }
        #expect(try await later.hasPrefix(#"{"seq":2,"#))
        let error = await #expect(throws: (any Error).self) {
            try await Program.run(
                Executables.path("loopctl"), ["state", "--at-least", "9", "--timeout", "5s"] + options)
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("has not come to seq 9 within 5.0 seconds") && text.contains(" at 2"), "\(text)")
    }
}

@Suite(.timeLimit(.minutes(1))) struct `loopctl send --answer` {
    @Test func `prints the answer as JSON, and says which event was applied and has none`() async throws {
        let ledger = try await LedgerProcess(keys: false)
        func ask(_ event: String) async throws -> String {
            try await Program.run(Executables.path("loopctl"), ["send", "--answer", event] + ledger.options(.sender))
        }
        let answer = try await ask(#"{"deposit":{"number":7,"work":{"milliseconds":0,"failures":0}}}"#)
        #expect(answer == #"{"open":1,"number":7}"#)
        let error = await #expect(throws: (any Error).self) { try await ask(#"{"hold":{"count":0}}"#) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("applied at seq 2, and has no answer"))
    }
}
