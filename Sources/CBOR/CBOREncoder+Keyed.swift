/// The entries of a map with text keys, in any order. Sealing sorts them.
struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodingPlace

    private var core: EncodingCore {
        @inline(__always) get { place.core }
    }

    var codingPath: [any CodingKey] { place.handle.codingPath }

    func encodeNil(forKey key: Key) throws {
        if place.put(KeyOrdinal.of(key), simple: 0xF6) { return }
        try place.put(key) { _ in core.log.byte(0xF6) }
    }

    @inline(__always)
    func encode<Scalar: CBORScalar>(_ value: Scalar, forKey key: Key) throws {
        if value.put(at: place, KeyOrdinal.of(key)) { return }
        try place.put(key) { _ in value.write(to: &core.log) }
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if try place.put(KeyOrdinal.of(key), value: value) { return }
        try place.put(key) { try core.encodeAside(value, at: $0) }
    }

    func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        place.child { place.writeKey(key) }.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        place.child { place.writeKey(key) }.unkeyedContainer()
    }

    func superEncoder() -> any Encoder { place.child { core.log.text("super") } }

    func superEncoder(forKey key: Key) -> any Encoder { place.child { place.writeKey(key) } }
}
