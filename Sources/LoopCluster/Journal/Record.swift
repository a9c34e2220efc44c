package import LoopCore
package import LoopKeys
package import LoopWire

/// One fact in the journal. Replaying all records in order gives the same state, effects and sessions.
package enum Record: Equatable, Sendable {
    /// An event was applied. Its seq is one more than that of the event before.
    case event(EventRecord)
    /// A numbered entry was consumed without being applied.
    case refused(RefusalRecord)
    /// An effect's body returned. The entry that reported it is consumed.
    case completed(SessionID, number: UInt64, EffectID, Attempt)
    /// A numbered entry reported the end of an effect that is no longer live. It is consumed and changes nothing. This is the
    /// usual end of an effect whose own event made it unwanted.
    case skipped(SessionID, number: UInt64)
    /// Attempts of effects were granted. All earlier attempts of these effects are void.
    case granted(GrantRecord)
    /// Attempts of an effect are void.
    case attemptEnded(AttemptEnd)
    /// A session was granted to a peer. Its number is never given again in this history.
    case sessionOpened(SessionID, PeerID)
    /// From here on, the session belongs to the owner of a key.
    case sessionOwned(SessionID, PublicKey)
    /// A session has ended. The outcomes of its entries are forgotten.
    case sessionRetired(SessionID)
    /// A reducer has started on the journal at this time. The epoch's number is never given again in this history.
    case epochBegun(Epoch, WallTime)
    /// From here on, this definition reduces and its queries run.
    case definition(DefinitionRecord)
    /// The digest of everything the journal determines, as of this seq. A replay that computes another one is wrong (G8).
    case stateHash(Seq, UInt64)
    /// Everything the journal determines, as of here, is being hashed, and is too large for one turn. The digest follows as a
    /// ``markHash(_:_:)``, unless the process ends before.
    case stateMarked(Seq)
    /// The digest as of the newest mark, which has this seq.
    case markHash(Seq, UInt64)
    /// An entry whose reduction ended the process more than once is consumed, and set aside with its bytes.
    case quarantined(QuarantineRecord)
    /// An operator did something to the loop.
    case operatorAction(OperatorAction)
    /// Acknowledged records are missing, or were cut off on purpose. What peers know of the loop is no longer valid.
    case historyBegun(History, WallTime)
    /// The next time of a schedule, without a run. The record of a run is an event.
    case scheduled(ScheduleRecord)
}

extension Record {
    /// Whether the record assigns a number that must not be assigned again in this history: an epoch's or a session's. Such a
    /// record survives a loss of power, whatever the journal promises of others. Otherwise, a peer that was admitted under a
    /// lost number could speak for the next peer that gets this number, until the loss is noticed.
    package var outlivesPower: Bool {
        switch self {
        case .epochBegun, .sessionOpened, .sessionOwned, .historyBegun: true
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .sessionRetired, .definition, .stateHash,
            .stateMarked, .markHash, .quarantined, .operatorAction, .scheduled:
            false
        }
    }

    /// The seq of the state whose digest the record has, or nil for other records. A replay that has applied it agrees with the
    /// journal up to there.
    var hashedSeq: Seq? {
        switch self {
        case .stateHash(let seq, _), .markHash(let seq, _): seq
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOpened, .sessionOwned,
            .sessionRetired, .epochBegun, .definition, .stateMarked, .quarantined, .operatorAction, .historyBegun,
            .scheduled:
            nil
        }
    }
}

/// The definition that makes the transitions from here on.
package struct DefinitionRecord: Equatable, Sendable {
    /// A hash of the definition's name, schema, feedbacks and placements.
    package var fingerprint: UInt64
    /// The version of the definition's states and events as they are encoded; at least 1.
    package var schema: UInt64
    /// A hash of the encoded initial state. A loop with other arguments is another run.
    package var initial: UInt64
    /// The encoded initial state, if this is the journal's first record; else empty. With it, a replay does not need the arguments.
    package var initialState: [UInt8]
    /// The names of all feedbacks that this journal has seen. A feedback's number is its position, and is never reused.
    package var feedbacks: [String]

    /// Creates a record from its parts.
    package init(
        fingerprint: UInt64, schema: UInt64, initial: UInt64, initialState: [UInt8] = [], feedbacks: [String]
    ) {
        self.fingerprint = fingerprint
        self.schema = schema
        self.initial = initial
        self.initialState = initialState
        self.feedbacks = feedbacks
    }
}

