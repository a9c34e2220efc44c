import CBOR
import LoopCore
package import LoopWire

extension HistoryRecord {
    /// The record on one line, without a newline.
    ///
    /// For people: `2026-01-31T13:05:09.120Z  seq 9  event  effect 0.7.1  {"add":{"_0":5}}`. A record without a time has a dash
    /// instead. As JSON: an object of the record's fields, with the event as a nested document.
    package func line(isJSON: Bool) -> String { isJSON ? json : text }

    private var text: String {
        var parts = [time.map { WallTime(milliseconds: $0).text } ?? Self.noTime]
        parts.append("seq \(seq)")
        parts.append(kind)
        if let effect {
            parts.append("effect \(effect)" + (attempt.map { " \(Self.words(for: $0))" } ?? ""))
        }
        // An event of an effect names its effect; its session matters only for the outcome of an entry.
        if let session, effect == nil || kind != "event" {
            parts.append("session \(session)" + (number.map { " number \($0)" } ?? ""))
        }
        if let note { parts.append(JSONText.onOneLine(note)) }
        if let retryAt { parts.append("not before \(WallTime(milliseconds: retryAt).text)") }
        if let event {
            parts.append((try? CBOR.json(event)) ?? "\(event.count) bytes that cannot be read")
        }
        return parts.joined(separator: "  ")
    }

    /// Returns an attempt in words, from the form `epoch/count` that documents have.
    static func words(for attempt: String) -> String {
        let numbers = attempt.split(separator: "/")
        return numbers.count == 2 ? "attempt \(numbers[1]) of epoch \(numbers[0])" : "attempt \(attempt)"
    }

    private var json: String {
        JSONText.object([
            ("position", "\(position)"), ("seq", "\(seq)"), ("kind", JSONText.quoted(kind)),
            ("time", time.map { JSONText.quoted(WallTime(milliseconds: $0).text) }),
            ("session", session.map { "\($0)" }), ("number", number.map { "\($0)" }),
            ("effect", effect.map(JSONText.quoted)), ("attempt", attempt.map(JSONText.quoted)),
            ("note", note.map(JSONText.quoted)),
            ("retryAt", retryAt.map { JSONText.quoted(WallTime(milliseconds: $0).text) }),
            ("event", event.map(JSONText.document)),
        ])
    }

    private static let noTime = String(repeating: " ", count: 23) + "-"
}
