import LoopCore
import LoopWire

/// Where a peer's machine stands in its life. (Protocol, sections 5 and 6.)
///
///     introducing ── introduction ──▶ joining ── join acceptance ──▶ claiming ── assignments ──▶ joined
///          ▲                             ▲            through the inbox  │                         │
///          └── silence                   └── a newer epoch, or another history ───────────────────┘
///
///     everything is handed back and known ──▶ leaving ── goodbye heard ──▶ over
///
/// Each phase repeats its message until the next phase begins. `next` says when that is due.
enum PeerPhase: Equatable, Sendable {
    /// Hello is repeated: where the other sockets are is not known, or they have been silent for too long.
    case introducing(next: MonotonicTime)
    /// The sockets are connected. The subscription is proven by the join acceptance that comes through it.
    case joining(next: MonotonicTime)
    /// Admitted in this epoch. The reducer is told what this peer holds, and assigns what it should hold.
    case claiming(next: MonotonicTime, AssignmentParts)
    /// The whole assignment was applied: batches and commands flow.
    case joined(Joined)
    /// Everything is handed back and known. Goodbye is repeated until it is answered, or until this time.
    case leaving(next: MonotonicTime, by: MonotonicTime)
    /// Refused, ended or gone: nothing more happens.
    case over

    /// When the message of this phase is due.
    var next: MonotonicTime {
        get {
            switch self {
            case .introducing(let next), .joining(let next), .claiming(let next, _), .leaving(let next, _): next
            case .joined(let joined): joined.nextHeartbeat
            case .over: MonotonicTime(nanoseconds: .max)
            }
        }
        set {
            switch self {
            case .introducing: self = .introducing(next: newValue)
            case .joining: self = .joining(next: newValue)
            case .claiming(_, let parts): self = .claiming(next: newValue, parts)
            case .joined: inJoined { $0.nextHeartbeat = newValue }
            case .leaving(_, let limit): self = .leaving(next: newValue, by: limit)
            case .over: break
            }
        }
    }

    var isJoined: Bool { if case .joined = self { true } else { false } }
    var isOver: Bool { if case .over = self { true } else { false } }

    /// Whether the peer is admitted in its epoch.
    var isAdmitted: Bool {
        switch self {
        case .claiming, .joined: true
        case .introducing, .joining, .leaving, .over: false
        }
    }

    /// Whether nothing is taken any more.
    var hasLeft: Bool {
        switch self {
        case .leaving, .over: true
        case .introducing, .joining, .claiming, .joined: false
        }
    }

    /// Whether the inbox shows a gap.
    var needsAssignments: Bool { if case .joined(let joined) = self { joined.needsAssignments } else { false } }

    // MARK: Transitions

    /// The reducer was restarted, or knows another session of this peer: it has to admit the peer again.
    mutating func rejoin(at now: MonotonicTime) { if isAdmitted { self = .joining(next: now) } }

    /// The whole assignment is applied: nothing of the inbox is missing.
    mutating func assign(at now: MonotonicTime) {
        switch self {
        case .claiming: self = .joined(Joined(nextHeartbeat: now))
        case .joined: inJoined { $0.needsAssignments = false }
        case .introducing, .joining, .leaving, .over: break
        }
    }

    /// A part of an assignment has come.
    /// - Returns: the whole assignment, if this is its last part and it is waited for.
    mutating func add(_ part: Assignments) -> Assignments? {
        switch self {
        case .claiming(let next, var parts):
            // Held here alone, so that the parts are added to in place.
            self = .over
            defer { self = .claiming(next: next, parts) }
            return parts.add(part)
        case .joined:
            var whole: Assignments?
            inJoined { whole = $0.parts.add(part) }
            return whole
        case .introducing, .joining, .leaving, .over: return nil
        }
    }

    /// Changes what a peer that has joined keeps up, if it has.
    mutating func inJoined(_ change: (inout Joined) -> Void) {
        guard case .joined(var joined) = self else { return }
        // Held here alone, so that it is changed in place.
        self = .over
        change(&joined)
        self = .joined(joined)
    }
}

/// What a peer that has joined keeps up.
struct Joined: Equatable, Sendable {
    var nextHeartbeat: MonotonicTime
    /// Something of the inbox is missing: no command is applied until the whole assignment is.
    var needsAssignments = false
    var parts = AssignmentParts()
}
