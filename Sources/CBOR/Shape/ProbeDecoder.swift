/// What a type has read at one position.
final class ProbeNode {
    struct Field {
        let name: String
        var isOptional: Bool
        /// The shape of the value, or nil if the type only checked whether the key is there.
        var shape: (() -> TypeShape)?
    }

    private enum Kind {
        case nothing
        case keyed
        case unkeyed
        case single
    }

    private var kind = Kind.nothing
    private var fields: [Field] = []
    private var elements: [TypeShape] = []
    private var inner: TypeShape?
    private var asksForAllKeys = false
    private var takesAnyKey = false
    /// The keys that a type lists and asks for.
    private(set) var listedKeys: [String] = []
    /// Which of the listed keys a type gets that asks for all, without a document.
    var keyToGive = 0

    func beginKeyed<Key: CodingKey>(_ type: Key.Type) {
        kind = .keyed
        takesAnyKey = Key(stringValue: "a key that no type has") != nil
    }

    func beginUnkeyed() { kind = .unkeyed }

    func noteAllKeys(listed: [String]) {
        asksForAllKeys = true
        listedKeys = listed
    }

    func note(_ name: String, isOptional: Bool, _ shape: (() -> TypeShape)?) {
        if let place = fields.firstIndex(where: { $0.name == name }) {
            fields[place].isOptional = fields[place].isOptional || isOptional
            fields[place].shape = fields[place].shape ?? shape
        } else {
            fields.append(Field(name: name, isOptional: isOptional, shape: shape))
        }
    }

    func note(element: TypeShape) { elements.append(element) }

    func note(single: TypeShape) {
        kind = .single
        inner = single
    }

    /// - Parameter isRead: whether the type was read. If not, it may need more than it has read so far.
    func shape(named name: String, isRead: Bool) -> TypeShape {
        switch kind {
        case .nothing:
            return isRead ? .object(name: name, fields: [], isComplete: true) : .unknown(name: name, why: Self.failed)
        case .single: return inner ?? .unknown(name: name, why: Self.failed)
        case .unkeyed:
            guard let first = elements.first else {
                return .array(.unknown(name: "element of \(name)", why: "no element was seen"))
            }
            return .array(elements.dropFirst().reduce(first) { $0.merged(with: $1) })
        case .keyed:
            let fields = fields.map { field in
                TypeShape.Field(
                    field.name, field.shape?() ?? .unknown(name: field.name, why: "it was never there"),
                    isOptional: field.isOptional)
            }
            if asksForAllKeys, takesAnyKey {
                let values = fields.map(\.shape)
                let value = values.dropFirst().reduce(values.first ?? .unknown(name: "value", why: "none was seen")) {
                    $0.merged(with: $1)
                }
                return .map(key: .value("String"), value: value)
            }
            if asksForAllKeys {
                let listed = listedKeys.compactMap { key in fields.first { $0.name == key } }
                let areAll = !listed.isEmpty && listed.count == listedKeys.count
                return .cases(name: name, cases: areAll ? listed : fields, isComplete: areAll)
            }
            return .object(name: name, fields: fields, isComplete: isRead)
        }
    }

    private static var failed: String { "it does not read what a probe gives it; an example would show it" }
}

/// The decoder that a type gets, with or without a document.
struct ProbeDecoder: Decoder {
    let session: ProbeSession
    let base: (any Decoder)?
    let node: ProbeNode
    let path: [CBORPath.Step]

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { base?.userInfo ?? [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try ProbeKeyed(session, base, node, path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        node.beginUnkeyed()
        return ProbeUnkeyed(session: session, base: try base?.unkeyedContainer(), node: node, path: path)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        ProbeSingle(session: session, decoder: base, node: node, path: path)
    }
}

/// An item read as one value.
struct ProbeSingle: SingleValueDecodingContainer {
    let session: ProbeSession
    let decoder: (any Decoder)?
    let node: ProbeNode
    let path: [CBORPath.Step]

    var codingPath: [any CodingKey] { decoder?.codingPath ?? [] }

    func decodeNil() -> Bool { (try? decoder?.singleValueContainer().decodeNil()) ?? false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (value, shape) = try session.read(type, from: decoder, at: path)
        node.note(single: shape)
        return value
    }
}

/// The elements of an array. Without a document there are none.
struct ProbeUnkeyed: UnkeyedDecodingContainer {
    let session: ProbeSession
    var base: (any UnkeyedDecodingContainer)?
    let node: ProbeNode
    let path: [CBORPath.Step]

    var codingPath: [any CodingKey] { base?.codingPath ?? [] }
    var count: Int? { base?.count ?? 0 }
    var isAtEnd: Bool { base?.isAtEnd ?? true }
    var currentIndex: Int { base?.currentIndex ?? 0 }

    private mutating func next() throws -> (decoder: any Decoder, path: [CBORPath.Step]) {
        let place = path + [CBORPath.Step(index: currentIndex)]
        guard let decoder = try base?.superDecoder() else { throw ProbeSession.Stop.noValue("element") }
        return (decoder, place)
    }

    mutating func decodeNil() throws -> Bool { try base?.decodeNil() ?? false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (decoder, place) = try next()
        let (value, shape) = try session.read(type, from: decoder, at: place)
        node.note(element: shape)
        return value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let (decoder, place) = try next()
        return KeyedDecodingContainer(try ProbeKeyed(session, decoder, ProbeNode(), place))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let (decoder, place) = try next()
        return ProbeUnkeyed(session: session, base: try decoder.unkeyedContainer(), node: ProbeNode(), path: place)
    }

    mutating func superDecoder() throws -> any Decoder {
        let (decoder, place) = try next()
        return ProbeDecoder(session: session, base: decoder, node: ProbeNode(), path: place)
    }
}
