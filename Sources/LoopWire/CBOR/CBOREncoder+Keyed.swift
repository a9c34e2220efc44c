/// The entries of a map with text keys, in any order: sealing sorts them.
struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let core: EncodingCore
    let node: Int32
    let serial: UInt32

    var codingPath: [any CodingKey] { core.codingPath(of: Int(node), serial) }

    @inline(__always)
    private func put(_ key: Key, _ write: (EncodingCore) throws -> Void) throws {
        try core.check(Int(node), serial, .map)
        let start = core.log.count
        core.log.text(key.stringValue)
        let keyLength = core.log.count - start
        try write(core)
        core.addEntry(Int(node), start: start, keyLength: keyLength, child: -1)
    }

    func encodeNil(forKey key: Key) throws { try put(key) { $0.log.byte(0xF6) } }
    func encode(_ value: Bool, forKey key: Key) throws { try put(key) { $0.log.byte(value ? 0xF5 : 0xF4) } }
    func encode(_ value: String, forKey key: Key) throws { try put(key) { $0.log.text(value) } }
    func encode(_ value: Double, forKey key: Key) throws { try put(key) { $0.log.float(value) } }
    func encode(_ value: Float, forKey key: Key) throws { try put(key) { $0.log.float(value) } }
    func encode(_ value: Int, forKey key: Key) throws { try put(key) { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int8, forKey key: Key) throws { try put(key) { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int16, forKey key: Key) throws { try put(key) { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int32, forKey key: Key) throws { try put(key) { $0.log.signed(Int64(value)) } }
    func encode(_ value: Int64, forKey key: Key) throws { try put(key) { $0.log.signed(value) } }
    func encode(_ value: UInt, forKey key: Key) throws { try put(key) { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt8, forKey key: Key) throws { try put(key) { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt16, forKey key: Key) throws { try put(key) { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt32, forKey key: Key) throws { try put(key) { $0.log.head(0, UInt64(value)) } }
    func encode(_ value: UInt64, forKey key: Key) throws { try put(key) { $0.log.head(0, value) } }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try core.check(Int(node), serial, .map)
        let start = core.log.count
        core.log.text(key.stringValue)
        let keyLength = core.log.count - start
        do {
            try core.encode(value, in: Int(node), keyStartOrIndex: start, keyLength: keyLength)
        } catch {
            core.log.count = start
            throw error
        }
        core.addEntry(Int(node), start: start, keyLength: keyLength, child: -1)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        child(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { child("super") }

    func superEncoder(forKey key: Key) -> any Encoder { child(key.stringValue) }

    private func child(_ key: String) -> CBOREncoder {
        guard core.isLive(Int(node), serial), core.nodes[Int(node)].kind == .map else {
            return core.strayEncoder
        }
        let start = core.log.count
        core.log.text(key)
        let keyLength = core.log.count - start
        let child = core.newNode(
            parent: Int(node), keyStartOrIndex: start, keyLength: keyLength, depth: core.innerDepth(of: Int(node)))
        core.addEntry(Int(node), start: start, keyLength: keyLength, child: child)
        return CBOREncoder(core: core, node: child)
    }
}
