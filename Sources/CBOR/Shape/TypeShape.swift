/// What the documents of a type look like, as far as the type's own decoding shows it.
///
/// It is found by a decoder that notes what a type asks for (``TypeProbe``), so that it is right for types that decode
/// themselves in their own way too. What does not show is said to be unknown.
public indirect enum TypeShape: Codable, Equatable, Sendable {
    /// One item, by the name of the type that reads it: `Int`, `String`, `Bool`, …; `bytes` for `[UInt8]`.
    case value(String)
    /// One of these items, of the type of this name.
    case oneOf(name: String, values: [String])
    /// Null, or what follows.
    case optional(TypeShape)
    /// An array.
    case array(TypeShape)
    /// A map with any keys.
    case map(key: TypeShape, value: TypeShape)
    /// A map with these keys; more, if it is not complete.
    case object(name: String, fields: [Field], isComplete: Bool)
    /// A map with one of these keys: an enum, as the compiler derives its coding. There may be more cases, unless the list is
    /// complete.
    case cases(name: String, cases: [Field], isComplete: Bool)
    /// The type of this name, inside itself.
    case same(name: String)
    /// Nothing is known, for this reason.
    case unknown(name: String, why: String)

    /// One key of a map.
    public struct Field: Codable, Equatable, Sendable {
        /// The key.
        public var name: String
        /// What stands there.
        public var shape: TypeShape
        /// Whether the key may be absent.
        public var isOptional: Bool

        /// Creates a field from its parts.
        public init(_ name: String, _ shape: TypeShape, isOptional: Bool = false) {
            self.name = name
            self.shape = shape
            self.isOptional = isOptional
        }
    }
}

extension TypeShape {
    /// The shape in one line, as JSON with types in place of values: `{"id": Int, "note"?: String}`. `…` stands for what is not
    /// known.
    public var text: String {
        switch self {
        case .value(let name): name
        case .oneOf(_, let values): values.joined(separator: " | ")
        case .optional(let shape): "\(shape.text) or null"
        case .array(let shape): "[\(shape.text)]"
        case .map(let key, let value): "{\(key.text): \(value.text)}"
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
    public var gaps: [String] {
        var gaps: [String] = []
        collect(into: &gaps)
        var seen: Set<String> = []
        return gaps.filter { seen.insert($0).inserted }
    }

    private func collect(into gaps: inout [String]) {
        switch self {
        case .value, .oneOf, .same: break
        case .optional(let shape), .array(let shape): shape.collect(into: &gaps)
        case .map(let key, let value):
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

    /// What two looks at the same type have shown.
    func merged(with other: TypeShape) -> TypeShape {
        switch (self, other) {
        case (.unknown, _): other
        case (_, .unknown), (_, .same): self
        case (.same, _): other
        case (.optional(let own), .optional(let others)): .optional(own.merged(with: others))
        case (.array(let own), .array(let others)): .array(own.merged(with: others))
        case (.map(let key, let value), .map(let otherKey, let otherValue)):
            .map(key: key.merged(with: otherKey), value: value.merged(with: otherValue))
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
