import CBOR
import LoopCollections
import LoopCore
import LoopExamples
import LoopNode

/// An observer that follows the state of the ledger through a run, and records what it gets.
final class ChaosObserver: Sendable {
    let name: String
    private let loop: RemoteLoop<Ledger>
    private let seen = Locked(Evidence.Observed())
    private let lookAway: @Sendable () -> Void

    init(_ name: String, _ loop: RemoteLoop<Ledger>) {
        self.name = name
        self.loop = loop
        let seen = seen
        lookAway = loop.look { news in
            guard case .state(let id, let state, _) = news else { return }
            let seq = id.seq
            let json = (try? CBOR.json(CBOR.encode(state))) ?? ""
            seen.withLock { seen in
                if seq.value < seen.seq { seen.stepsBack.append("\(seq) after \(seen.seq)") }
                let digest = json.hashValue
                if let other = seen.digests.updateValue(digest, forKey: seq.value), other != digest {
                    seen.stepsBack.append("another state at \(seq) than before")
                }
                seen.seq = seq.value
                seen.stateJSON = json
            }
        }
    }

    var observed: Evidence.Observed { seen.withLock { $0 } }

    /// Waits until it gets a state.
    /// - Returns: what it got, even if that is another state after the limit.
    func wait(for stateJSON: String, within limit: Duration) async throws -> Evidence.Observed {
        let deadline = SystemClock.monotonic + limit
        while observed.stateJSON != stateJSON, SystemClock.monotonic < deadline {
            try await Task.sleep(for: .milliseconds(20))
        }
        return observed
    }

    func close() async {
        lookAway()
        await loop.close()
    }
}
