import CBOR
import Linux
import LoopCore
import LoopExamples
import LoopNode

/// Follows the loop `conform`, or the section `done` of its state, and prints each state that it is shown as a line of JSON
/// (docs/conformance.md). Whole states come, or deltas if `LOOP_DELTAS` is 1.
@main struct Main {
    static func main() async throws {
        let variables = ProcessEnvironment.current
        let updates: StateUpdates = variables["LOOP_DELTAS"] == "1" ? .delta : .full
        if let name = variables["LOOP_SECTION"] {
            try await show(RemoteSection(of: Conform.self, name, as: [Int: String].self, updates: updates).states)
        } else {
            let loop = try RemoteLoop(Conform.self, updates: updates)
            try await show(loop.states)
            await loop.close()
        }
    }

    private static func show(_ states: AsyncStream<(seq: Seq, state: some Encodable)>) async throws {
        for await (seq, state) in states {
            let shown = try JSONText.document(CBOR.encode(state))
            try StandardOutput.line(JSONText.object([("seq", "\(seq)"), ("state", shown)]))
        }
    }
}
