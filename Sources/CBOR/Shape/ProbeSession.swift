/// What a probe has learnt about types, and its notes about the present document. It belongs to one thread.
final class ProbeSession {
    /// Any text key.
    struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The reason why a type without a document cannot be read further.
    enum Stop: Error {
        /// There is no known value of this type.
        case noValue(String)
    }

    // The known shapes of types.
    private var shapes: [ObjectIdentifier: TypeShape] = [:]
    /// A value of each type that was read.
    private var samples: [ObjectIdentifier: Any] = [:]
    private var inProgress: Set<ObjectIdentifier> = []
    /// The types that list their keys and were tried with each.
    private var casesTried: Set<ObjectIdentifier> = []

    // Notes about the present document.
    private var unknown: [String] = []
    /// Maps in which the type that reads all keys knows none, by their position.
    private var caseless: [String: Caseless] = [:]
    /// The last key that was read, and the type of its value.
    private var asked = (key: "", type: "")
    /// The innermost type that could not be read.
    private var failed: ObjectIdentifier?

    /// A map in which a type that reads all keys found none or several.
    struct Caseless {
        var keys: [String]
        /// Names that the type has and that resemble the key.
        var similar: [String]
    }

    private static var unknownMax: Int { 100 }

    /// Begins another document.
    func begin() {
        (unknown, caseless, asked, failed) = ([], [:], ("", ""), nil)
    }

    // MARK: Notes

    static func text(_ path: [CBORPath.Step]) -> String { CBORPath.text(path) }

    func note(unknown keys: [String], at path: [CBORPath.Step]) {
        for key in keys where unknown.count < Self.unknownMax {
            unknown.append(Self.text(path + [CBORPath.Step(stringValue: key)]))
        }
    }

    func note(_ map: Caseless, at path: [CBORPath.Step]) { caseless[Self.text(path)] = map }

    func note(asked key: String, _ type: Any.Type) { asked = (key, Self.name(type)) }

    func unknownKeys() -> [String] { unknown }

    /// A type's name in Swift.
    static func name(_ type: Any.Type) -> String { "\(type)" }

    // MARK: Reading

    /// Reads a value, or makes one up if there is no document, and notes what its type reads.
    /// - Parameter base: the decoder of the document, or nil without one.
    func read<T: Decodable>(
        _ type: T.Type, from base: (any Decoder)?, at path: [CBORPath.Step]
    ) throws -> (value: T, shape: TypeShape) {
        if let scalar = type as? any CBORScalar.Type {
            guard let value = try base.map({ try T(from: $0) }) ?? (scalar.probeValue as? T) else {
                throw Stop.noValue(Self.name(type))
            }
            return (value, .value(Self.name(type)))
        }
        if let collection = type as? any ProbedCollection.Type {
            let (value, shape) = try collection.probe(self, base, path)
            guard let value = value as? T else { throw Stop.noValue(Self.name(type)) }
            return (value, shape)
        }
        return try readOther(type, from: base, at: path)
    }

    private func readOther<T: Decodable>(
        _ type: T.Type, from base: (any Decoder)?, at path: [CBORPath.Step]
    ) throws -> (value: T, shape: TypeShape) {
        let id = ObjectIdentifier(type)
        let isOutermost = inProgress.insert(id).inserted
        defer { if isOutermost { inProgress.remove(id) } }
        if base == nil {
            if let sample = samples[id] as? T, let shape = shapes[id] { return (sample, shape) }
            guard isOutermost else { throw Stop.noValue(Self.name(type)) }
        }
        let node = ProbeNode()
        do {
            let value = try readOrTryCases(type, from: base, node, at: path)
            let shape = note(node, of: type, isRead: true)
            samples[id] = value
            return (value, isOutermost ? shape : .same(name: Self.name(type)))
        } catch {
            if base == nil, let value = Self.firstCase(of: type) {
                return (value, note(node, of: type, isRead: true))
            }
            if failed == nil { failed = id }
            if base == nil || !node.listedKeys.isEmpty { note(node, of: type, isRead: false) }
            throw error
        }
    }

    /// Reads a value. The first time, a type that lists its keys and reads all of them is also tried with each, without a document.
    private func readOrTryCases<T: Decodable>(
        _ type: T.Type, from base: (any Decoder)?, _ node: ProbeNode, at path: [CBORPath.Step]
    ) throws -> T {
        let result = Result { try T(from: ProbeDecoder(session: self, base: base, node: node, path: path)) }
        guard !node.listedKeys.isEmpty, casesTried.insert(ObjectIdentifier(type)).inserted else {
            return try result.get()
        }
        var made: T?
        let notes = (unknown, caseless, asked, failed)
        for key in node.listedKeys.indices {
            node.keyToGive = key
            let value = try? T(from: ProbeDecoder(session: self, base: nil, node: node, path: path))
            made = made ?? value
        }
        (unknown, caseless, asked, failed) = notes
        if base == nil, let made { return made }
        return try result.get()
    }

