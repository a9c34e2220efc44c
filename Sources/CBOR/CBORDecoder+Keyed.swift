// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its
// serial number.

/// The entries of a map with text keys, which are read in any order.
struct CBORKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let place: KeyedPlace

    init(_ place: KeyedPlace) { self.place = place }

    private var core: DecodingCore {
        @inline(__always) get { place.core }
    }

    var codingPath: [any CodingKey] { core.codingPath(of: place.item) }

    /// The text keys of the map for which `Key` has a value.
    var allKeys: [Key] { place.allKeys() }

    func contains(_ key: Key) -> Bool { place.value(key) != nil }

    @inline(__always)
    private func find(_ key: Key) throws -> CBORIndex.Item {
        if let found = place.value(key) { return found }
        throw missing(key)
    }

    /// The value for a key, unless it is absent or null.
    @inline(__always)
    private func present(_ key: Key) throws -> CBORIndex.Item? {
        guard let found = place.value(key), try !core.isNull(found) else { return nil }
        return found
    }

    @inline(never)
    private func missing(_ key: any CodingKey) -> any Error {
        DecodingError.keyNotFound(
            key,
            DecodingError.Context(codingPath: codingPath, debugDescription: "the key \(key.stringValue) is missing"))
    }

    func decodeNil(forKey key: Key) throws -> Bool { try core.isNull(try find(key)) }

    @inline(__always)
    func decode<Scalar: CBORScalar>(_ type: Scalar.Type, forKey key: Key) throws -> Scalar {
        try Scalar.read(core, try find(key))
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try core.decode(type, at: try find(key)) }

    // Each of these needs one look-up. The defaults need three.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key).map(core.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key).map(core.string) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(key).map(core.double) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try core.integer(type, $0) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try present(key).map { try core.integer(type, $0) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let found = place.value(key) else { return nil }
        // A null for a field that is an optional of an optional is the inner nil. An absent key is the outer one.
        if try core.isNull(found), !(type is any CBOROptional.Type) { return nil }
        return try core.decode(type, at: found)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        try CBORDecoder(core: core, item: try find(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try CBORUnkeyedDecoding(core: core, item: try find(key))
    }

    func superDecoder() throws -> any Decoder {
        guard let found = core.find("super", in: place.item) else { throw missing(CBORPath.Step(stringValue: "super")) }
        return CBORDecoder(core: core, item: found)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        CBORDecoder(core: core, item: try find(key))
    }
}
