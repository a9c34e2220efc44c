import LoopCore
import LoopWire

/// The phase of a peer's machine. (Protocol, sections 5 and 6.)
///
///     introducing ── introduction ──▶ joining ── join acceptance ──▶ claiming ── assignments ──▶ joined
///          ▲                             ▲            through the inbox  │                         │
///          └── silence                   └── a newer epoch, or another history ───────────────────┘
///
///     everything is handed back and known ──▶ leaving ── goodbye heard ──▶ over
///
/// Each phase repeats its message until the next phase begins. `next` says when that is due.
enum PeerPhase: Equatable, Sendable {
    /// Hello is repeated, because the other sockets' addresses are not known, or these have been silent for too long.
    case introducing(next: MonotonicTime)
    /// The sockets are connected. The join acceptance proves the subscription, because it comes through it.
    case joining(next: MonotonicTime)
    /// The peer is admitted in this epoch. It reports its attempts, and the reducer assigns those that it should have.
    case claiming(next: MonotonicTime, AssignmentParts)
    /// The whole assignment was applied. The peer sends batches and gets commands.
    case joined(Joined)
    /// Everything is handed back and settled. Goodbye is repeated until it is answered, or until this time.
    case leaving(next: MonotonicTime, by: MonotonicTime)
    /// The peer was refused, the loop has ended, or the peer has left. Nothing more happens.
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

    /// Whether no input is taken any more.
    var hasLeft: Bool {
        switch self {
        case .leaving, .over: true
        case .introducing, .joining, .claiming, .joined: false
        }
    }

    /// Whether the inbox shows a gap.
    var needsAssignments: Bool { if case .joined(let joined) = self { joined.needsAssignments } else { false } }

    // MARK: Transitions

    /// Joins again, because the reducer was restarted, or knows another session of this peer.
    mutating func rejoin(at now: MonotonicTime) { if isAdmitted { self = .joining(next: now) } }

    /// Takes note that the whole assignment is applied, so that no inbox message is missing.
    mutating func assign(at now: MonotonicTime) {
        switch self {
        case .claiming: self = .joined(Joined(nextHeartbeat: now))
        case .joined: inJoined { $0.needsAssignments = false }
        case .introducing, .joining, .leaving, .over: break
        }
    }

    /// Takes a part of an assignment.
    /// - Returns: the whole assignment, if this is its last part and the peer expects one.
    mutating func add(_ part: Assignments) -> Assignments? {
        switch self {
        case .claiming(let next, var parts):
            // With no second reference to the parts, adding to them makes no copy.
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

    /// Changes the values of a joined peer; does nothing in other phases.
    mutating func inJoined(_ change: (inout Joined) -> Void) {
        guard case .joined(var joined) = self else { return }
        // With no second reference to the values, changing them makes no copy.
        self = .over
        change(&joined)
        self = .joined(joined)
    }
}

/// Why a peer that had joined has lost its reducer. The raw values are labels of a metric.
package enum ContactLoss: String, CaseIterable, Sendable {
    /// The reducer has published nothing for its silence limit.
    case silence
    /// The reducer has left a question unanswered over DEALER.
    case noAnswer = "no_answer"
    /// The reducer has begun another epoch, history or session.
    case newEpoch = "new_epoch"
    /// Another reducer leads, or this one does no longer.
    case leaderMoved = "leader_moved"
    /// The connection took no message, so the shell has replaced it.
    case redialled
    /// The reducer reads none of the peer's entries, not even over new connections, so the peer begins another session.
    case unread
    /// Another process uses this peer's session.
    case sessionTaken = "session_taken"
}

/// The values of a peer that has joined.
struct Joined: Equatable, Sendable {
    var nextHeartbeat: MonotonicTime
    /// Whether inbox messages are missing. No command is applied until the whole assignment is.
    var needsAssignments = false
    var parts = AssignmentParts()
}
