import CBOR
import Linux
package import LoopWire

extension LoopSchema {
    /// The forms in which a schema is printed.
    private enum Form: String, CaseIterable, Sendable {
        case text
        case jsonSchema = "json-schema"
    }

    private static let form = Option(
        "format", .choice(Form.allCases.map(\.rawValue)), default: Form.text.rawValue,
        help: "text for people, or a JSON Schema (2020-12) for programs", environment: .none)
    private static let check = Option(
        optional: "check", .path("FILE"),
        help: "print nothing, and exit with 1 if this file is not the JSON Schema of the loop", environment: .none)

    /// The options of commands that print a schema.
    package static let output = OptionGroup("Output", [form, check])

    /// Prints what a loop's events, requests and state look like, or compares it with a file, as the arguments say.
    /// - Returns: the code to exit with.
    /// - Throws: `NodeError` if the file cannot be read, or `OutputError`.
    package func print(_ arguments: ParsedArguments) throws -> Int32 {
        let schema = JSONSchema.text(self)
        guard let file = arguments[Self.check] else {
            try StandardOutput.line(arguments[Self.form] == Form.text.rawValue ? lines.joined(separator: "\n") : schema)
            return 0
        }
        let old = String(decoding: try FileSystem.bytes(of: file), as: UTF8.self).split(separator: "\n")
        let new = schema.split(separator: "\n")
        guard
            let place = (0..<max(old.count, new.count)).first(where: {
                $0 >= old.count || $0 >= new.count || old[$0] != new[$0]
            })
        else { return 0 }
        func line(_ lines: [Substring]) -> String {
            let line = place < lines.count ? lines[place].drop { $0 == " " } : "(nothing: it ends before this line)"
            return JSONText.onOneLine(String(line), 200)
        }
        StandardError.line(
            """
            \(file) is not the schema of \(loop). Line \(place + 1) of the file, and of the schema:
              \(line(old))
              \(line(new))
            If the loop is right, write the file again with --format json-schema.
            """)
        return 1
    }

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

    /// What is not known, one line each.
    var gaps: [String] {
        var seen: Set<String> = []
        let shapes =
            [event, state] + requests.compactMap(\.shape) + (answer.map { [$0] } ?? []) + (sections ?? []).map(\.shape)
        return shapes.flatMap(\.gaps).filter {
            seen.insert($0).inserted
        }
    }
}
