import LoopCluster
import LoopKeys
import LoopWire

/// The sessions in the journal, with their peers, owners and watermarks.
struct SessionBook: Sendable {
    struct Entry: Sendable {
        let peer: PeerID
        var owner: PublicKey?
        var watermark: UInt64 = 0
        /// Whether its peer was given a newer session, which may have ended since.
        var hasSuccessor = false
    }

    private(set) var history: History
    private(set) var sessions: [SessionID: Entry] = [:]
    private(set) var byPeer: [PeerID: SessionID] = [:]
    /// The epoch in which each session was last let in. Its record may not be durable yet.
    var joined: [SessionID: Epoch] = [:]
    private var epoch = Epoch.none
    private var epochs: Set<Epoch> = []
    private var newest = SessionID.none

    init(history: History = .none) { self.history = history }

    mutating func follow(_ record: Record) {
        if let (session, number) = record.entry { sessions[session]?.watermark = number }
        switch record {
        case .epochBegun(let begun, _):
            epoch = begun
            epochs.insert(begun)
        case .sessionOpened(let session, let peer):
            newest = max(newest, session)
            if let present = byPeer[peer] { sessions[present]?.hasSuccessor = true }
            sessions[session] = Entry(peer: peer)
            byPeer[peer] = session
            joined[session] = epoch
        case .sessionOwned(let session, let owner): sessions[session]?.owner = owner
        case .sessionRetired(let session):
            guard let record = sessions.removeValue(forKey: session) else { return }
            // An earlier session of the peer may continue, and has its owner as before.
            if byPeer[record.peer] == session {
                byPeer[record.peer] = sessions.filter { $0.value.peer == record.peer }.keys.max()
            }
        case .historyBegun(let begun, _): (history, sessions, byPeer, joined) = (begun, [:], [:], [:])
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .definition, .stateHash, .stateMarked,
            .markHash,
            .quarantined, .operatorAction, .scheduled:
            break
        }
    }

    /// What a join request knows of that this journal does not have, or nil if the journal has everything.
    /// - Parameter count: how many sessions may have been opened whose records are not durable yet.
    func missing(_ joinRequest: JoinRequest, openedAtMost count: UInt64 = 0) -> String? {
        guard joinRequest.history == history else { return nil }
        if joinRequest.epoch != .none, !epochs.contains(joinRequest.epoch) { return "epoch \(joinRequest.epoch)" }
        if joinRequest.session.value > newest.value + count { return "session \(joinRequest.session)" }
        guard let record = sessions[joinRequest.session] else { return nil }
        if record.peer != joinRequest.peer { return "session \(joinRequest.session), now another's," }
        if joinRequest.watermark > record.watermark {
            return "entry \(joinRequest.watermark) of session \(joinRequest.session)"
        }
        return nil
    }
}
