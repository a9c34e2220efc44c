/// The entries of a map with text keys, in any order: sealing sorts them.
struct CBORKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let core: EncodingCore
    /// What is known about `Key`; nil where there was no room for it.
    let keys: UnsafeMutablePointer<EncodingKeys>?
    /// Which of the kept boxes this is in, where the node is found then; −1 if it is in none and has its own.
    let box: Int32
    let ownNode: Int32
    let ownSerial: UInt32

    @inline(__always)
    private var place: (node: Int, serial: UInt32) {
        if box >= 0, let keys {
            let here = keys.pointee.boxes + Int(box)
            return (Int(here.pointee.node), here.pointee.serial)
        }
        return (Int(ownNode), ownSerial)
    }

    var codingPath: [any CodingKey] { core.codingPath(of: place.node, place.serial) }

    @inline(__always)
    private func put(_ key: Key, _ write: (EncodingCore) throws -> Void) throws {
        let (node, serial) = place
        try core.check(node, serial, .map)
        let start = core.log.count
        let ordinal = core.writeKey(key, keys)
        let keyLength = core.log.count - start
        try write(core)
        core.addEntry(node, start: start, keyLength: keyLength, child: -1, keys, ordinal: ordinal)
    }

    /// The key, where it is known: what is written behind it then needs no generic code.
    @inline(__always)
    private func known(_ key: Key) -> EncodingCore.KnownKey? {
        guard box >= 0, let keys else { return nil }
        let ordinal = KeyOrdinal.of(key)
        guard ordinal < KeyName.ordinalsMax, keys.pointee.known &>> UInt64(ordinal) & 1 != 0 else { return nil }
        return EncodingCore.KnownKey(keys: keys, box: box, ordinal: Int32(truncatingIfNeeded: ordinal))
    }

    @inline(__always)
    private func put(simple value: UInt8, _ key: Key) throws {
        if let known = known(key) { try core.put(known, simple: value) } else { try put(key) { $0.log.byte(value) } }
    }

    @inline(__always)
    private func put(signed value: Int64, _ key: Key) throws {
        if let known = known(key) { try core.put(known, signed: value) } else { try put(key) { $0.log.signed(value) } }
    }

    @inline(__always)
    private func put(unsigned value: UInt64, _ key: Key) throws {
        if let known = known(key) {
            try core.put(known, unsigned: value)
        } else {
            try put(key) { $0.log.head(0, value) }
        }
    }

    func encodeNil(forKey key: Key) throws { try put(simple: 0xF6, key) }
    func encode(_ value: Bool, forKey key: Key) throws { try put(simple: value ? 0xF5 : 0xF4, key) }
    func encode(_ value: String, forKey key: Key) throws {
        if let known = known(key) { try core.put(known, text: value) } else { try put(key) { $0.log.text(value) } }
    }
    func encode(_ value: Double, forKey key: Key) throws {
        if let known = known(key) { try core.put(known, float: value) } else { try put(key) { $0.log.float(value) } }
    }
    func encode(_ value: Float, forKey key: Key) throws { try put(key) { $0.log.float(value) } }
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
        let (node, serial) = place
        try core.check(node, serial, .map)
        let start = core.log.count
        let ordinal = core.writeKey(key, keys)
        let keyLength = core.log.count - start
        do {
            try core.encode(value, in: node, keyStartOrIndex: start, keyLength: keyLength)
        } catch {
            core.log.count = start
            throw error
        }
        core.addEntry(node, start: start, keyLength: keyLength, child: -1, keys, ordinal: ordinal)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        child { core.writeKey(key, keys) }.container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child { core.writeKey(key, keys) }.unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        child {
            core.log.text("super")
            return -1
        }
    }

    func superEncoder(forKey key: Key) -> any Encoder { child { core.writeKey(key, keys) } }

    /// Opens a node behind a key; `writeKey` writes the key and says its ordinal.
    @inline(__always)
    private func child(_ writeKey: () -> Int) -> CBOREncoder {
        let (node, serial) = place
        guard core.isLive(node, serial), core.nodes[node].kind == .map else { return core.strayEncoder }
        let start = core.log.count
        let ordinal = writeKey()
        let keyLength = core.log.count - start
        let child = core.newNode(
            parent: node, keyStartOrIndex: start, keyLength: keyLength, depth: core.innerDepth(of: node))
        core.addEntry(node, start: start, keyLength: keyLength, child: child, keys, ordinal: ordinal)
        return CBOREncoder(core: core, node: child)
    }
}
