import LoopCore
import LoopWire

/// A peer that has been admitted in this epoch.
///
///     admitted ── claim ──▶ joined ── silence ──▶ joined, lease expired ── heartbeat ──▶ joined
///
/// Before the claim it gets no work and its batches are dropped; they come again.
struct Member: Sendable {
    let peer: PeerID
    var name: String
    var route: Route
    var groups: [String]
    var capacity: Int
    /// The schema in which it encodes events; 0: it has no definition, and encodes them in the reducer's.
    var schema: UInt64 = 0
    /// The numbers of the feedbacks it may run, where its definition is an older one; nil: all of its groups.
    var feedbacks: Set<UInt32>?
    var hasJoined = false
    /// How far its present claim has come.
    var claim = ClaimProgress()
    /// Every outcome up to this number is known to the peer.
    var settled: UInt64 = 0
    /// The newest numbered inbox message sent.
    var number: UInt64 = 0
    /// The newest numbered inbox message that the peer says it has applied.
    var applied: UInt64 = 0
    /// It has said in this epoch which outcomes it knows; what it does not know is bounded by its outbox.
    var hasReported = false
    /// From here on its effects may be taken away.
    var leaseEnds: MonotonicTime
    var heardAt: MonotonicTime
    /// The effects it holds.
    var holding = Holding()
    /// What is to be told to it, in order, until the window lets it through.
    var pending = CommandRun()
    /// How many of them are starts.
    var pendingStarts = 0
    /// Commands were dropped to keep the queue bounded: the whole assignment goes out instead.
    var needsAssignments = false
    /// The watermark at the end of the newest acknowledgement.
    var acknowledged: UInt64
    /// How many commands may wait for it, besides four for each effect that it may hold.
    var commandsBase = 0
    /// When it was last asked to send again.
    var resendAskedAt: MonotonicTime?
    var completedCount: UInt64 = 0

    /// It says that it has applied the numbered messages up to this one.
    mutating func hasApplied(_ number: UInt64) {
        hasReported = true
        applied = max(applied, min(number, self.number))
    }

    /// An update or a cancellation waits until the window lets it through.
    mutating func take(_ command: Command) {
        if case .cancel(let effect, let attempt) = command, pendingStarts > 0,
            let unsent = pending.indices.first(where: { pending.does(.start, effect, attempt, at: $0) })
        {
            // A start that the same batch cancels again is never sent.
            pending.remove(at: unsent)
            pendingStarts -= 1
            return
        }
        if hasPlaceForOneMore() { pending.append(command) }
    }

    /// It is to start an attempt, of what a `Grant` has.
    mutating func start(
        _ effect: EffectID, _ attempt: Attempt, version: Seq, failures: UInt32, isResumed: Bool, request: RequestBytes
    ) {
        guard hasPlaceForOneMore() else { return }
        pendingStarts += 1
        request.withUnsafeBytes { request in
            pending.appendStart(
                of: effect, attempt, version: version, failures: failures, isResumed: isResumed, request: request)
        }
    }

    /// A queue too long becomes an assignment.
    private mutating func hasPlaceForOneMore() -> Bool {
        if pending.count >= 4 * capacity + commandsBase {
            dropPending()
            needsAssignments = true
        }
        return !needsAssignments
    }

    /// Takes back the cancellation of an attempt, if it is one of the last that wait: most effects end with the event that
    /// ends their request, and their end is the next entry, or a near one.
    mutating func dropCancel(_ effect: EffectID, _ attempt: Attempt) {
        for position in pending.indices.suffix(16).reversed() {
            if pending.does(.cancel, effect, attempt, at: position) {
                pending.remove(at: position)
                return
            }
        }
    }

    mutating func dropPending() {
        // The next turn's are about as many.
        let room = min(pending.byteCount, 256 << 10)
        pending = CommandRun()
        pending.reserve(room)
        pendingStarts = 0
    }

    /// Whether it could run effects of a feedback, which are placed in a group.
    func canHold(_ feedback: UInt32, in group: String, at now: MonotonicTime) -> Bool {
        hasJoined && capacity > 0 && leaseEnds > now && groups.contains(group)
            && feedbacks?.contains(feedback) ?? true
    }
}

/// Which part of a claim comes next. Parts get lost with their connection, and then the whole claim comes again under a greater
/// number.
struct ClaimProgress: Sendable {
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

/// When an attempt has taken too long; stale once the effect's attempt is another.
struct AttemptDeadline: Comparable, Sendable {
    let time: MonotonicTime
    let effect: EffectID
    /// Of the effect, among the live ones.
    let place: Int
    let attempt: Attempt

    static func < (a: AttemptDeadline, b: AttemptDeadline) -> Bool { a.time < b.time }
}