/// An entry that was set aside, with everything that is needed to examine it or to try it again.
package struct QuarantineRecord: Equatable, Sendable {
    /// The step in which the process ended.
    package enum Phase: UInt8, Sendable, CustomStringConvertible {
        /// The event's bytes were being decoded.
        case decoding = 1
        /// The definition's `reduce` was running.
        case reducing = 2
        /// The query of a feedback was running, on the state after the event.
        case query = 3
        /// The definition's `answer` was running, on the state after the event.
        case answering = 4
        /// A feedback's `failing` closure was making an event from an effect's last failure.
        case failing = 5

        /// The step as a noun phrase, for people.
        package var description: String {
            switch self {
            case .decoding: "decoding the event"
            case .reducing: "reduce"
            case .query: "a feedback's query"
            case .answering: "answer"
            case .failing: "a feedback's failing"
            }
        }
    }

    /// The number of the quarantined entry in the journal, from 1.
    package var id: UInt64
    /// When the entry was set aside, by the reducer's civil clock.
    package var time: WallTime
    /// The session of the entry.
    package var session: SessionID
    /// The entry's number in its session.
    package var number: UInt64
    /// The effect that sent the entry, or nil if a sender did.
    package var effect: EffectID?
    /// The attempt that sent the entry, or `.none` if a sender did.
    package var attempt: Attempt
    /// The step in which the process last ended.
    package var phase: Phase
    /// How often the entry ended the process.
    package var crashes: UInt32
    /// Whether the effect's body ended with the entry, so that the effect is completed. It has no meaning later.
    package var isLast: Bool
    /// The event's bytes as received.
    package var bytes: ArraySlice<UInt8>

    /// Creates a record from its parts.
    package init(
        id: UInt64, time: WallTime, session: SessionID, number: UInt64, effect: EffectID?, attempt: Attempt,
        phase: Phase, crashes: UInt32, isLast: Bool = false, bytes: ArraySlice<UInt8>
    ) {
        self.isLast = isLast
        self.id = id
        self.time = time
        self.session = session
        self.number = number
        self.effect = effect
        self.attempt = attempt
        self.phase = phase
        self.crashes = crashes
        self.bytes = bytes
    }
}

extension QuarantineRecord {
    /// Whether a sender sent the event, not an effect, a timer or a schedule.
    var isOfSender: Bool { effect == nil && session != .none }

    /// The event in a few words, for people.
    package var text: String { EventText.of(bytes.prefix(4096), of: bytes.count) }
}

/// What an operator did, with the operator's name and the time.
package struct OperatorAction: Equatable, Sendable {
    /// The actions of an operator that the journal records.
    package enum What: Equatable, Sendable {
        /// Runs a parked effect again. Its failures are forgotten.
        case retryParked(EffectID)
        /// Applies a quarantined event after all. The next record is its event.
        case retryQuarantined(UInt64)
        /// Drops a quarantined event for good.
        case dropQuarantined(UInt64)
        /// Pauses a schedule, named by the number of its feedback, until it is resumed.
        case pauseSchedule(UInt32)
        /// Resumes a paused schedule.
        case resumeSchedule(UInt32)
        /// Runs a schedule once more. The next record is the event.
        case runSchedule(UInt32)
        /// Accepts the clock, although it is behind the times of earlier records. The loop's time goes back to the time of this
        /// record.
        case acceptClock
    }

    /// The action.
    package var what: What
    /// The operator as the tool names it: a user and a host.
    package var who: String
    /// The time of the action, by the reducer's civil clock.
    package var time: WallTime

    /// Creates an action from its parts.
    package init(_ what: What, by who: String, at time: WallTime) {
        self.what = what
        self.who = who
        self.time = time
    }
}

/// An applied event, with its bytes as received.
package struct EventRecord: Equatable, Sendable {
    /// The number of the transition that the event made; at least 1.
    package var seq: Seq
    /// The loop's time. It is never earlier than that of the record before, unless an operator has accepted a clock that was
    /// set back.
    package var time: WallTime
    /// The session of the entry, or `.none` for a timer's event, and for a quarantined one that an operator had applied.
    package var session: SessionID
    /// The entry's number in its session; 0 for a timer's event, and for a quarantined one that an operator had applied.
    package var number: UInt64
    /// The effect or timer that sent the event, or nil if a sender did.
    package var effect: EffectID?
    /// The attempt that sent the event, or `.none` if a sender or a timer did.
    package var attempt: Attempt
    /// Whether the sender asked for the seq.
    package var wantsSeq: Bool
    /// Whether the sender asked for the definition's answer. The record has no answer; a replay computes it again.
    package var wantsAnswer: Bool
    /// Whether the effect's body ended with the event. The effect is then completed, if it is still live after the event.
    package var isLast: Bool
    /// The place of the event in a trace, or nil if it is in none. That of a timer's event is known from its timer.
    package var trace: TraceContext?
    /// The event's bytes as received.
    package var bytes: ArraySlice<UInt8>
    /// The schedule's run that made the event, or nil if none did.
    package internal(set) var run: ScheduledRun?

    /// Creates a record from its parts.
    package init(
        seq: Seq, time: WallTime, session: SessionID, number: UInt64, effect: EffectID?, attempt: Attempt,
        wantsSeq: Bool, isLast: Bool = false, wantsAnswer: Bool = false, trace: TraceContext? = nil,
        bytes: ArraySlice<UInt8>
    ) {
        self.isLast = isLast
        self.wantsAnswer = wantsAnswer
        self.seq = seq
        self.time = time
        self.session = session
        self.number = number
        self.effect = effect
        self.attempt = attempt
        self.wantsSeq = wantsSeq
        self.trace = trace
        self.bytes = bytes
    }
}

