import LoopNode

/// How the reducer's program is called: to run, and to replay its journal at rest.
struct ReducerProgramCalls: Sendable {
    let program: String
    let folder: RunFolder
    let journal: ChaosPlan.JournalKind

    /// Its arguments to run.
    func running(at address: String) -> [String] {
        let node = [
            "ledger", "--bind", "tcp://\(address):\(ChaosPlan.port)", "--insecure", "--silence-limit",
            ChaosPlan.silenceLimit, "--sessions-max", "\(ChaosPlan.sessionsMax)",
        ]
        let keeping =
            switch journal {
            case .file: ["--journal", folder.journal, "--snapshot-every", "\(ChaosPlan.snapshotInterval)"]
            case .memory: ["--journal", "memory"]
            }
        return node + keeping + [folder.pages]
    }

    /// Replays the journal of a reducer that has ended; nil where there is none.
    func replay() async throws -> Evidence.Replay? {
        guard journal == .file else { return nil }
        let limit = Duration.seconds(60)
        let verify = try await Tool.finish([program, "ledger", "verify", folder.journal], within: limit)
        let state = try await Tool.finish([program, "ledger", "state", "--json", folder.journal], within: limit)
        return Evidence.Replay(
            verify: verify.exit, verifyText: (verify.output + verify.errors).joined(separator: "; "),
            stateJSON: state.exit.isSuccess ? state.output.joined() : (state.output + state.errors).joined())
    }
}
