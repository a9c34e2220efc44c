public import LoopCore
public import LoopWire

/// One value that an event of the log is about. `name` and `value` are for handlers that pass on every field.
public enum LogField: Hashable, Sendable {
    /// The name of a peer, or its ID if it has no name.
    case peer(String)
    /// A peer's session.
    case session(UInt64)
    /// The number of an entry in its session.
    case number(UInt64)
    /// The name of a feedback.
    case feedback(String)
    /// An effect.
    case effect(EffectID)
    /// An attempt of an effect, as `loopctl` shows it.
    case attempt(String)
    /// How often an effect has failed.
    case failures(UInt32)
    /// How long until the effect is tried again.
    case retryIn(Duration)
    /// Why something happened or failed.
    case reason(String)
    /// The seq of a transition.
    case seq(Seq)
    /// The position of a record in the journal.
    case position(UInt64)
    /// A number of records.
    case records(UInt64)
    /// A size in bytes.
    case bytes(Int)
    /// How long something took or lasted.
    case duration(Duration)
    /// A number of effects.
    case effects(Int)
    /// An address.
    case address(String)
    /// Why the journal cannot be used.
    case fault(JournalFault.Reason)
    /// The SQLSTATE that a database has sent.
    case sqlState(String)
    /// A host of a database.
    case host(String)
    /// The history of a journal.
    case history(String)
    /// The number of an epoch.
    case epoch(UInt64)
    /// A definition's fingerprint.
    case fingerprint(String)
    /// The fingerprint of the previous definition.
    case fingerprintBefore(String)
    /// A quarantined event.
    case quarantined(UInt64)
    /// A schedule.
    case schedule(String)
    /// How many events of the same kind were left out since the last one.
    case suppressed(Int)

    /// A value as text, or as a number.
    public enum Value: Hashable, Sendable, CustomStringConvertible {
        /// Text for people, or a name. It may contain any character.
        case text(String)
        /// A count, a size, or a number of milliseconds.
        case number(UInt64)

        /// The text, or the decimal digits.
        public var description: String {
            switch self {
            case .text(let text): text
            case .number(let number): String(number)
            }
        }
    }

    /// The field's name: lower-case words without spaces. Durations end with `Ms`, for milliseconds.
    public var name: String {
        switch self {
        case .peer: "peer"
        case .session: "session"
        case .number: "number"
        case .feedback: "feedback"
        case .effect: "effect"
        case .attempt: "attempt"
        case .failures: "failures"
        case .retryIn: "retryInMs"
        case .reason: "reason"
        case .seq: "seq"
        case .position: "position"
        case .records: "records"
        case .bytes: "bytes"
        case .duration: "durationMs"
        case .effects: "effects"
        case .address: "address"
        case .fault: "fault"
        case .sqlState: "sqlState"
        case .host: "host"
        case .history: "history"
        case .epoch: "epoch"
        case .fingerprint: "fingerprint"
        case .fingerprintBefore: "fingerprintBefore"
        case .quarantined: "quarantined"
        case .schedule: "schedule"
        case .suppressed: "suppressed"
        }
    }

    /// The field's value. Durations are in whole milliseconds.
    public var value: Value {
        switch self {
        case .peer(let text), .feedback(let text), .attempt(let text), .reason(let text), .address(let text),
            .sqlState(let text), .host(let text), .history(let text), .fingerprint(let text),
            .fingerprintBefore(let text), .schedule(let text):
            .text(text)
        case .effect(let effect): .text("\(effect)")
        case .fault(let reason): .text(reason.rawValue)
        case .session(let number), .number(let number), .position(let number), .records(let number),
            .epoch(let number), .quarantined(let number):
            .number(number)
        case .seq(let seq): .number(seq.value)
        case .failures(let count): .number(UInt64(count))
        case .bytes(let count), .effects(let count), .suppressed(let count): .number(UInt64(max(0, count)))
        case .retryIn(let duration), .duration(let duration):
            .number(UInt64(max(0, duration.wholeNanoseconds / 1_000_000)))
        }
    }
}
