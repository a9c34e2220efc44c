/// Where an event came from: the answer to `origin`.
package struct EventOrigin: Codable, Equatable, Sendable {
    /// The event's record.
    package var event: HistoryRecord
    /// The first 8 hexadecimal digits of the ID of the peer that sent it. Nil if no peer did, or if the record that opened the
    /// peer's session was trimmed.
    package var peer: String?
    /// The name of the peer's key, or the key itself if it is not admitted any more. Nil if the peer had none.
    package var key: String?
    /// The feedback of the effect that sent it, or nil if no effect did.
    package var feedback: String?
    /// The event whose transition asked for that effect. Nil if no effect sent it, if the initial state asked for the effect, or
    /// if the event was trimmed.
    package var cause: HistoryRecord?

    /// Creates the origin of an event that no peer and no effect sent.
    package init(event: HistoryRecord) { self.event = event }
}

/// A transition that changed a part of the state: an entry of the answer to `changes`.
package struct PartChange: Codable, Equatable, Sendable {
    /// The event of the transition.
    package var event: HistoryRecord
    /// The part after it, as an encoded document. Empty if the part did not exist then, or if there is no room for it in the 4 MiB
    /// of an answer, after the values listed before it.
    package var value: [UInt8]
    /// The size of the value in bytes, even if it is not included. 0 if the part did not exist.
    package var valueBytes: Int

    /// Creates a change to a value that is included.
    package init(event: HistoryRecord, value: [UInt8]) {
        self.event = event
        self.value = value
        valueBytes = value.count
    }
}
