import LoopCore
import LoopWire

/// A peer that has greeted in this epoch.
///
///     greeted ── claim ──▶ joined ── silence ──▶ joined, lease expired ── heartbeat ──▶ joined
///
/// Before the claim it gets no work and its batches are dropped; they come again.
struct Member: Sendable {
    let peer: PeerID
    var name: String
    var route: Route
    var groups: [String]
    var capacity: Int
    var hasJoined = false
    /// The newest numbered inbox message sent.
    var number: UInt64 = 0
    /// The newest numbered inbox message that the peer says it has applied.
    var applied: UInt64 = 0
    /// From here on its effects may be taken away.
    var leaseEnds: MonotonicTime
    var heardAt: MonotonicTime
    /// The effects it holds.
    var effects: Set<EffectID> = []
    /// What is to be told to it, in order, until the window lets it through.
    var pending: [Command] = []
    /// Commands were dropped to keep the queue bounded: the whole assignment goes out instead.
    var needsAssignments = false
    /// The watermark at the end of the newest acknowledgement.
    var acknowledged: UInt64
    /// When it was last asked to send again.
    var resendAskedAt: MonotonicTime?
    var completedCount: UInt64 = 0

    func canHold(_ group: String, at now: MonotonicTime) -> Bool {
        hasJoined && capacity > 0 && leaseEnds > now && groups.contains(group)
    }
}

/// Who may commit an effect's entries.
struct Ownership: Equatable, Sendable {
    let session: SessionID
    let attempt: Attempt
}

/// When an attempt has taken too long; stale once the effect's attempt is another.
struct AttemptDeadline: Comparable, Sendable {
    let time: MonotonicTime
    let effect: EffectID
    let attempt: Attempt

    static func < (a: AttemptDeadline, b: AttemptDeadline) -> Bool { a.time < b.time }
}
