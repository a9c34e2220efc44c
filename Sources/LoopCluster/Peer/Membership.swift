package import LoopWire

/// The session to which a peer was last admitted, and the verdict on frames by it. (Protocol, sections 1 and 5.)
///
///     no session ── join acceptance ──▶ session ── in another epoch ──▶ the same session
///         ▲                               │ ▲
///         └── lost: used by another ──────┘ └── another session, or another history: the entries of the old one are lost
struct Membership: Equatable, Sendable {
    /// The history of the session, or `.none` before the first admission.
    private(set) var history = History.none
    /// The epoch of the newest admission to this session, or `.none` without a session.
    private(set) var epoch = Epoch.none
    /// The session that numbers the peer's entries, or `.none` if the peer has none.
    private(set) var session = SessionID.none
    var left = LeftHistories()

    init() {}

    /// Continues the session of an earlier process.
    init(_ stream: PeerStream) { (history, epoch, session) = (stream.history, stream.epoch, stream.session) }

    /// The origin of a frame, compared with this session.
    enum Origin: Equatable {
        /// This session, in this epoch.
        case current
        /// An earlier epoch or session. The frame is late.
        case earlier
        /// A later epoch or session, or another history. The reducer was restarted, or has opened another session. Session
        /// numbers only grow, so that session's join acceptance was lost, and one of the session before came late.
        case later
    }

    func origin(of frame: PeerFrame, _ rules: BrokenRules) -> Origin {
        if isOfEarlierEpoch(frame, rules) { return .earlier }
        // An epoch of this number with another nonce belongs to a journal that has lost this epoch.
        let isOther = frame.epoch.number == epoch.number && frame.epoch.nonce != epoch.nonce
        if frame.history != history || frame.epoch.number > epoch.number || isOther { return .later }
        if frame.session == session || rules.contains(.framesNameTheirSession) { return .current }
        return frame.session > session ? .later : .earlier
    }

    /// Whether a frame is of this history, and of an earlier epoch.
    func isOfEarlierEpoch(_ frame: PeerFrame, _ rules: BrokenRules) -> Bool {
        frame.history == history && frame.epoch.number < epoch.number && !rules.contains(.olderEpochsAreDropped)
    }

    /// The meaning of a join acceptance.
    enum JoinVerdict: Equatable {
        /// It is of an earlier epoch, or a late answer to an earlier join request.
        case late
        /// It equals the one before: a repeated join request was answered again.
        case repeats
        /// The session continues in another epoch, or is the first.
        case continues
        /// The session that the peer had is gone.
        case replaces
    }

    func verdict(on joinAccepted: PeerFrame, _ rules: BrokenRules) -> JoinVerdict {
        if isOfEarlierEpoch(joinAccepted, rules) { return .late }
        let isSameSession = joinAccepted.history == history && joinAccepted.session == session
        if isSameSession, joinAccepted.epoch == epoch { return .repeats }
        if isSameSession || session == .none { return .continues }
        return joinAccepted.history == history && joinAccepted.session < session ? .late : .replaces
    }

    /// Takes note that this frame admits the peer.
    /// - Returns: whether the epoch is another one than before.
    mutating func admit(by frame: PeerFrame) -> Bool {
        defer { (history, epoch, session) = (frame.history, frame.epoch, frame.session) }
        return frame.epoch != epoch
    }

    /// Forgets the session, which is gone with its history or by its own end.
    mutating func loseSession() { (epoch, session) = (.none, .none) }
}

/// The histories that a peer or an observer has left. Their late frames are dropped.
package struct LeftHistories: Equatable, Sendable {
    /// The histories, the newest last.
    private var histories: [History] = []

    private static var countMax: Int { 16 }

    package init() {}

    package func contains(_ history: History) -> Bool { histories.contains(history) }

    /// Adds a history. The oldest one is forgotten if there are too many.
    package mutating func insert(_ history: History) {
        guard history != .none, !histories.contains(history) else { return }
        histories = histories.suffix(Self.countMax - 1) + [history]
    }

    package mutating func remove(_ history: History) { histories.removeAll { $0 == history } }
}
