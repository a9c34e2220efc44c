import CBOR
import LoopWire

extension WhatIf.Step {
    /// The event, and a line for each part that it changes and each effect.
    var text: String {
        var lines = ["seq \(seq)  \(JSONText.document(event))"]
        for part in change.changes {
            let path = part.path.isEmpty ? "" : StatePath.text(of: part.path) + ": "
            for (sign, value, size) in [("-", part.old, part.oldBytes), ("+", part.new, part.newBytes)] where size > 0 {
                let shown = value.isEmpty ? "\(size) bytes" : JSONText.onOneLine(JSONText.document(value))
                lines.append("  \(sign) \(path)\(shown)")
            }
        }
        if change.changes.isEmpty { lines.append("  the state is as before") }
        if change.areChangesCut { lines.append("  and more changes") }
        for effect in change.effects {
            lines.append(
                "  \(effect.kind.rawValue) \(effect.effect) of \(effect.feedback): "
                    + JSONText.onOneLine(effect.request.isEmpty ? "…" : JSONText.document(effect.request)))
        }
        if change.effectsLeftOut > 0 { lines.append("  and \(change.effectsLeftOut) more effects") }
        if let outcome { lines.append("  the loop ends: \(JSONText.onOneLine(outcome.text))") }
        return lines.joined(separator: "\n")
    }

    /// A document on one line. A value that is too large has its size in its place.
    var json: String {
        func shown(_ value: [UInt8], _ size: Int) -> String? {
            size == 0 ? nil : value.isEmpty ? JSONText.object([("bytes", "\(size)")]) : JSONText.document(value)
        }
        func list(_ texts: [String]) -> String { "[\(texts.joined(separator: ","))]" }
        let changes = change.changes.map {
            JSONText.object([
                ("path", JSONText.quoted(StatePath.text(of: $0.path))), ("old", shown($0.old, $0.oldBytes)),
                ("new", shown($0.new, $0.newBytes)),
            ])
        }
        let effects = change.effects.map {
            JSONText.object([
                ("effect", JSONText.quoted($0.effect)), ("feedback", JSONText.quoted($0.feedback)),
                ("kind", JSONText.quoted($0.kind.rawValue)), ("request", shown($0.request, $0.request.count)),
            ])
        }
        return JSONText.object([
            ("seq", "\(seq)"), ("event", JSONText.document(event)), ("changes", list(changes)),
            ("changesLeftOut", change.areChangesCut ? "true" : nil), ("effects", list(effects)),
            ("effectsLeftOut", change.effectsLeftOut > 0 ? "\(change.effectsLeftOut)" : nil),
            ("outcome", outcome.map { JSONText.quoted($0.text) }),
        ])
    }
}

extension WhatIf {
    /// A file of Swift with a test of the events, the states after them, and how many effects the states ask for.
    /// - Parameter make: the code that makes the definition, or nil for one without arguments.
    func testFile(making make: String?) -> String {
        let names = type.split(separator: ".", maxSplits: 1).map(String.init)
        let name = names.last ?? type
        var lines = ["// swift-format-ignore-file", "import LoopCore", "import LoopTesting", "import Testing", ""]
        if names.count > 1 { lines += ["@testable import \(names[0])", ""] }
        lines += [
            "/// Made by what-if --test, from the journal of the loop \(loop).",
            "@Test func `The loop \(loop.filter { $0.isLetter || $0.isNumber }) goes on from seq \(seq)`() throws {",
            "    typealias Values = TestLoop<\(name).State, \(name).Event>",
            "    try TestLoop.run(",
            "        \(make ?? "\(name)()"), mode: .selective,",
            "        from: Values.decode(\(Self.literal(state))),",
            "        after: Seq(\(seq)), seed: \(seed), wallTime: WallTime(milliseconds: \(time.milliseconds))",
            "    ) { loop in",
        ]
        for step in steps {
            lines.append("        try loop.send(Values.decode(\(Self.literal(step.event)))) {")
            lines.append("            $0 = try Values.decode(\(Self.literal(step.state)))")
            lines.append("        }")
            for (feedback, count) in step.counts.sorted(by: { $0.key < $1.key }) {
                lines.append("        #expect(loop.effects(\(Self.literal(feedback))).count == \(count))")
            }
        }
        return (lines + ["    }", "}"]).joined(separator: "\n")
    }

    /// An encoded value as a literal of its JSON.
    private static func literal(_ bytes: [UInt8]) -> String { literal(JSONText.document(bytes)) }

    /// A raw string with enough number signs for the text, which has no line break.
    private static func literal(_ text: String) -> String {
        var signs = "#"
        while text.contains("\"\(signs)") || text.contains("\\\(signs)") { signs += "#" }
        return "\(signs)\"\(text)\"\(signs)"
    }
}
