import LoopCore

/// The state that an observer has handed out, compared with what is known to exist.
///
///     unknown ── a state at seq n ──▶ known at n ── what builds on it ──▶ known at m
///        ▲                                │  lacks a base: a state has to be fetched first
///        └── it proved wrong, or a new epoch, if a state is made from the one before
struct ObservedState: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// Nothing was handed out that can be built on. A state is to be fetched.
        case unknown
        /// A state was handed out.
        case known(Known)
    }

    struct Known: Equatable, Sendable {
        /// The seqs at which the state equals the one that was handed out last.
        var seqs: ClosedRange<Seq>
        /// When a newer state became known, if it has not come by itself.
        var outdatedSince: MonotonicTime?
        /// Whether a state has to be fetched before the waiting updates can be used.
        var lacksBase = false
        /// The newest hash that was handed out. It comes again with each tick.
        var hash: SeqHash?
    }

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

    /// Whether a state has to be fetched before the waiting updates can be used. False unless a state is known.
    var lacksBase: Bool {
        get { known?.lacksBase ?? false }
        set { inKnown { $0.lacksBase = newValue } }
    }

    /// Whether the newest state that is known to exist was handed out.
    var isNewest: Bool { known.map { $0.seqs.upperBound >= newest && !$0.lacksBase } ?? false }

    /// Whether the state at a seq is older than, or equal to, what was handed out.
    func isOld(_ seq: Seq) -> Bool {
        if let seqs { return seq <= seqs.upperBound }
        return floor.map { seq < $0 } ?? false
    }

    // MARK: Changes

    /// Takes note that a state at this seq exists.
    mutating func notice(_ seq: Seq, at now: MonotonicTime) {
        newest = max(newest, seq)
        let newest = newest
        inKnown { $0.outdatedSince = $0.seqs.upperBound >= newest ? nil : $0.outdatedSince ?? now }
    }

    /// Takes note that a whole state was handed out.
    mutating func begin(_ seq: Seq, at now: MonotonicTime) {
        phase = .known(Known(seqs: seq...seq))
        reach(seq...seq, at: now)
    }

    /// Takes note that the state at these seqs was made from the one before.
    mutating func reach(_ seqs: ClosedRange<Seq>, at now: MonotonicTime) {
        show(seqs.upperBound)
        newest = max(newest, seqs.upperBound)
        let outdatedSince = seqs.upperBound >= newest ? nil : now
        inKnown { ($0.seqs, $0.outdatedSince) = (seqs, outdatedSince) }
    }

    /// Takes note that the state is unchanged at all of these seqs.
    /// - Returns: whether it is the state that was handed out. Otherwise nothing changes.
    mutating func extend(by more: ClosedRange<Seq>, at now: MonotonicTime) -> Bool {
        guard let seqs, seqs.overlaps(more) else { return false }
        show(more.upperBound)
        inKnown { $0.seqs = min(seqs.lowerBound, more.lowerBound)...max(seqs.upperBound, more.upperBound) }
        notice(more.upperBound, at: now)
        return true
    }

    /// Takes note of the hash of the state at a seq.
    /// - Returns: whether to compare it: it is of the state that was handed out, and not the hash from before.
    mutating func compares(_ hash: SeqHash) -> Bool {
        guard let known, known.seqs.contains(hash.seq), known.hash != hash else { return false }
        inKnown { $0.hash = hash }
        return true
    }

    private mutating func show(_ seq: Seq) {
        let newest = max(floor ?? .initial, seq)
        (shown, floor) = (newest, newest)
    }

    /// Forgets the state, because nothing can be built on it.
    mutating func forget() { phase = .unknown }

    /// Takes note that the state proved wrong. `shown` is the seq of the newest state of this epoch that is still shown.
    mutating func diverge(shown: Seq?) {
        forget()
        (self.shown, floor) = (shown, shown)
    }

    /// Begins an epoch, whose journal may have lost the states that were handed out or announced before.
    /// - Parameter isKept: whether the state counts as one of the new epoch. That breaks a rule on purpose.
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
