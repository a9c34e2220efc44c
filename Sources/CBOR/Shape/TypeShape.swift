/// What the documents of a type look like, as far as the type's own decoding shows it.
///
/// A decoder that notes what a type reads finds it (``TypeProbe``). So it is right for types with their own `init(from:)` too. What
/// does not show is `unknown`.
package indirect enum TypeShape: Codable, Equatable, Sendable {
    /// One item, by the name of the type that reads it: `Int`, `String`, `Bool`, …; `bytes` for `[UInt8]`.
    case value(String)
    /// One of these items. The type has this name.
    case oneOf(name: String, values: [String])
    /// Null, or the shape.
    case optional(TypeShape)
    /// An array.
    case array(TypeShape)
    /// A map with any keys.
    case map(key: TypeShape, value: TypeShape)
    /// An array of alternating keys and values: a `TrackedDictionary`, of which deltas have the changed entries alone.
    case tracked(key: TypeShape, value: TypeShape)
    /// A map with these keys. If it is not complete, it may have more.
    case object(name: String, fields: [Field], isComplete: Bool)
    /// A map with one of these keys: an enum with derived coding. If the list is not complete, there may be more cases.
    case cases(name: String, cases: [Field], isComplete: Bool)
    /// The type of this name, inside itself.
    case same(name: String)
    /// Nothing is known, for this reason.
    case unknown(name: String, why: String)

    /// One key of a map.
    package struct Field: Codable, Equatable, Sendable {
        /// The key.
        package var name: String
        /// The shape of its value.
        package var shape: TypeShape
        /// Whether the key may be absent.
        package var isOptional: Bool

        /// Creates a field from its parts.
        package init(_ name: String, _ shape: TypeShape, isOptional: Bool = false) {
            self.name = name
            self.shape = shape
            self.isOptional = isOptional
        }
    }
}

extension TypeShape {
    /// The shape in one line, as JSON with types instead of values: `{"id": Int, "note"?: String}`. `…` is for anything that is not
    /// known.
    package var text: String {
        switch self {
        case .value(let name): name
        case .oneOf(_, let values): values.joined(separator: " | ")
        case .optional(let shape): "\(shape.text) or null"
        case .array(let shape): "[\(shape.text)]"
        case .map(let key, let value): "{\(key.text): \(value.text)}"
        case .tracked(let key, let value): "[\(key.text): \(value.text)]"
        case .object(_, let fields, let isComplete): Self.text(fields, isComplete)
        case .cases(_, let cases, let isComplete):
            (cases.map { "{\"\($0.name)\": \($0.shape.text)}" } + (isComplete ? [] : ["…"])).joined(separator: " | ")
        case .same(let name): name
        case .unknown(let name, _): "\(name)…"
        }
    }

    private static func text(_ fields: [Field], _ isComplete: Bool) -> String {
        let parts = fields.map { "\"\($0.name)\"\($0.isOptional ? "?" : ""): \($0.shape.text)" }
        return "{\((parts + (isComplete ? [] : ["…"])).joined(separator: ", "))}"
    }

    /// What is not known, one line each, without repetition: "Order: its cases are known from examples only".
    package var gaps: [String] {
        var gaps: [String] = []
        collect(into: &gaps)
        var seen: Set<String> = []
        return gaps.filter { seen.insert($0).inserted }
    }

    private func collect(into gaps: inout [String]) {
        switch self {
        case .value, .oneOf, .same: break
        case .optional(let shape), .array(let shape): shape.collect(into: &gaps)
        case .map(let key, let value), .tracked(let key, let value):
            key.collect(into: &gaps)
            value.collect(into: &gaps)
        case .object(let name, let fields, let isComplete):
            if !isComplete { gaps.append("\(name): the keys after \(fields.last?.name ?? "the first") are not known") }
            for field in fields { field.shape.collect(into: &gaps) }
        case .cases(let name, let cases, let isComplete):
            if !isComplete {
                gaps.append(
                    cases.isEmpty
                        ? "\(name): none of its cases is known"
                        : "\(name): there may be more cases than those of the examples")
            }
            for one in cases { one.shape.collect(into: &gaps) }
        case .unknown(let name, let why): gaps.append("\(name): \(why)")
        }
    }

    /// The combined result of two probes of one type.
    func merged(with other: TypeShape) -> TypeShape {
        switch (self, other) {
        case (.unknown, _): other
        case (_, .unknown), (_, .same): self
        case (.same, _): other
        case (.optional(let own), .optional(let others)): .optional(own.merged(with: others))
        case (.array(let own), .array(let others)): .array(own.merged(with: others))
        case (.map(let key, let value), .map(let otherKey, let otherValue)):
            .map(key: key.merged(with: otherKey), value: value.merged(with: otherValue))
        case (.tracked(let key, let value), .tracked(let otherKey, let otherValue)):
            .tracked(key: key.merged(with: otherKey), value: value.merged(with: otherValue))
        case (.object(let name, let fields, let isComplete), .object(_, let others, let isOtherComplete)):
            .object(
                name: name, fields: Self.merged(fields, others), isComplete: isComplete || isOtherComplete)
        case (.cases(let name, let cases, let isComplete), .cases(_, let others, let isOtherComplete)):
            .cases(name: name, cases: Self.merged(cases, others), isComplete: isComplete || isOtherComplete)
        default: self
        }
    }

    private static func merged(_ fields: [Field], _ others: [Field]) -> [Field] {
        var fields = fields
        for other in others {
            if let place = fields.firstIndex(where: { $0.name == other.name }) {
                fields[place].shape = fields[place].shape.merged(with: other.shape)
                fields[place].isOptional = fields[place].isOptional || other.isOptional
            } else {
                fields.append(other)
            }
        }
        return fields
    }
}
