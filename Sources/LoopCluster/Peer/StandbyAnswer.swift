import LoopCore
public import LoopWire

/// What a reducer that waits for its journal says to peers: it sends them to the leader. (Protocol, section 5.)
public enum StandbyAnswer {
    /// When a peer is to come again that was told of no leader.
    private static let retryAfter = Duration.milliseconds(500)

    /// The answer to a peer's request; nil: the request is for the status, which the shell reports.
    /// - Parameters:
    ///   - request: what the peer has said.
    ///   - loop: the name of the loop.
    ///   - leader: where the leader is; nil: that is not known.
    public static func to(_ request: ToReducer, loop: String, leader: String?) -> ToPeer? {
        switch request {
        case .hello(let name, _) where name != "" && name != loop:
            return .refused(Refused(.loop, reducer: loop, peer: name), to: .hello)
        case .statusRequest: return nil
        // A peer that has lost its leader may speak to whoever listens at its address now.
        case .hello, .join, .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .stateRequest, .goodbye,
            .administration, .transitionsRequest, .progress:
            return leader.map { .redirect($0) } ?? .noLeader(retryAfter: retryAfter)
        }
    }
}
