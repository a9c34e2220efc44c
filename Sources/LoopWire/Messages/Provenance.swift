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
    /// What the transition changed, or nil if that was not asked for.
    package var step: StateStep?

    /// Creates the origin of an event that no peer and no effect sent.
    package init(event: HistoryRecord) { self.event = event }
}

/// What one transition changed.
package struct StateStep: Codable, Equatable, Sendable {
    /// A part of the state that differs. A value is empty if the part did not exist, or if it is larger than 4 KiB.
    package struct Change: Codable, Equatable, Sendable {
        /// Keys of maps as in JSON, and indices of array elements, from 0.
        package var path: [String]
        /// The encoded value before, and its size in bytes.
        package var old: [UInt8]
        package var oldBytes: Int
        /// The encoded value after, and its size in bytes.
        package var new: [UInt8]
        package var newBytes: Int

        /// Creates a change from the values, of which one may not exist.
        package init(path: [String], old: [UInt8]?, new: [UInt8]?) {
            func shown(_ value: [UInt8]?) -> [UInt8] { value.map { $0.count > 4096 ? [] : $0 } ?? [] }
            self.path = path
            (self.old, oldBytes) = (shown(old), old?.count ?? 0)
            (self.new, newBytes) = (shown(new), new?.count ?? 0)
        }
    }

    /// An effect that the transition started, updated or cancelled.
    package struct Effect: Codable, Equatable, Sendable {
        /// What happened to the effect. The raw values are stable names for programs.
        package enum Kind: String, Codable, Sendable {
            case started, updated, cancelled
        }

        /// The ID of the effect: `feedback.seq.index`.
        package var effect: String
        /// The name of the feedback.
        package var feedback: String
        package var kind: Kind
        /// The encoded request, before a cancellation. Empty if it is larger than 4 KiB.
        package var request: [UInt8]

        /// Creates an entry from its parts.
        package init(effect: String, feedback: String, kind: Kind, request: [UInt8]) {
            self.effect = effect
            self.feedback = feedback
            self.kind = kind
            self.request = request.count > 4096 ? [] : request
        }
    }

    /// How many changes, and how many effects, are listed.
    package static let countMax = 200

    /// The parts of the state that differ, in the order of the state after the transition.
    package var changes: [Change]
    /// Whether there are more changes.
    package var areChangesCut: Bool
    /// The effects in the order in which they were changed.
    package var effects: [Effect]
    /// How many more effects there are.
    package var effectsLeftOut: Int

    /// Creates a step from its parts.
    package init(changes: [Change], areChangesCut: Bool, effects: [Effect], effectsLeftOut: Int) {
        self.changes = changes
        self.areChangesCut = areChangesCut
        self.effects = effects
        self.effectsLeftOut = effectsLeftOut
    }
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
