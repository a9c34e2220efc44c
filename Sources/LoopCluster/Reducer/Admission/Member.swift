import LoopCollections
import LoopCore
import LoopWire

/// A peer that has been admitted in this epoch.
///
///     admitted ── claim ──▶ joined ── silence ──▶ joined, lease expired ── heartbeat ──▶ joined
struct Member: Sendable {
    enum Standing: Sendable {
        /// It gets no work. Its batches are dropped, and come again. Its claim has come as far as this.
        case admitted(ClaimProgress)
        /// It has claimed what it runs.
        case joined
    }

    let peer: PeerID
    var name: String
    var route: Route
    var groups: [String]
    var capacity: Int
    /// The schema in which it encodes events, or 0 if it has no definition, and uses the reducer's schema.
    var schema: UInt64 = 0
    /// The numbers of the feedbacks that it offers to run. It gets grants of those that are in its groups.
    var feedbacks: Set<UInt32> = []
    var standing = Standing.admitted(ClaimProgress())
    /// Every outcome up to this number is known to the peer.
    var settled: UInt64 = 0
    /// Whether it has reported in this epoch which outcomes it knows. Those that it does not know are bounded by its outbox.
    var hasReported = false
    /// When its lease ends, after which its effects may be taken away.
    var leaseEnds: MonotonicTime
    var heardAt: MonotonicTime
    /// When its silence was reported to people, or nil if none was reported.
    var lostAt: MonotonicTime?
    /// The number of effects that it has.
    var holding = Holding()
    /// Its numbered messages.
    var inbox = Inbox()
    /// The watermark at the end of the newest acknowledgement.
    var acknowledged: UInt64
    /// How many commands may wait for it, besides four for each effect of its capacity.
    var commandsBase = 0
    /// When it was last asked to send again.
    var resendAskedAt: MonotonicTime?
    var completedCount: UInt64 = 0

    var hasJoined: Bool { if case .joined = standing { true } else { false } }

    private var commandsMax: Int { 4 * capacity + commandsBase }

    /// Takes note that it has applied the numbered messages up to this one.
    mutating func hasApplied(_ number: UInt64) {
        hasReported = true
        inbox.hasApplied(number)
    }

    /// Takes note of its batch, which says what it has applied and which outcomes it knows.
    /// - Returns: whether the batch counts. Before the claim it does not.
    mutating func hear(_ batch: Batch, beforeClaim countsEarly: Bool) -> Bool {
        guard hasJoined || countsEarly else { return false }
        hasApplied(batch.applied)
        settled = max(settled, batch.settled)
        return true
    }

    /// Takes note that its entries are acknowledged up to a watermark.
    /// - Returns: its ID, and the watermark of the acknowledgement before.
    mutating func acknowledge(upTo watermark: UInt64) -> (peer: PeerID, base: UInt64) {
        defer { acknowledged = watermark }
        return (peer, acknowledged)
    }

    /// Queues a command until the window lets it through.
    mutating func take(_ command: Command) { inbox.take(command, atMost: commandsMax) }

    /// Whether it serves a feedback whose effects are placed in a group.
    func serves(_ feedback: UInt32, in group: String) -> Bool {
        groups.contains(group) && feedbacks.contains(feedback)
    }

    /// Whether it could now run effects of a feedback that are placed in a group.
    func canHold(_ feedback: UInt32, in group: String, at now: MonotonicTime) -> Bool {
        hasJoined && capacity > 0 && leaseEnds > now && serves(feedback, in: group)
    }

    /// Whether it has effects, and its lease on them has expired.
    func isSilent(at now: MonotonicTime) -> Bool { !holding.isEmpty && leaseEnds <= now }
}

/// The peers that have been admitted in this epoch, by their sessions.
typealias Members = HashTable<SessionID, Member>

extension Members {
    /// Queues a command in its member's inbox until the end of the turn.
    mutating func command(_ command: Command, to session: SessionID) {
        guard let index = index(forKey: session) else { return }
        self[at: index].take(command)
    }

    /// Counts an effect that a member has completed.
    mutating func countCompleted(by session: SessionID) {
        guard let index = index(forKey: session) else { return }
        self[at: index].completedCount += 1
    }

    /// The members with waiting commands whose windows let them through, in order.
    func awaitingCommands(window: UInt64) -> [SessionID] {
        var sessions: [SessionID] = []
        for (place, session) in places where self[at: place].inbox.isWaiting {
            if self[at: place].inbox.isOpen(window: window) { sessions.append(session) }
        }
        return sessions.sorted()
    }

    /// The members whose leases on their effects have expired.
    func silent(at time: MonotonicTime) -> Set<SessionID> {
        Set(lazy.filter { $0.value.isSilent(at: time) }.map(\.key))
    }

    /// Whether a member with a valid lease could run effects of a feedback.
    func canHold(_ feedback: UInt32, _ table: FeedbackTable, at time: MonotonicTime) -> Bool {
        let group = table.group(feedback)
        return contains { $0.value.canHold(feedback, in: group, at: time) }
    }
}

/// The number of the claim's next part. Parts may get lost with their connection. The peer then sends the whole claim again
/// under a greater number.
struct ClaimProgress: Equatable, Sendable {
    private var number: UInt64 = 0
    private var next: UInt32 = 0

    /// - Returns: whether it is the next part of the newest claim.
    mutating func take(_ part: ClaimPart) -> Bool {
        if part.number > number, part.part == 0 {
            number = part.number
            next = 0
        }
        guard part.number == number, part.part == next else { return false }
        next += 1
        return true
    }
}
