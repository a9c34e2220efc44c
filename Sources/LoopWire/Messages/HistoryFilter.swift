internal import CBOR

/// Which records of a journal are listed: those that have all of these. Nil selects all.
package struct HistoryFilter: Codable, Equatable, Hashable, Sendable {
    /// The kind of the records, such as "event".
    package var kind: String?
    /// The case of the event type.
    package var event: String?
    /// The session that the records are about.
    package var session: UInt64?
    /// The effect that the records are about, as `feedback.seq.index`.
    package var effect: String?
    /// A text that the event has as JSON, or the note of the record, in any case of letters.
    package var text: String?
    /// How many are listed, at most 2000.
    package var max: Int

    /// Creates a filter from its parts.
    package init(
        kind: String? = nil, event: String? = nil, session: UInt64? = nil, effect: String? = nil, text: String? = nil,
        max: Int = 2000
    ) {
        self.kind = kind
        self.event = event
        self.session = session
        self.effect = effect
        self.text = text
        self.max = max
    }

    /// Whether it selects a record.
    package func selects(_ record: HistoryRecord) -> Bool {
        if let kind, record.kind != kind { return false }
        if let session, record.session != session { return false }
        if let effect, record.effect != effect, !Self.names(effect, in: record.note) { return false }
        if event == nil, text == nil { return true }
        let json = record.event.flatMap { try? CBOR.json($0) } ?? ""
        if let event, !json.hasPrefix("{\"\(event)\":"), json != "\"\(event)\"" { return false }
        guard let text = text?.lowercased() else { return true }
        return json.lowercased().contains(text) || record.note?.lowercased().contains(text) == true
    }

    /// Whether a note names an effect: several grants are one record, and an operator's action is a text.
    private static func names(_ effect: String, in note: String?) -> Bool {
        note?.split { $0 == " " || $0 == "," }.contains { $0 == effect } ?? false
    }
}
