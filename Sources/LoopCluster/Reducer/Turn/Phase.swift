import LoopCore
import LoopWire

/// Where a reducer's machine stands in its life. Replaying comes before, and is a type of its own: `Recovery`.
///
///     grace ──▶ serving ──▶ ended        grace, serving or ended ── loss ──▶ lost ── a new history ──▶ serving or ended
///       └────────────────────▲
enum Phase: Equatable, Sendable {
    /// Effects of an earlier epoch wait for the workers that run them. It leads to serving with the last of them.
    case grace(Grace)
    /// Every live effect runs somewhere, or waits to be granted.
    case serving
    /// The state has an outcome. No event is applied and no effect granted any more; peers are heard, and told of the end.
    case ended(Outcome)
    /// A peer knows records that the journal has not. No peer is served until a new history begins. Time goes on in the phase
    /// that was interrupted, and an end remains an end.
    indirect case lost(HistoryLost, interrupted: Phase)

    /// The loop's end, once it has come.
    var outcome: Outcome? {
        switch self {
        case .grace, .serving: nil
        case .ended(let outcome): outcome
        case .lost(_, let interrupted): interrupted.outcome
        }
    }

    var hasEnded: Bool {
        switch self {
        case .grace, .serving: false
        case .ended: true
        case .lost(_, let interrupted): interrupted.hasEnded
        }
    }

    /// The records that are missing, where some are.
    var loss: HistoryLost? { if case .lost(let loss, _) = self { loss } else { nil } }

    var isLost: Bool { if case .lost = self { true } else { false } }

    /// Whether effects are granted.
    var grants: Bool {
        switch self {
        case .grace, .serving: true
        case .ended, .lost: false
        }
    }

    /// What is waited for after a restart; nil: nothing is.
    var grace: Grace? {
        switch self {
        case .grace(let grace): grace
        case .serving, .ended: nil
        case .lost(_, let interrupted): interrupted.grace
        }
    }

    /// Whether an effect waits to be claimed.
    func isUnclaimed(_ effect: EffectID) -> Bool { grace?.unclaimed.contains(effect) ?? false }

    // MARK: Transitions

    /// The state has an outcome.
    mutating func end(with outcome: Outcome) {
        switch self {
        case .grace, .serving, .ended: self = .ended(outcome)
        case .lost(let loss, _): self = .lost(loss, interrupted: .ended(outcome))
        }
    }

    /// Acknowledged records are missing. Only the first loss counts.
    mutating func lose(_ loss: HistoryLost) { if !isLost { self = .lost(loss, interrupted: self) } }

    /// A new history has begun: there is nothing to wait for in it, and nothing is missing.
    mutating func beginHistory() { self = outcome.map(Phase.ended) ?? .serving }

    /// Changes what is waited for, if something is. Where nothing is left, the grace is over.
    mutating func inGrace(_ change: (inout Grace) -> Void) {
        switch self {
        case .grace(var grace):
            // Held here alone, so that its sets are changed in place.
            self = .serving
            change(&grace)
            if !grace.unclaimed.isEmpty { self = .grace(grace) }
        case .serving, .ended: break
        case .lost(let loss, var interrupted):
            interrupted.inGrace(change)
            self = .lost(loss, interrupted: interrupted)
        }
    }
}

/// After a restart: effects that run somewhere, or may. (Protocol, section 7.)
struct Grace: Equatable, Sendable {
    /// Effects that no worker has claimed yet; never empty in a phase of grace.
    private(set) var unclaimed: Set<EffectID>
    /// Sessions that may still claim some. Nothing is waited for once all have.
    private(set) var awaited: Set<SessionID>
    private(set) var ends: MonotonicTime

    /// Whether the effects that are left are given to others.
    func isOver(at now: MonotonicTime) -> Bool { awaited.isEmpty || now >= ends }

    /// An effect was claimed, or is no longer wanted.
    mutating func settle(_ effect: EffectID) { unclaimed.remove(effect) }

    mutating func settleAll() { unclaimed.removeAll() }

    /// A session has claimed all that it runs, or has ended.
    mutating func stopAwaiting(_ session: SessionID) { awaited.remove(session) }

    mutating func extend(by gap: Duration) { ends = ends + gap }
}
