import LoopCore
import LoopWire

/// The session that a peer was last admitted to, and what a frame from elsewhere says about it. (Protocol, sections 1 and 5.)
///
///     no session ── join acceptance ──▶ session ── in another epoch ──▶ the same session
///         ▲                               │ ▲
///         └── lost: used by another ──────┘ └── another session, or another history: the entries of the old one are lost
struct Membership: Equatable, Sendable {
    /// `.none` before the first time.
    private(set) var history = History.none
    /// `.none` before the first time.
    private(set) var epoch = Epoch.none
    /// It numbers the peer's entries. `.none`: the peer has none.
    private(set) var session = SessionID.none
    var left = LeftHistories()

    init() {}

    /// Goes on in the session of an earlier process.
    init(_ stream: PeerStream) { (history, epoch, session) = (stream.history, stream.epoch, stream.session) }

    /// Where a frame comes from.
    enum Origin: Equatable {
        /// This session, in this epoch.
        case current
        /// An earlier epoch or session: the frame is late.
        case earlier
        /// A later epoch or session, or another history. The reducer was restarted, or has opened another session: numbers of
        /// sessions only grow, so the join acceptance to that one was lost, and one to the session before came late.
        case later
    }

    func origin(of frame: PeerFrame, _ rules: BrokenRules) -> Origin {
        if isOfEarlierEpoch(frame, rules) { return .earlier }
        // An epoch of the same number and another nonce is one of a journal that has lost this one.
        let isOther = frame.epoch.number == epoch.number && frame.epoch.nonce != epoch.nonce
        if frame.history != history || frame.epoch.number > epoch.number || isOther { return .later }
        if frame.session == session || rules.contains(.framesNameTheirSession) { return .current }
        return frame.session > session ? .later : .earlier
    }

    /// Whether a frame is of this history, and of an earlier epoch.
    func isOfEarlierEpoch(_ frame: PeerFrame, _ rules: BrokenRules) -> Bool {
        frame.history == history && frame.epoch.number < epoch.number && !rules.contains(.olderEpochsAreDropped)
    }

    /// What a join acceptance means.
    enum JoinVerdict: Equatable {
        /// It is of an earlier epoch, or a late word to an earlier self.
        case late
        /// The same as before: a join request that was repeated is answered again.
        case repeats
        /// The session goes on in another epoch, or is the first.
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

    /// The peer is admitted by this frame.
    /// - Returns: whether in another epoch than before.
    mutating func admit(by frame: PeerFrame) -> Bool {
        defer { (history, epoch, session) = (frame.history, frame.epoch, frame.session) }
        return frame.epoch != epoch
    }

    /// The session is gone, with its history or by its own end.
    mutating func loseSession() { (epoch, session) = (.none, .none) }
}
