import CBOR
import LoopCore
import LoopNode
import LoopWire

/// Writes quarantined events, for people or as JSON documents.
struct QuarantinePrinter {
    let isJSON: Bool

    /// All events, without their bytes.
    func list(_ events: [QuarantinedEvent]) -> String {
        if isJSON { return "[\(events.map { JSONText.object(fields($0)) }.joined(separator: ","))]" }
        if events.isEmpty { return "no event is set aside" }
        let rows = events.map { event in
            [
                "\(event.id)", WallTime(milliseconds: event.time).text, "\(event.session)", "\(event.number)",
                event.effect ?? "-", "\(event.crashes)", event.phase,
            ]
        }
        return StatusTable.table(
            ["ID", "TIME", "SESSION", "NUMBER", "EFFECT", "CRASHES", "WHILE"], rows, left: [1, 4, 6])
    }

    /// One quarantined event with its bytes: as JSON, and in the diagnostic notation of CBOR, which also shows what JSON cannot
    /// express.
    func whole(_ event: QuarantinedEvent) -> String {
        let diagnostic = try? CBOR.diagnose(event.event)
        if isJSON {
            return JSONText.object(
                fields(event) + [
                    ("event", JSONText.document(event.event)), ("diagnostic", diagnostic.map(JSONText.quoted)),
                    ("bytes", JSONText.quoted(JSONText.hexadecimal(event.event))),
                ])
        }
        let sender = event.effect.map { ", of the effect \($0)" } ?? ""
        var lines = [
            "event \(event.id), set aside at \(WallTime(milliseconds: event.time).text)",
            "number \(event.number) of session \(event.session)\(sender)",
            "ended the process \(event.crashes == 1 ? "once" : "\(event.crashes) times"), while: \(event.phase)",
        ]
        lines.append("JSON: " + ((try? CBOR.json(event.event)) ?? "none, the bytes are no CBOR"))
        if let diagnostic {
            lines.append("CBOR: \(diagnostic)")
        } else {
            lines.append("bytes: \(JSONText.hexadecimal(event.event))")
        }
        return lines.joined(separator: "\n")
    }

    private func fields(_ event: QuarantinedEvent) -> [(name: String, value: String?)] {
        [
            ("id", "\(event.id)"), ("time", JSONText.quoted(WallTime(milliseconds: event.time).text)),
            ("session", "\(event.session)"), ("number", "\(event.number)"),
            ("effect", event.effect.map(JSONText.quoted)), ("phase", JSONText.quoted(event.phase)),
            ("crashes", "\(event.crashes)"),
        ]
    }
}
