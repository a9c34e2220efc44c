public import LoopCore
public import LoopWire

/// One fact in the journal. Replaying them in order gives the same state, effects and sessions.
public enum Record: Equatable, Sendable {
    /// An event was applied; the seq is one more than that of the event before.
    case event(EventRecord)
    /// A numbered entry was consumed without being applied.
    case refused(RefusalRecord)
    /// An effect's body returned; the entry that said so is consumed.
    case completed(SessionID, number: UInt64, EffectID, Attempt)
    /// A numbered entry said how an effect ended that is no longer live: consumed, and changes nothing. The usual end of
    /// an effect whose own event made it unwanted.
    case skipped(SessionID, number: UInt64)
    /// Attempts of an effect are void.
    case attemptEnded(AttemptEnd)
    case sessionOpened(SessionID, PeerID)
    case sessionRetired(SessionID)
    case epochBegun(Epoch, WallTime)
    case definition(fingerprint: UInt64, schema: UInt64, feedbacks: [String])
}

/// An applied event, its bytes as received.
public struct EventRecord: Equatable, Sendable {
    public var seq: Seq
    /// Never earlier than the record before.
    public var time: WallTime
    public var session: SessionID
    public var number: UInt64
    public var effect: EffectID?
    public var attempt: Attempt
    /// Whether the sender asked for the seq.
    public var wantsSeq: Bool
    public var bytes: ArraySlice<UInt8>

    public init(
        seq: Seq, time: WallTime, session: SessionID, number: UInt64, effect: EffectID?, attempt: Attempt,
        wantsSeq: Bool, bytes: ArraySlice<UInt8>
    ) {
        self.seq = seq
        self.time = time
        self.session = session
        self.number = number
        self.effect = effect
        self.attempt = attempt
        self.wantsSeq = wantsSeq
        self.bytes = bytes
    }
}

public struct RefusalRecord: Equatable, Sendable {
    public var session: SessionID
    public var number: UInt64
    public var reason: SendRefusal.Reason
    public var effect: EffectID?
    /// The attempt that is void from here on, where the refusal is for it; `.none` voids nothing.
    public var attempt: Attempt

    public init(
        session: SessionID, number: UInt64, reason: SendRefusal.Reason, effect: EffectID?, attempt: Attempt
    ) {
        self.session = session
        self.number = number
        self.reason = reason
        self.effect = effect
        self.attempt = attempt
    }
}

/// The end of all attempts of an effect up to one, and what follows.
public struct AttemptEnd: Equatable, Sendable {
    public enum Cause: UInt8, Sendable {
        case failed = 1
        case timedOut = 2
        case released = 3
        /// The worker was silent for longer than the limit.
        case unresponsive = 4
        /// No worker claimed the effect after a restart.
        case unclaimed = 5
    }

    public enum Next: Equatable, Sendable {
        /// The effect is tried again, not before this time.
        case retry(WallTime)
        /// The effect has failed for good; it stays, visible.
        case parked
    }

    public var effect: EffectID
    public var upTo: Attempt
    public var cause: Cause
    public var next: Next
    /// What went wrong, for people.
    public var message: String
    /// The entry that said so, if one did; it is consumed.
    public var entry: EntryNumber?

    public init(
        effect: EffectID, upTo: Attempt, cause: Cause, next: Next, message: String = "", entry: EntryNumber? = nil
    ) {
        self.effect = effect
        self.upTo = upTo
        self.cause = cause
        self.next = next
        self.message = message
        self.entry = entry
    }
}

/// One entry of one session.
public struct EntryNumber: Equatable, Sendable {
    public var session: SessionID
    public var number: UInt64

    public init(session: SessionID, number: UInt64) {
        self.session = session
        self.number = number
    }
}
