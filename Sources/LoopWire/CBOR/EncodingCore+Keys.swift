/// Keyed containers, and keys that are known.
extension EncodingCore {
    /// A container for a node's entries, in a box that was used before if one is free.
    @inline(__always)
    func keyedContainer<Key: CodingKey>(
        _ type: Key.Type, _ node: Int32, _ serial: UInt32
    ) -> KeyedEncodingContainer<Key> {
        if let keys = state.pointee.keys.entry(type) {
            for number in 0..<keys.pointee.boxCount {
                let box = keys.pointee.boxes + number
                guard isKnownUniquelyReferenced(&box.pointee.object) else { continue }
                box.pointee.node = node
                box.pointee.serial = serial
                return keys.pointee.maker.container(KeyedEncodingContainer<Key>.self, &box.pointee.object)
            }
        }
        return newContainer(type, node, serial)
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(
        _ type: Key.Type, _ node: Int32, _ serial: UInt32
    ) -> KeyedEncodingContainer<Key> {
        let keys = state.pointee.keys.entry(type) ?? newKeys(type)
        if let keys, keys.pointee.boxCount < KeyedBox.boxesMax {
            let number = keys.pointee.boxCount
            let container = KeyedEncodingContainer(
                CBORKeyedEncoding<Key>(
                    core: self, keys: keys, box: Int32(number), ownNode: node, ownSerial: serial))
            if let object = KeyedBox.of(container) {
                (keys.pointee.boxes + number).initialize(
                    to: EncodingKeys.Box(object: object, node: node, serial: serial))
                keys.pointee.boxCount += 1
                return container
            }
        }
        return KeyedEncodingContainer(
            CBORKeyedEncoding<Key>(core: self, keys: keys, box: -1, ownNode: node, ownSerial: serial))
    }

    private func newKeys<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<EncodingKeys>? {
        let keys = EncodingKeys(type)
        if let place = state.pointee.keys.add(type, keys) { return place }
        keys.free()
        return nil
    }

    /// Writes a key and gives its ordinal, if it is known by one; else −1.
    @inline(__always)
    func writeKey<Key: CodingKey>(_ key: Key, _ keys: UnsafeMutablePointer<EncodingKeys>?) -> Int {
        if let keys, keys.pointee.isOrdinal {
            let ordinal = KeyOrdinal.of(key)
            if ordinal < KeyName.ordinalsMax {
                let name = keys.pointee.names + ordinal
                if name.pointee.length > 0 {
                    log.name(name)
                    return ordinal
                }
            }
        }
        return writeUnknown(key, keys)
    }

    @inline(never)
    private func writeUnknown<Key: CodingKey>(_ key: Key, _ keys: UnsafeMutablePointer<EncodingKeys>?) -> Int {
        let text = key.stringValue
        log.text(text)
        guard let keys, keys.pointee.isOrdinal else { return -1 }
        let ordinal = KeyOrdinal.of(key)
        guard ordinal < KeyName.ordinalsMax else { return -1 }
        keys.pointee.learn(text, ordinal: ordinal)
        return keys.pointee.names[ordinal].length > 0 ? ordinal : -1
    }

    /// Adds an entry whose key is known if its ordinal is not negative.
    @inline(__always)
    func addEntry(
        _ node: Int, start: Int, keyLength: Int, child: Int, _ keys: UnsafeMutablePointer<EncodingKeys>?, ordinal: Int
    ) {
        if ordinal >= 0, let keys {
            addEntry(node, start: start, child: child, keys, ordinal: ordinal)
        } else {
            addEntry(node, start: start, keyLength: keyLength, child: child)
        }
    }
}

/// Scalars behind known keys, without generic code.
extension EncodingCore {
    /// A key whose name is known, and the box of the container that it is written through.
    struct KnownKey {
        let keys: UnsafeMutablePointer<EncodingKeys>
        let box: Int32
        let ordinal: Int32
    }

    @inline(__always)
    private func put(_ key: KnownKey, _ write: () -> Void) throws {
        let place = key.keys.pointee.boxes + Int(key.box)
        let node = Int(place.pointee.node)
        try check(node, place.pointee.serial, .map)
        let start = log.count
        log.name(key.keys.pointee.names + Int(key.ordinal))
        write()
        addEntry(node, start: start, child: -1, key.keys, ordinal: Int(key.ordinal))
    }

    @inline(never)
    func put(_ key: KnownKey, simple value: UInt8) throws { try put(key) { log.byte(value) } }

    @inline(never)
    func put(_ key: KnownKey, signed value: Int64) throws { try put(key) { log.signed(value) } }

    @inline(never)
    func put(_ key: KnownKey, unsigned value: UInt64) throws { try put(key) { log.head(0, value) } }

    @inline(never)
    func put(_ key: KnownKey, float value: Double) throws { try put(key) { log.float(value) } }

    @inline(never)
    func put(_ key: KnownKey, text value: String) throws { try put(key) { log.text(value) } }
}
