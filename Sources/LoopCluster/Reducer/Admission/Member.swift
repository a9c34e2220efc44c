import LoopCollections
import LoopCore
import LoopWire

/// A peer that has been admitted in this epoch.
///
///     admitted ── claim ──▶ joined ── silence ──▶ joined, lease expired ── heartbeat ──▶ joined
struct Member: Sendable {
    enum Standing: Sendable {
        /// It gets no work, and its batches are dropped; they come again. Its claim has come so far.
        case admitted(ClaimProgress)
        /// It has claimed what it runs.
        case joined
    }

    let peer: PeerID
    var name: String
    var route: Route
    var groups: [String]
    var capacity: Int
    /// The schema in which it encodes events; 0: it has no definition, and encodes them in the reducer's.
    var schema: UInt64 = 0
    /// The numbers of the feedbacks that it offers to run. It is granted those that are in its groups.
    var feedbacks: Set<UInt32> = []
    var standing = Standing.admitted(ClaimProgress())
    /// Every outcome up to this number is known to the peer.
    var settled: UInt64 = 0
    /// It has said in this epoch which outcomes it knows; what it does not know is bounded by its outbox.
    var hasReported = false
    /// From here on its effects may be taken away.
    var leaseEnds: MonotonicTime
    var heardAt: MonotonicTime
    /// When people were told that it is silent; nil: it is not, as far as they know.
    var lostAt: MonotonicTime?
    /// The effects it holds.
    var holding = Holding()
    /// What is sent to it under numbers.
    var inbox = Inbox()
    /// The watermark at the end of the newest acknowledgement.
    var acknowledged: UInt64
    /// How many commands may wait for it, in addition to four for each effect that it may hold.
    var commandsBase = 0
    /// When it was last asked to send again.
    var resendAskedAt: MonotonicTime?
    var completedCount: UInt64 = 0

    var hasJoined: Bool { if case .joined = standing { true } else { false } }

    private var commandsMax: Int { 4 * capacity + commandsBase }

    /// It says that it has applied the numbered messages up to this one.
    mutating func hasApplied(_ number: UInt64) {
        hasReported = true
        inbox.hasApplied(number)
    }

    /// A batch of it has arrived, which says what it has applied and which outcomes it knows.
    /// - Returns: whether the batch counts: not before the claim.
    mutating func hear(_ batch: Batch, beforeClaim countsEarly: Bool) -> Bool {
        guard hasJoined || countsEarly else { return false }
        hasApplied(batch.applied)
        settled = max(settled, batch.settled)
        return true
    }

    /// Its entries are acknowledged up to a watermark.
    /// - Returns: its ID, and up to where they were acknowledged before.
    mutating func acknowledge(upTo watermark: UInt64) -> (peer: PeerID, base: UInt64) {
        defer { acknowledged = watermark }
        return (peer, acknowledged)
    }

    /// An update or a cancellation waits until the window lets it through.
    mutating func take(_ command: Command) { inbox.take(command, atMost: commandsMax) }

    /// It is to start an attempt, of what a `Grant` has.
    mutating func start(
        _ effect: EffectID, _ attempt: Attempt, version: Seq, failures: UInt32, isResumed: Bool, request: RequestBytes
    ) {
        inbox.start(
            effect, attempt, version: version, failures: failures, isResumed: isResumed, request: request,
            atMost: commandsMax)
    }

    /// Whether effects of a feedback, which are placed in a group, are for it.
    func serves(_ feedback: UInt32, in group: String) -> Bool {
        groups.contains(group) && feedbacks.contains(feedback)
    }

    /// Whether it could run effects of a feedback, which are placed in a group.
    func canHold(_ feedback: UInt32, in group: String, at now: MonotonicTime) -> Bool {
        hasJoined && capacity > 0 && leaseEnds > now && serves(feedback, in: group)
    }

    /// Whether it has effects, and its lease on them has expired.
    func isSilent(at now: MonotonicTime) -> Bool { !holding.isEmpty && leaseEnds <= now }
}

/// The peers that have been admitted in this epoch, by their sessions.
typealias Members = HashTable<SessionID, Member>

extension Members {
    /// A command waits in its member's inbox until the end of the turn.
    mutating func command(_ command: Command, to session: SessionID) {
        guard let index = index(forKey: session) else { return }
        self[at: index].take(command)
    }

    /// A member has completed an effect.
    mutating func countCompleted(by session: SessionID) {
        guard let index = index(forKey: session) else { return }
        self[at: index].completedCount += 1
    }

    /// The members for which commands wait, and whose windows let them through, in order.
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

    /// Whether a member that is heard could run effects of a feedback.
    func canHold(_ feedback: UInt32, _ table: FeedbackTable, at time: MonotonicTime) -> Bool {
        let group = table.group(feedback)
        return contains { $0.value.canHold(feedback, in: group, at: time) }
    }
}

/// Which part of a claim comes next. Parts get lost with their connection, and then the whole claim comes again under a greater
/// number.
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