extension EventRecord {
    /// Creates the event of a timer that is due. The timer is completed with it.
    package init(timer: EffectID, seq: Seq, time: WallTime, bytes: ArraySlice<UInt8>) {
        self.init(
            seq: seq, time: time, session: .none, number: 0, effect: timer, attempt: .none, wantsSeq: false,
            isLast: true, bytes: bytes)
    }

    /// Whether a feedback made the event from an attempt's timeout. Such an event belongs to no session, and ends its effect.
    package var isOfTimeout: Bool { isLast && session == .none && attempt != .none }

    /// Whether a timer sent the event. Such an event belongs to no session, and ends its effect.
    package var isOfTimer: Bool { isLast && session == .none && effect != nil && attempt == .none }
}

/// An entry that was consumed without being applied, and the reason.
package struct RefusalRecord: Equatable, Sendable {
    /// The session of the entry.
    package var session: SessionID
    /// The entry's number in its session.
    package var number: UInt64
    /// The reason, which its sender gets.
    package var reason: SendRefusal.Reason
    /// The effect that sent the entry, or nil if a sender did.
    package var effect: EffectID?
    /// The attempt that is void from here on, if the refusal concerns it; `.none` voids nothing.
    package var attempt: Attempt
    /// What is wrong with the entry, in words, at most 512 bytes of UTF-8; empty if that is not known.
    package var detail: String

    /// Creates a record from its parts. A detail that is too long is cut between two characters.
    package init(
        session: SessionID, number: UInt64, reason: SendRefusal.Reason, effect: EffectID?, attempt: Attempt,
        detail: String = ""
    ) {
        self.detail = RefusalDetail.cut(detail)
        self.session = session
        self.number = number
        self.reason = reason
        self.effect = effect
        self.attempt = attempt
    }
}

/// The grants of one turn. After a restart, a worker can have only effects with such a record.
package struct GrantRecord: Equatable, Sendable {
    /// The attempt of the first effect. Each following effect has the next count of the same epoch.
    package var first: Attempt
    /// The effects, in the order of their attempts; at least one.
    package var effects: [EffectID]

    /// Creates a record from its parts.
    package init(first: Attempt, effects: [EffectID]) {
        self.first = first
        self.effects = effects
    }

    /// The attempt of the effect at an index of `effects`.
    package func attempt(at index: Int) -> Attempt { Attempt(epoch: first.epoch, count: first.count + UInt64(index)) }
}

/// The end of all attempts of an effect up to one of them, and what follows.
package struct AttemptEnd: Equatable, Sendable {
    /// Why the attempts ended.
    package enum Cause: UInt8, Sendable {
        /// The effect's body threw an error.
        case failed = 1
        /// The attempt took longer than the policy's timeout.
        case timedOut = 2
        /// The worker gave the effect back unfinished, for example because it is stopping.
        case released = 3
        /// The worker was silent for longer than the silence limit.
        case unresponsive = 4
    }

    /// What happens to the effect next.
    package enum Next: Equatable, Sendable {
        /// The effect is tried again.
        case retry(RetryTime)
        /// The effect has failed for good. It stays visible.
        case parked
    }

    /// The effect whose attempts ended.
    package var effect: EffectID
    /// The last attempt that is void; all earlier ones are void too.
    package var upTo: Attempt
    /// Why the attempts ended.
    package var cause: Cause
    /// Whether the effect is tried again.
    package var next: Next
    /// What went wrong, for people.
    package var message: String
    /// The entry that reported the end, if one did. It is consumed.
    package var entry: EntryNumber?

    /// Creates a record from its parts.
    package init(
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

/// The time at which an effect is tried again.
package struct RetryTime: Equatable, Sendable {
    /// The next attempt does not begin before this time, by the reducer's civil clock.
    package var notBefore: WallTime
    /// The planned wait, in milliseconds; at least 0. A clock that is set back does not make it longer.
    package var wait: Int64

    /// Creates a time from its parts. A wait below zero counts as zero.
    package init(notBefore: WallTime, wait: Int64) {
        self.notBefore = notBefore
        self.wait = max(0, wait)
    }

    /// The time after a wait.
    init(after wait: Duration, from time: WallTime) {
        let milliseconds = wait.wholeMilliseconds + (wait.wholeNanoseconds % 1_000_000 > 0 ? 1 : 0)
        self.init(notBefore: time + .milliseconds(milliseconds), wait: milliseconds)
    }

    /// The rest of the wait at a time; at least zero.
    package func wait(from time: WallTime) -> Duration {
        let (left, overflow) = notBefore.milliseconds.subtractingReportingOverflow(time.milliseconds)
        return .milliseconds(overflow ? wait : max(0, min(left, wait)))
    }
}
