import LoopCore
import LoopWire

/// The state that an observer has handed out, and how it stands to what is known to exist.
///
///     unknown ── a state at seq n ──▶ known at n ── what builds on it ──▶ known at m
///        ▲                                │  lack: what has to be fetched first
///        └── it proved wrong, or a new epoch, where a state is made of the one before
struct ObservedState: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// Nothing was handed out that can be built on: a state is to be fetched.
        case unknown
        /// A state was handed out.
        case known(Known)
    }

    struct Known: Equatable, Sendable {
        /// The state is the one that was handed out last at all of these.
        var seqs: ClosedRange<Seq>
        /// Since when a newer state is known and did not come by itself.
        var outdatedSince: MonotonicTime?
        /// What has to be fetched before what is waiting can be used.
        var lack: Lack?
        /// The newest hash that was handed out: it comes again with each tick.
        var hash: SeqHash?
    }

    enum Lack { case state, events }

    struct SeqHash: Equatable, Sendable {
        let seq: Seq
        let value: UInt64
    }

    private(set) var phase = Phase.unknown
    /// The newest seq that was handed out in this history.
    private(set) var shown: Seq?
    /// The newest seq that was handed out in this epoch. No older seq follows it. States of earlier epochs may be lost.
    private var floor: Seq?
    /// The newest seq that is known to exist.
    private(set) var newest = Seq.initial

    var known: Known? { if case .known(let known) = phase { known } else { nil } }
    var seqs: ClosedRange<Seq>? { known?.seqs }

    /// What has to be fetched before what is waiting can be used. There is something only where a state is known.
    var lack: Lack? {
        get { known?.lack }
        set { inKnown { $0.lack = newValue } }
    }

    /// Whether the newest state that is known to exist was handed out.
    var isNewest: Bool { known.map { $0.seqs.upperBound >= newest && $0.lack == nil } ?? false }

    /// Whether a state is older than what was handed out, or the same.
    func isOld(_ seq: Seq) -> Bool {
        if let seqs { return seq <= seqs.upperBound }
        return floor.map { seq < $0 } ?? false
    }

    // MARK: Changes

    /// A state at this seq exists.
    mutating func notice(_ seq: Seq, at now: MonotonicTime) {
        newest = max(newest, seq)
        let newest = newest
        inKnown { $0.outdatedSince = $0.seqs.upperBound >= newest ? nil : $0.outdatedSince ?? now }
    }

    /// A whole state was handed out.
    mutating func begin(_ seq: Seq, at now: MonotonicTime) {
        phase = .known(Known(seqs: seq...seq))
        reach(seq...seq, at: now)
    }

    /// The state at these seqs was made of the one before.
    mutating func reach(_ seqs: ClosedRange<Seq>, at now: MonotonicTime) {
        show(seqs.upperBound)
        newest = max(newest, seqs.upperBound)
        let outdatedSince = seqs.upperBound >= newest ? nil : now
        inKnown { ($0.seqs, $0.outdatedSince) = (seqs, outdatedSince) }
    }

    /// The state is the same at all of these seqs.
    /// - Returns: whether that was of use: it is the one that was handed out.
    mutating func extend(by more: ClosedRange<Seq>, at now: MonotonicTime) -> Bool {
        guard let seqs, seqs.overlaps(more) else { return false }
        show(more.upperBound)
        inKnown { $0.seqs = min(seqs.lowerBound, more.lowerBound)...max(seqs.upperBound, more.upperBound) }
        notice(more.upperBound, at: now)
        return true
    }

    /// A hash is known of the state at a seq.
    /// - Returns: whether it is one to compare: of the state that was handed out, and not the same as before.
    mutating func compares(_ hash: SeqHash) -> Bool {
        guard let known, known.seqs.contains(hash.seq), known.hash != hash else { return false }
        inKnown { $0.hash = hash }
        return true
    }

    private mutating func show(_ seq: Seq) {
        let newest = max(floor ?? .initial, seq)
        (shown, floor) = (newest, newest)
    }

    /// Nothing can be built on what was handed out.
    mutating func forget() { phase = .unknown }

    /// The state that was handed out proved wrong. `shown` is the seq of the newest state of this epoch that is still shown.
    mutating func diverge(shown: Seq?) {
        forget()
        (self.shown, floor) = (shown, shown)
    }

    /// Begins an epoch, whose journal may have lost the states that were handed out or announced before.
    /// - Parameter isKept: whether the state counts as one of the new epoch, which breaks a rule on purpose.
    mutating func beginEpoch(keepingState isKept: Bool) {
        newest = isKept ? seqs?.upperBound ?? .initial : .initial
        inKnown { $0.outdatedSince = nil }
        guard !isKept else { return }
        forget()
        floor = nil
    }

    private mutating func inKnown(_ change: (inout Known) -> Void) {
        guard case .known(var known) = phase else { return }
        change(&known)
        phase = .known(known)
    }
}
