import CBOR
import Linux
import LoopNode
import LoopWire

/// `loopctl diff` shows how two states of a loop differ.
enum DiffCommand {
    static let old = Option(positional: "SEQ", JournalOptions.seq, help: "the seq of the first state")
    static let new = Option(
        optionalPositional: "SEQ2", JournalOptions.seq, help: "the seq of the second state; without it the newest")

    static let subcommand = Subcommand(
        asking: Command(
            "diff", abstract: "Show how the states after two transitions differ.",
            discussion: """
                Each line is a path in the state, with "-" and the value in the first state, or "+" and the value in the second. \
                Elements of arrays are compared by their number.

                Exit codes: 0 printed, 1 refused, 2 no answer, 64 wrong usage.
                """,
            groups: [
                JournalOptions.group,
                OptionGroup("Output", [StateCommand.section, StateCommand.path, JournalOptions.json]),
            ],
            positionals: [old, new]),
        isLong: true
    ) { arguments, reducer in
        let section = arguments[StateCommand.section].map { StateSelection(section: $0) }
        let part = StateSelection(path: arguments[StateCommand.path] ?? [])
        // A part that only one of the states has is a difference, and no mistake.
        func states(_ seqs: [Int?]) throws -> [[UInt8]?] {
            var missing: [StateSelectionError] = []
            let values = try seqs.map { seq -> [UInt8]? in
                let answer = try reducer.ask(.state(at: seq.map { UInt64($0) }, part: section), \.state)
                do {
                    return try part.bytes(of: answer.bytes)
                } catch let error as StateSelectionError {
                    missing.append(error)
                    return nil
                }
            }
            if missing.count == seqs.count, let error = missing.last { throw AdministrationError.refused("\(error)") }
            return values
        }
        let values = try states([arguments[old], arguments[new]])
        let differences = try CBORDifference.between(values[0], values[1])
        if arguments[JournalOptions.json] {
            try StandardOutput.line("[\(differences.map(\.json).joined(separator: ","))]")
        } else {
            try StandardOutput.line(
                differences.isEmpty ? "no difference" : differences.map(\.text).joined(separator: "\n"))
        }
        return 0
    }
}

extension CBORDifference {
    /// All parts that differ between two documents, of which one may not exist.
    static func between(_ old: [UInt8]?, _ new: [UInt8]?) throws(WireError) -> [CBORDifference] {
        guard let old, let new else { return [CBORDifference(path: [], old: old, new: new)] }
        return try CBOR.differences(from: old, to: new, max: .max).differences
    }

    /// The two values on a line each, for people.
    var text: String {
        let place = path.isEmpty ? "" : StatePath.text(of: path) + ": "
        return [("-", old), ("+", new)].compactMap { sign, value in
            value.map { "\(sign) \(place)\(JSONText.onOneLine(JSONText.document($0)))" }
        }.joined(separator: "\n")
    }

    /// The difference as a JSON document. A value that does not exist is left out.
    var json: String {
        JSONText.object([
            ("path", JSONText.quoted(StatePath.text(of: path))), ("old", old.map(JSONText.document)),
            ("new", new.map(JSONText.document)),
        ])
    }
}
