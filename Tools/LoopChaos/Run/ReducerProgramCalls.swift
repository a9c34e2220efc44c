import LoopNode

/// The command lines of the reducer's program: to run, and to replay its journal at rest.
struct ReducerProgramCalls: Sendable {
    let program: String
    let folder: RunFolder
    let journal: ChaosPlan.JournalKind
    let sessionsMax: Int
    /// The journal's URL on the database's own host, if the journal is in a database.
    var url: String?

    /// The arguments to run it.
    /// - Parameter ownURL: the journal's URL for this reducer, if the journal is in a database.
    func running(at address: String, journal ownURL: String? = nil) -> [String] {
        let node = [
            "ledger", "--bind", "tcp://\(address):\(ChaosPlan.port)", "--insecure", "--silence-limit",
            ChaosPlan.silenceLimit, "--sessions-max", "\(sessionsMax)",
        ]
        let keeping =
            switch journal {
            case .file: ["--journal", folder.journal, "--snapshot-every", "\(ChaosPlan.snapshotInterval)"]
            case .memory: ["--journal", "memory"]
            case .postgres:
                [
                    "--journal", ownURL ?? "", "--standby", "--snapshot-every", "\(ChaosPlan.snapshotInterval)",
                ]
            }
        return node + keeping + [folder.pages]
    }

    /// Replays the journal of a reducer that has ended, or returns nil if there is none.
    func replay() async throws -> Evidence.Replay? {
        let place: String
        switch journal {
        case .file: place = folder.journal
        case .memory: return nil
        case .postgres: place = url ?? ""
        }
        let limit = Duration.seconds(60)
        let verify = try await Tool.finish([program, "ledger", "verify", place], within: limit)
        let state = try await Tool.finish([program, "ledger", "state", "--json", place], within: limit)
        return Evidence.Replay(
            verify: verify.exit, verifyText: (verify.output + verify.errors).joined(separator: "; "),
            stateJSON: state.exit.isSuccess ? state.output.joined() : (state.output + state.errors).joined())
    }
}
