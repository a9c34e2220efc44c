import CBOR
package import LoopWire

extension LoopSchema {
    /// What a loop's events, requests and state look like, for people or as a JSON document, without the last newline.
    package func text(isJSON: Bool) -> String { isJSON ? json : lines.joined(separator: "\n") }

    private var lines: [String] {
        var lines = ["loop \(loop), schema \(schema)", "", "events"]
        lines += Self.alternatives(event).map { "  \($0)" }
        lines += eventExamples.map { "  example: \(JSONText.document($0))" }
        if eventExamples.isEmpty {
            lines.append("  the definition gives no examples of events (static var examples)")
        }
        lines += ["", "state", "  \(state.text)", "  at first: \(JSONText.document(initialState))"]
        if !requests.isEmpty { lines += ["", "requests"] }
        for request in requests {
            lines.append("  \(request.feedback) (\(request.placement)): \(request.shape?.text ?? "not encoded")")
            if let example = request.example { lines.append("    example: \(JSONText.document(example))") }
        }
        let gaps = gaps
        if !gaps.isEmpty { lines += ["", "not known"] + gaps.map { "  \($0)" } }
        return lines
    }

    /// Returns the cases of an event, one a line.
    private static func alternatives(_ shape: TypeShape) -> [String] {
        guard case .cases(let name, let cases, let isComplete) = shape else { return [shape.text] }
        return cases.map { TypeShape.cases(name: name, cases: [$0], isComplete: true).text }
            + (isComplete ? [] : ["…"])
    }

    private var gaps: [String] {
        var seen: Set<String> = []
        return ([event, state] + requests.compactMap(\.shape)).flatMap(\.gaps).filter {
            seen.insert($0).inserted
        }
    }

    private var json: String {
        JSONText.object([
            ("loop", JSONText.quoted(loop)), ("schema", "\(schema)"),
            ("events", Self.array(Self.alternatives(event).map(JSONText.quoted))),
            ("eventExamples", Self.array(eventExamples.map(JSONText.document))),
            ("state", JSONText.quoted(state.text)),
            ("initialState", JSONText.document(initialState)),
            (
                "requests",
                Self.array(
                    requests.map { request in
                        JSONText.object([
                            ("feedback", JSONText.quoted(request.feedback)),
                            ("placement", JSONText.quoted(request.placement)),
                            ("shape", request.shape.map { JSONText.quoted($0.text) }),
                            ("example", request.example.map(JSONText.document)),
                        ])
                    })
            ), ("notKnown", Self.array(gaps.map(JSONText.quoted))),
        ])
    }

    private static func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }
}
