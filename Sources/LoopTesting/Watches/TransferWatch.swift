import LoopCluster
import LoopCore
import LoopWire

/// Which observers fetch a state: of these few are served at once, and no observer is sent away for transfers that are over.
struct TransferWatch {
    /// When each has asked last, of those that were not sent a last part.
    private var fetching: [Route: UInt64] = [:]

    /// Another process serves.
    mutating func begin() { fetching = [:] }

    /// A question has reached the reducer.
    mutating func note(_ message: ToReducer, from route: Route, at now: UInt64) {
        if case .stateRequest = message { fetching[route] = now }
    }

    /// An answer leaves the reducer, as of a turn.
    /// - Parameter most: how many transfers may be under way at once.
    mutating func check(
        _ frame: PeerFrame, to route: Route, at now: UInt64, most: Int, _ count: () -> Void
    ) throws(Violation) {
        switch frame.message {
        case .statePart(let part): if part.end == .state { fetching[route] = nil }
        case .busy(.state(transfer: 0), _, let reason) where reason.contains("under way"):
            count()
            // The one that is sent away has asked too.
            let others = fetching.count { $0.key != route && now < $0.value + 2_000_000_000 }
            guard others < most else { return }
            throw Violation(
                .progress, "an observer is sent away for \(most) transfers, and \(others) observers fetch a state")
        default: break
        }
    }
}
