import LoopCore
import LoopWire

/// The phase of a reducer's machine. The replay before it is a type of its own, `Recovery`.
///
///     grace ──▶ serving ──▶ ended        grace, serving or ended ── loss ──▶ lost ── a new history ──▶ serving or ended
///       └────────────────────▲
enum Phase: Equatable, Sendable {
    /// Effects of an earlier epoch wait for the workers that run them. It ends with the last of them.
    case grace(Grace)
    /// Every live effect runs on a worker, or waits to be granted.
    case serving
    /// The state has an outcome. No event is applied and no effect granted any more. Peers are still answered, and learn of the
    /// end.
    case ended(Outcome)
    /// A peer knows records that the journal does not have. No peer is served until a new history begins. Meanwhile, time
    /// continues in the interrupted phase, and an end remains an end.
    indirect case lost(HistoryLost, interrupted: Phase)

    /// The loop's outcome, once it has ended.
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

    /// The missing records, or nil if none are known to be missing.
    var loss: HistoryLost? { if case .lost(let loss, _) = self { loss } else { nil } }

    var isLost: Bool { if case .lost = self { true } else { false } }

    /// Whether effects are granted.
    var grants: Bool {
        switch self {
        case .grace, .serving: true
        case .ended, .lost: false
        }
    }

    /// The effects that wait for claims after a restart, or nil if none do.
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

    /// Takes note that the state has an outcome.
    mutating func end(with outcome: Outcome) {
        switch self {
        case .grace, .serving, .ended: self = .ended(outcome)
        case .lost(let loss, _): self = .lost(loss, interrupted: .ended(outcome))
        }
    }

    /// Takes note that acknowledged records are missing. Only the first loss counts.
    mutating func lose(_ loss: HistoryLost) { if !isLost { self = .lost(loss, interrupted: self) } }

    /// Begins a new history, in which no claim is awaited and nothing is missing.
    mutating func beginHistory() { self = outcome.map(Phase.ended) ?? .serving }

    /// Changes the grace, if there is one. If no effect waits any more, the grace is over.
    mutating func inGrace(_ change: (inout Grace) -> Void) {
        switch self {
        case .grace(var grace):
            // With no second reference to the grace, changing its sets makes no copy.
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

/// After a restart, the effects that some worker runs or may run. (Protocol, section 7.)
struct Grace: Equatable, Sendable {
    /// The effects that no worker has claimed yet; never empty in a phase of grace.
    private(set) var unclaimed: Set<EffectID>
    /// The sessions that may still claim some. Once all have claimed, the grace is over.
    private(set) var awaited: Set<SessionID>
    private(set) var ends: MonotonicTime

    /// Whether the remaining effects are granted to other workers.
    func isOver(at now: MonotonicTime) -> Bool { awaited.isEmpty || now >= ends }

    /// Takes note that an effect was claimed, or is no longer wanted.
    mutating func settle(_ effect: EffectID) { unclaimed.remove(effect) }

    mutating func settleAll() { unclaimed.removeAll() }

    /// Takes note that a session has claimed all that it runs, or has ended.
    mutating func stopAwaiting(_ session: SessionID) { awaited.remove(session) }

    mutating func extend(by gap: Duration) { ends = ends + gap }
}
