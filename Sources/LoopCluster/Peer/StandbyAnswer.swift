import LoopCore
public import LoopWire

/// The answers of a reducer that waits for its journal. It sends peers to the leader. (Protocol, section 5.)
public enum StandbyAnswer {
    /// How long a peer waits if no leader is known.
    private static let retryAfter = Duration.milliseconds(500)

    /// The answer to a peer's request, or nil for a status request, which the shell answers.
    /// - Parameters:
    ///   - request: the peer's message.
    ///   - loop: the name of the loop.
    ///   - leader: the leader's address, or nil if it is not known.
    public static func to(_ request: ToReducer, loop: String, leader: String?) -> ToPeer? {
        switch request {
        case .hello(let name, _) where name != "" && name != loop:
            return .refused(Refused(.loop, reducer: loop, peer: name), to: .hello)
        case .statusRequest: return nil
        // A peer that has lost its leader may speak to any process that listens at its address now.
        case .hello, .join, .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .stateRequest, .goodbye,
            .administration, .transitionsRequest, .progress:
            return leader.map { .redirect($0) } ?? .noLeader(retryAfter: retryAfter)
        }
    }
}
