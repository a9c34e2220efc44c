import LoopCore

/// What an observer knows of the loop's end.
enum ObservedEnd: Equatable, Sendable {
    case unheard
    /// The end was received. It is handed out after the last state, and at this time at the latest.
    case awaited(HeardEnd, by: MonotonicTime)
    /// The end was handed out, which is done once and is not taken back. A last state that took longer may follow it.
    case handedOut(HeardEnd)

    var isHeard: Bool { self != .unheard }

    /// Forgets an end that was not handed out, because the journal may have lost it. If not, the reducer sends it again.
    mutating func forget() { if case .awaited = self { self = .unheard } }
}