    /// The shape of a type, as it was learnt, or else from a probe without a document.
    func shape<T: Decodable>(of type: T.Type) -> TypeShape {
        let id = ObjectIdentifier(type)
        if inProgress.contains(id) { return .same(name: Self.name(type)) }
        if let known = shapes[id] { return known }
        do {
            return try read(type, from: nil, at: []).shape
        } catch {
            return shapes[id]
                ?? .unknown(name: Self.name(type), why: "it could not be looked into without an example")
        }
    }

    @discardableResult
    private func note<T>(_ node: ProbeNode, of type: T.Type, isRead: Bool) -> TypeShape {
        let id = ObjectIdentifier(type)
        var shape = node.shape(named: Self.name(type), isRead: isRead)
        if let values = Self.rawValues(of: type) { shape = .oneOf(name: Self.name(type), values: values) }
        if let known = shapes[id] { shape = known.merged(with: shape) }
        shapes[id] = shape
        return shape
    }

    // MARK: Enums that list their cases

    private static func firstCase<T>(of type: T.Type) -> T? {
        func first<Cases: CaseIterable>(_ cases: Cases.Type) -> T? { cases.allCases.first as? T }
        return (type as? any CaseIterable.Type).flatMap { first($0) }
    }

    /// The raw values of a type that lists all of them.
    private static func rawValues<T>(of type: T.Type) -> [String]? {
        func values<Cases: CaseIterable>(_ cases: Cases.Type) -> [String]? {
            let raw = cases.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValueText }
            return raw.isEmpty || raw.count > 100 ? nil : raw
        }
        return (type as? any CaseIterable.Type).flatMap { values($0) }
    }

    // MARK: Errors

    /// The error of the document, as text for people.
    func text(of error: any Error) -> String {
        let general = WireError(decoding: error)
        let known = failed.flatMap { shapes[$0] }
        switch general {
        case .keyMissing(let path, let key):
            let others = unknown.filter { $0.hasPrefix(path == "the top level" ? "" : path) }.prefix(5)
            let what = asked.key == key && !asked.type.isEmpty ? " (\(asked.type))" : ""
            return "at \(path): the key \"\(key)\"\(what) is missing"
                + (others.isEmpty ? "" : "; these keys are not known: \(others.joined(separator: ", "))")
        case .typeMismatch(let path, let expected, _):
            guard let map = caseless[path] else { return general.description + Self.cases(known) }
            return Self.text(map, path, expected) + Self.cases(known)
        case .refused(let path, let why):
            if case .oneOf(let name, let values)? = known {
                return "at \(path): \(why); \(name) is one of \(values.joined(separator: ", "))"
            }
            return caseless[path].map { Self.text($0, path, "") + Self.cases(known) } ?? general.description
        default: return general.description
        }
    }

    private static func text(_ map: Caseless, _ path: String, _ type: String) -> String {
        let of = type.isEmpty ? "" : " of \(type)"
        switch map.keys.count {
        case 0: return "at \(path): a case\(of) is an object of one entry, and this one is empty"
        case 1:
            let similar = map.similar.map { "\"\($0)\"" }.joined(separator: " or ")
            return "at \(path): no such case\(of): \"\(CBORPath.shortened(map.keys[0]))\""
                + (similar.isEmpty ? "" : "; there is \(similar)")
        default:
            let names = map.keys.prefix(5).map(CBORPath.shortened).joined(separator: ", ")
            return "at \(path): a case\(of) is an object of one entry, and this one has \(map.keys.count): \(names)"
        }
    }

    private static func cases(_ shape: TypeShape?) -> String {
        guard case .cases(let name, let cases, let isComplete)? = shape, !cases.isEmpty else { return "" }
        return "; \(isComplete ? "the cases" : "known cases") of \(name): \(cases.map(\.name).joined(separator: ", "))"
    }
}

extension RawRepresentable {
    fileprivate var rawValueText: String { rawValue is String ? "\"\(rawValue)\"" : "\(rawValue)" }
}

extension CBORScalar {
    /// Some value, for a probe without a document.
    static var probeValue: Any {
        func zero<Number: Numeric>(_ type: Number.Type) -> Any { Number.zero }
        if let number = self as? any Numeric.Type { return zero(number) }
        return self is Bool.Type ? false : ""
    }
}
