import LoopCluster
import LoopWire

/// Knows which observers fetch a state. Few are served at once. No observer may be sent away because of transfers that are over.
struct TransferWatch {
    /// When each observer without a last part last sent a request, or got an answer. A slow reducer answers later.
    private var fetching: [Route: UInt64] = [:]

    /// Another process begins to serve.
    mutating func begin() { fetching = [:] }

    /// A request has reached the reducer.
    mutating func note(_ message: ToReducer, from route: Route, at now: UInt64) {
        if case .stateRequest = message { fetching[route] = now }
    }

    /// An answer leaves the reducer, as of a turn.
    /// - Parameter most: how many transfers may be under way at once.
    mutating func check(
        _ frame: PeerFrame, to route: Route, at now: UInt64, most: Int, _ count: () -> Void
    ) throws(Violation) {
        switch frame.message {
        case .statePart(let part): fetching[route] = part.end == .state ? nil : now
        case .busy(.state(transfer: 0), _, let reason) where reason.contains("under way"):
            count()
            // The observer that is sent away has sent a request too.
            let others = fetching.count { $0.key != route && now < $0.value + 2_000_000_000 }
            guard others < most else { return }
            throw Violation(
                .progress, "an observer is sent away for \(most) transfers, and \(others) observers fetch a state")
        default: break
        }
    }
}
