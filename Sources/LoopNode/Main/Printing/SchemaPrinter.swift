import CBOR
package import LoopWire

/// Writes what a loop's events, requests and state look like, for people or as a JSON document.
package struct SchemaPrinter: Sendable {
    private let isJSON: Bool

    package init(isJSON: Bool) { self.isJSON = isJSON }

    /// Returns the text, without the last newline.
    package func text(for schema: LoopSchema) -> String {
        isJSON ? json(schema) : lines(schema).joined(separator: "\n")
    }

    private func lines(_ schema: LoopSchema) -> [String] {
        var lines = ["loop \(schema.loop), schema \(schema.schema)", "", "events"]
        lines += Self.alternatives(schema.event).map { "  \($0)" }
        lines += schema.eventExamples.map { "  example: \(JSONText.document($0))" }
        if schema.eventExamples.isEmpty {
            lines.append("  the definition gives no examples of events (static var examples)")
        }
        lines += ["", "state", "  \(schema.state.text)", "  at first: \(JSONText.document(schema.initialState))"]
        if !schema.requests.isEmpty { lines += ["", "requests"] }
        for request in schema.requests {
            lines.append("  \(request.feedback) (\(request.placement)): \(request.shape?.text ?? "not encoded")")
            if let example = request.example { lines.append("    example: \(JSONText.document(example))") }
        }
        let gaps = Self.gaps(schema)
        if !gaps.isEmpty { lines += ["", "not known"] + gaps.map { "  \($0)" } }
        return lines
    }

    /// Returns the cases of an event, one a line.
    private static func alternatives(_ shape: TypeShape) -> [String] {
        guard case .cases(let name, let cases, let isComplete) = shape else { return [shape.text] }
        return cases.map { TypeShape.cases(name: name, cases: [$0], isComplete: true).text }
            + (isComplete ? [] : ["…"])
    }

    private static func gaps(_ schema: LoopSchema) -> [String] {
        var seen: Set<String> = []
        return ([schema.event, schema.state] + schema.requests.compactMap(\.shape)).flatMap(\.gaps).filter {
            seen.insert($0).inserted
        }
    }

    private func json(_ schema: LoopSchema) -> String {
        JSONText.object([
            ("loop", JSONText.quoted(schema.loop)), ("schema", "\(schema.schema)"),
            ("events", Self.array(Self.alternatives(schema.event).map(JSONText.quoted))),
            ("eventExamples", Self.array(schema.eventExamples.map(JSONText.document))),
            ("state", JSONText.quoted(schema.state.text)),
            ("initialState", JSONText.document(schema.initialState)),
            (
                "requests",
                Self.array(
                    schema.requests.map { request in
                        JSONText.object([
                            ("feedback", JSONText.quoted(request.feedback)),
                            ("placement", JSONText.quoted(request.placement)),
                            ("shape", request.shape.map { JSONText.quoted($0.text) }),
                            ("example", request.example.map(JSONText.document)),
                        ])
                    })
            ), ("notKnown", Self.array(Self.gaps(schema).map(JSONText.quoted))),
        ])
    }

    private static func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }
}
