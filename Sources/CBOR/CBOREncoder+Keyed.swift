// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// The entries of a map with text keys, in any order: sealing sorts them.
struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let place: EncodingPlace

    init(_ place: EncodingPlace) { self.place = place }

    private var core: EncodingCore {
        @inline(__always) get { place.core }
    }

    var codingPath: [any CodingKey] { core.codingPath(of: place.node.number, place.node.serial) }

    /// Writes an entry: at once, where the key is known; else behind the key's text.
    @inline(__always)
    private func put(
        _ key: Key, atOnce: (UnsafePointer<EncodingPlace>, Int) -> Bool, _ write: (EncodingCore) -> Void
    ) throws {
        // A box holds this, so that its copy will do.
        if unsafe withUnsafePointer(to: place, { unsafe atOnce($0, KeyOrdinal.of(key)) }) { return }
        let (node, serial) = place.node
        try core.check(node, serial, .map)
        let start = core.log.count
        unsafe core.writeKey(key, place.keys)
        let keyLength = core.log.count - start
        write(core)
        core.addEntry(node, start: start, keyLength: keyLength, child: -1)
    }

    @inline(__always)
    private func put(simple value: UInt8, _ key: Key) throws {
        try unsafe put(key, atOnce: { unsafe EncodingCore.put($0, $1, simple: value) }, { $0.log.byte(value) })
    }

    @inline(__always)
    private func put(signed value: Int64, _ key: Key) throws {
        try unsafe put(key, atOnce: { unsafe EncodingCore.put($0, $1, signed: value) }, { $0.log.signed(value) })
    }

    @inline(__always)
    private func put(unsigned value: UInt64, _ key: Key) throws {
        try unsafe put(key, atOnce: { unsafe EncodingCore.put($0, $1, unsigned: value) }, { $0.log.head(0, value) })
    }

    func encodeNil(forKey key: Key) throws { try put(simple: 0xF6, key) }
    func encode(_ value: Bool, forKey key: Key) throws { try put(simple: value ? 0xF5 : 0xF4, key) }
    func encode(_ value: String, forKey key: Key) throws {
        try unsafe put(key, atOnce: { unsafe EncodingCore.put($0, $1, text: value) }, { $0.log.text(value) })
    }
    func encode(_ value: Double, forKey key: Key) throws {
        try unsafe put(key, atOnce: { unsafe EncodingCore.put($0, $1, float: value) }, { $0.log.float(value) })
    }
    func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }
    func encode(_ value: Int, forKey key: Key) throws { try put(signed: Int64(value), key) }
    func encode(_ value: Int8, forKey key: Key) throws { try put(signed: Int64(value), key) }
    func encode(_ value: Int16, forKey key: Key) throws { try put(signed: Int64(value), key) }
    func encode(_ value: Int32, forKey key: Key) throws { try put(signed: Int64(value), key) }
    func encode(_ value: Int64, forKey key: Key) throws { try put(signed: value, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try put(unsigned: UInt64(value), key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try put(unsigned: UInt64(value), key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try put(unsigned: UInt64(value), key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try put(unsigned: UInt64(value), key) }
    func encode(_ value: UInt64, forKey key: Key) throws { try put(unsigned: value, key) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        if try unsafe withUnsafePointer(
            to: place, { try unsafe EncodingCore.put($0, KeyOrdinal.of(key), value: value) })
        {
            return
        }
        let (node, serial) = place.node
        try core.check(node, serial, .map)
        let start = core.log.count
        unsafe core.writeKey(key, place.keys)
        let keyLength = core.log.count - start
        do {
            try core.encodeAside(value, in: node, keyStartOrIndex: start, keyLength: keyLength)
        } catch {
            core.log.count = start
            throw error
        }
        core.addEntry(node, start: start, keyLength: keyLength, child: -1)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        child { unsafe core.writeKey(key, place.keys) }.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child { unsafe core.writeKey(key, place.keys) }.unkeyedContainer()
    }

    func superEncoder() -> any Encoder { child { core.log.text("super") } }

    func superEncoder(forKey key: Key) -> any Encoder { child { unsafe core.writeKey(key, place.keys) } }

    /// Opens a node behind a key that `writeKey` writes.
    @inline(__always)
    private func child(_ writeKey: () -> Void) -> CBOREncoder {
        let (node, serial) = place.node
        guard core.isLive(node, serial), unsafe core.nodes[node].kind == .map else { return core.strayEncoder }
        let start = core.log.count
        writeKey()
        let keyLength = core.log.count - start
        let child = core.newNode(
            parent: node, keyStartOrIndex: start, keyLength: keyLength, depth: core.innerDepth(of: node))
        core.addEntry(node, start: start, keyLength: keyLength, child: child)
        return CBOREncoder(core: core, node: child)
    }
}
