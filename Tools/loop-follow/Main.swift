import CBOR
import Linux
import LoopExamples
import LoopNode

/// Follows the loop `conform`, and prints each state that it is shown as a line of JSON (docs/conformance.md).
@main struct Main {
    static func main() async throws {
        let loop = try RemoteLoop(Conform.self)
        for await (seq, state) in loop.states {
            let shown = try JSONText.document(CBOR.encode(state))
            try StandardOutput.line(JSONText.object([("seq", "\(seq)"), ("state", shown)]))
        }
        await loop.close()
    }
}
