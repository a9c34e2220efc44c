package import LoopCore
package import LoopWire

/// One value that an event of the log is about.
package struct LogField: Hashable, Sendable {
    /// The field's name: lower-case words without spaces. Durations end with `Ms`, for milliseconds.
    package let name: String
    /// The field's value. Durations are in whole milliseconds.
    package let value: Value

    /// A value as text, or as a number.
    package enum Value: Hashable, Sendable, CustomStringConvertible {
        /// Text for people, or a name. It may contain any character.
        case text(String)
        /// A count, a size, or a number of milliseconds.
        case number(UInt64)

        /// The text, or the decimal digits.
        package var description: String {
            switch self {
            case .text(let text): text
            case .number(let number): String(number)
            }
        }
    }

    private init(_ name: String, _ text: String) { (self.name, value) = (name, .text(text)) }

    private init(_ name: String, _ number: UInt64) { (self.name, value) = (name, .number(number)) }

    private static func milliseconds(_ duration: Duration) -> UInt64 {
        UInt64(max(0, duration.wholeMilliseconds))
    }

    /// The name of a peer, or its ID if it has no name.
    package static func peer(_ text: String) -> LogField { LogField("peer", text) }
    /// A peer's session.
    package static func session(_ number: UInt64) -> LogField { LogField("session", number) }
    /// The number of an entry in its session.
    package static func number(_ number: UInt64) -> LogField { LogField("number", number) }
    /// The name of a feedback.
    package static func feedback(_ text: String) -> LogField { LogField("feedback", text) }
    /// An effect.
    package static func effect(_ effect: EffectID) -> LogField { LogField("effect", "\(effect)") }
    /// An attempt of an effect, as `loopctl` shows it.
    package static func attempt(_ text: String) -> LogField { LogField("attempt", text) }
    /// How often an effect has failed.
    package static func failures(_ count: UInt32) -> LogField { LogField("failures", UInt64(count)) }
    /// How long until the effect is tried again.
    package static func retryIn(_ duration: Duration) -> LogField { LogField("retryInMs", milliseconds(duration)) }
    /// Why something happened or failed.
    package static func reason(_ text: String) -> LogField { LogField("reason", text) }
    /// The seq of a transition.
    package static func seq(_ seq: Seq) -> LogField { LogField("seq", seq.value) }
    /// The position of a record in the journal.
    package static func position(_ number: UInt64) -> LogField { LogField("position", number) }
    /// A number of records.
    package static func records(_ number: UInt64) -> LogField { LogField("records", number) }
    /// A size in bytes.
    package static func bytes(_ count: Int) -> LogField { LogField("bytes", UInt64(max(0, count))) }
    /// How long something took or lasted.
    package static func duration(_ duration: Duration) -> LogField { LogField("durationMs", milliseconds(duration)) }
    /// A number of effects.
    package static func effects(_ count: Int) -> LogField { LogField("effects", UInt64(max(0, count))) }
    /// An address.
    package static func address(_ text: String) -> LogField { LogField("address", text) }
    /// Why the journal cannot be used.
    package static func fault(_ reason: JournalFault.Reason) -> LogField { LogField("fault", reason.rawValue) }
    /// The SQLSTATE that a database has sent.
    package static func sqlState(_ text: String) -> LogField { LogField("sqlState", text) }
    /// A host of a database.
    package static func host(_ text: String) -> LogField { LogField("host", text) }
    /// The history of a journal.
    package static func history(_ text: String) -> LogField { LogField("history", text) }
    /// The number of an epoch.
    package static func epoch(_ number: UInt64) -> LogField { LogField("epoch", number) }
    /// A definition's fingerprint.
    package static func fingerprint(_ text: String) -> LogField { LogField("fingerprint", text) }
    /// The fingerprint of the previous definition.
    package static func fingerprintBefore(_ text: String) -> LogField { LogField("fingerprintBefore", text) }
    /// A quarantined event.
    package static func quarantined(_ number: UInt64) -> LogField { LogField("quarantined", number) }
    /// A schedule.
    package static func schedule(_ text: String) -> LogField { LogField("schedule", text) }
    /// How many events of the same kind were left out since the last one.
    package static func suppressed(_ count: Int) -> LogField { LogField("suppressed", UInt64(max(0, count))) }
}
