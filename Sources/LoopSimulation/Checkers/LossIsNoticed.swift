import LoopCluster
import LoopWire

/// G3 across restarts of the reducer: a history whose journal lacks what a join request knows admits no peer. A peer knows only
/// what was durable. So records are missing, and the reducer must stop or begin another history.
struct LossIsNoticed: Checker {
    static let promise = Promise.nothingLost
    private(set) var checkCount = 0
    private var history = History.none
    private var epochs: Set<Epoch> = []
    private var newestSession = SessionID.none
    private var owners: [SessionID: PeerID] = [:]
    private var watermarks: [SessionID: UInt64] = [:]
    /// What is missing, by the peer that has shown it.
    private var shown: [PeerID: String] = [:]

    init(checkCount: Int = 0) { self.checkCount = checkCount }

    mutating func begin(_ history: History) {
        self = LossIsNoticed(checkCount: checkCount)
        self.history = history
    }

    /// A join request reaches the reducer.
    mutating func note(_ joinRequest: JoinRequest) {
        guard joinRequest.history == history else { return }
        if let missing = missing(joinRequest) { shown[joinRequest.peer] = missing }
    }

    /// A frame leaves the reducer.
    mutating func check(_ message: Outbound) throws(Violation) {
        guard case .inbox(let peer, let frame) = message, case .joinAccepted = frame.message, frame.history == history
        else { return }
        checkCount += 1
        if let missing = shown[peer] {
            throw Violation(
                .nothingLost, "a peer that knows of \(missing), which the journal does not have, is welcomed in")
        }
    }

    mutating func follow(_ record: Record) {
        if let (session, number) = record.entry { watermarks[session] = number }
        switch record {
        case .epochBegun(let epoch, _):
            epochs.insert(epoch)
            // The peers must show it again to a new process.
            shown = [:]
        case .sessionOpened(let session, let peer):
            newestSession = max(newestSession, session)
            owners[session] = peer
            watermarks[session] = 0
        case .sessionRetired(let session): owners[session] = nil
        case .historyBegun(let begun, _):
            history = begun
            owners = [:]
            shown = [:]
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOwned, .definition, .stateHash,
            .stateMarked, .markHash,
            .quarantined, .operatorAction, .scheduled:
            break
        }
    }

    private func missing(_ joinRequest: JoinRequest) -> String? {
        if joinRequest.epoch != .none, !epochs.contains(joinRequest.epoch) { return "epoch \(joinRequest.epoch)" }
        if joinRequest.session > newestSession { return "session \(joinRequest.session)" }
        guard let owner = owners[joinRequest.session] else { return nil }
        if owner != joinRequest.peer { return "session \(joinRequest.session), now another's," }
        if joinRequest.watermark > watermarks[joinRequest.session] ?? 0 {
            return "entry \(joinRequest.watermark) of session \(joinRequest.session)"
        }
        return nil
    }
}
