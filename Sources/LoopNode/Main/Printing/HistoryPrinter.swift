import CBOR
import LoopCore
package import LoopWire

/// Writes a journal's records as lines, for people or as JSON documents.
///
/// For people: `2026-01-31T13:05:09.120Z  seq 9  event  effect 0.7.1  {"add":{"_0":5}}`. A record without a time has a dash
/// instead. As JSON: an object of the record's fields, with the event as a nested document.
package struct HistoryPrinter: Sendable {
    private let isJSON: Bool

    package init(isJSON: Bool) { self.isJSON = isJSON }

    /// Returns one record, without a newline.
    package func line(for record: HistoryRecord) -> String { isJSON ? json(record) : text(record) }

    private func text(_ record: HistoryRecord) -> String {
        var parts = [record.time.map { WallTime(milliseconds: $0).text } ?? Self.noTime]
        parts.append("seq \(record.seq)")
        parts.append(record.kind)
        if let effect = record.effect {
            parts.append("effect \(effect)" + (record.attempt.map { " \(Self.words(for: $0))" } ?? ""))
        }
        // An event of an effect names its effect; its session matters only for the outcome of an entry.
        if let session = record.session, record.effect == nil || record.kind != "event" {
            parts.append("session \(session)" + (record.number.map { " number \($0)" } ?? ""))
        }
        if let note = record.note { parts.append(JSONText.onOneLine(note)) }
        if let retryAt = record.retryAt { parts.append("not before \(WallTime(milliseconds: retryAt).text)") }
        if let event = record.event {
            parts.append((try? CBOR.json(event)) ?? "\(event.count) bytes that cannot be read")
        }
        return parts.joined(separator: "  ")
    }

    /// Returns an attempt in words, from the form `epoch/count` that documents have.
    static func words(for attempt: String) -> String {
        let numbers = attempt.split(separator: "/")
        return numbers.count == 2 ? "attempt \(numbers[1]) of epoch \(numbers[0])" : "attempt \(attempt)"
    }

    private func json(_ record: HistoryRecord) -> String {
        JSONText.object([
            ("position", "\(record.position)"), ("seq", "\(record.seq)"), ("kind", JSONText.quoted(record.kind)),
            ("time", record.time.map { JSONText.quoted(WallTime(milliseconds: $0).text) }),
            ("session", record.session.map { "\($0)" }), ("number", record.number.map { "\($0)" }),
            ("effect", record.effect.map(JSONText.quoted)), ("attempt", record.attempt.map(JSONText.quoted)),
            ("note", record.note.map(JSONText.quoted)),
            ("retryAt", record.retryAt.map { JSONText.quoted(WallTime(milliseconds: $0).text) }),
            ("event", record.event.map(JSONText.document)),
        ])
    }

    private static let noTime = String(repeating: " ", count: 23) + "-"
}
