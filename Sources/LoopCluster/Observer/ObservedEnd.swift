import LoopCore

/// What an observer knows of the loop's end.
enum ObservedEnd: Equatable, Sendable {
    case unheard
    /// It is handed out after the last state, and at this time at the latest.
    case awaited(HeardEnd, by: MonotonicTime)
    /// It was handed out, which is done once, and is not taken back. A last state that took longer follows it.
    case handedOut(HeardEnd)

    var isHeard: Bool { self != .unheard }

    /// The journal may have lost it: if not, it is said again.
    mutating func forget() { if case .awaited = self { self = .unheard } }
}
