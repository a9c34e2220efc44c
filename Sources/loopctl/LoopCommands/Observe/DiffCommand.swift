import CBOR
import Linux
import LoopNode
import LoopWire

/// `loopctl diff` shows how two states of a loop differ.
enum DiffCommand {
    static let old = Positional("SEQ", JournalOptions.seq, help: "the seq of the first state")
    static let new = Positional(
        optional: "SEQ2", JournalOptions.seq, help: "the seq of the second state; without it the newest")

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
        func states(_ seqs: [Int?]) throws -> [ShownValue?] {
            var missing: [StateSelectionError] = []
            let values = try seqs.map { seq -> ShownValue? in
                let answer = try reducer.ask(.state(at: seq.map { UInt64($0) }, part: section), \.state)
                do {
                    return try ShownValue(document: part.bytes(of: answer.bytes))
                } catch let error as StateSelectionError {
                    missing.append(error)
                    return nil
                }
            }
            if missing.count == seqs.count, let error = missing.last { throw AdministrationError.refused("\(error)") }
            return values
        }
        let values = try states([arguments[old], arguments[new]])
        let differences = ShownValue.differences(values[0], values[1], at: "")
        if arguments[JournalOptions.json] {
            try StandardOutput.line("[\(differences.map(\.json).joined(separator: ","))]")
        } else {
            try StandardOutput.line(
                differences.isEmpty ? "no difference" : differences.map(\.text).joined(separator: "\n"))
        }
        return 0
    }
}

/// A value of a state that is shown, of any type.
enum ShownValue: Decodable, Equatable {
    case map([String: ShownValue])
    case list([ShownValue])
    /// Anything else, as JSON.
    case scalar(String)

    /// A part that differs. A part that one of the states does not have is nil there.
    struct Difference: Equatable {
        var path: String
        var old: String?
        var new: String?
    }

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int?
        init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
        init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
    }

    /// - Parameter document: an encoded state, or a part of one. It is read as the JSON that `state` prints.
    init(document: [UInt8]) throws {
        self = try CBOR.decode(ShownValue.self, from: CBOR.fromJSON(text: CBOR.json(document)))
    }

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Key.self) {
            var values: [String: ShownValue] = [:]
            for key in container.allKeys {
                values[key.stringValue] = try container.decode(ShownValue.self, forKey: key)
            }
            self = .map(values)
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [ShownValue] = []
            while !container.isAtEnd { values.append(try container.decode(ShownValue.self)) }
            self = .list(values)
        } else {
            self = .scalar(try Self.scalar(decoder.singleValueContainer()))
        }
    }

    private static func scalar(_ container: any SingleValueDecodingContainer) throws -> String {
        if container.decodeNil() { return "null" }
        if let value = try? container.decode(Bool.self) { return "\(value)" }
        if let value = try? container.decode(Int64.self) { return "\(value)" }
        if let value = try? container.decode(UInt64.self) { return "\(value)" }
        if let value = try? container.decode(Double.self) { return JSONText.document(try CBOR.encode(value)) }
        return JSONText.quoted(try container.decode(String.self))
    }

    /// The value as JSON on one line, with the keys of maps in order.
    var json: String {
        switch self {
        case .map(let values):
            let fields = values.sorted { $0.key < $1.key }.map { ($0.key, Optional($0.value.json)) }
            return JSONText.object(fields)
        case .list(let values): return "[\(values.map(\.json).joined(separator: ","))]"
        case .scalar(let text): return text
        }
    }

    /// The parts that differ, in the order of their paths.
    func differences(to other: ShownValue, at path: String = "") -> [Difference] {
        if self == other { return [] }
        switch (self, other) {
        case (.map(let old), .map(let new)):
            return Set(old.keys).union(new.keys).sorted().flatMap { key in
                Self.differences(old[key], new[key], at: path + StatePath.step(key, isFirst: path.isEmpty))
            }
        case (.list(let old), .list(let new)):
            return (0..<max(old.count, new.count)).flatMap { index in
                Self.differences(
                    index < old.count ? old[index] : nil, index < new.count ? new[index] : nil, at: "\(path)[\(index)]")
            }
        default: return [Difference(path: path, old: json, new: other.json)]
        }
    }

    /// The parts that differ between two values, of which one may not exist.
    static func differences(_ old: ShownValue?, _ new: ShownValue?, at path: String) -> [Difference] {
        guard let old, let new else { return [Difference(path: path, old: old?.json, new: new?.json)] }
        return old.differences(to: new, at: path)
    }
}

extension ShownValue.Difference {
    /// The two values on a line each, for people.
    var text: String {
        let lines = [("-", old), ("+", new)].compactMap { sign, value in
            value.map { "\(sign) \(path.isEmpty ? "" : path + ": ")\(JSONText.onOneLine($0))" }
        }
        return lines.joined(separator: "\n")
    }

    /// The difference as a JSON document. A value that does not exist is left out.
    var json: String { JSONText.object([("path", JSONText.quoted(path)), ("old", old), ("new", new)]) }
}
