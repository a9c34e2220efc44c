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

    /// Writes a known key and what `write` writes behind it, at most `room` bytes; `write` says where that ends.
    ///
    /// This is what encoding a struct mostly consists of: one look at the node, one at the log, one entry.
    @inline(__always)
    private func put(
        _ key: KnownKey, room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    ) throws {
        let place = key.keys.pointee.boxes + Int(key.box)
        let number = Int(place.pointee.node)
        try check(number, place.pointee.serial, .map)
        log.reserve(room &+ 24)
        if entryCount == state.pointee.entryCapacity { growEntries() }
        let name = key.keys.pointee.names + Int(key.ordinal)
        let (base, start) = (log.base, log.count)
        name.pointee.store(at: base + start)
        let end = write(base + (start &+ Int(name.pointee.length))) - base
        log.count = end
        let prefix = name.pointee.prefix
        let entries = entries
        let index = entryCount
        (entries + index).initialize(
            to: Entry(
                prefix: prefix, start: start, end: end, keyLength: Int32(name.pointee.length), child: -1, next: -1,
                ordinal: name.pointee.ordinal))
        entryCount = index &+ 1
        let node = nodes + number
        let last = Int(node.pointee.last)
        if last >= 0 {
            entries[last].next = Int32(truncatingIfNeeded: index)
            if entries[last].prefix >= prefix { node.pointee.isSorted = false }
            if node.pointee.keys != key.keys { node.pointee.isRanked = false }
        } else {
            node.pointee.first = Int32(truncatingIfNeeded: index)
            node.pointee.keys = key.keys
        }
        node.pointee.last = Int32(truncatingIfNeeded: index)
        node.pointee.count &+= 1
        if node.pointee.tail != start { node.pointee.isRun = false }
        node.pointee.tail = end
    }

    @inline(never)
    func put(_ key: KnownKey, simple value: UInt8) throws {
        try put(key, room: 1) {
            $0[0] = value
            return $0 + 1
        }
    }

    @inline(never)
    func put(_ key: KnownKey, signed value: Int64) throws {
        // The complement of a negative number is −1 − n, which is its argument.
        let sign = value >> 63
        try put(key, room: 9) {
            RawBuffer.head(at: $0, 0x20 & UInt8(truncatingIfNeeded: sign), UInt64(bitPattern: value ^ sign))
        }
    }

    @inline(never)
    func put(_ key: KnownKey, unsigned value: UInt64) throws {
        try put(key, room: 9) { RawBuffer.head(at: $0, 0, value) }
    }

    @inline(never)
    func put(_ key: KnownKey, float value: Double) throws {
        try put(key, room: 9) { RawBuffer.float(at: $0, value) }
    }

    @inline(never)
    func put(_ key: KnownKey, text value: String) throws {
        let isPut: Void? = try value.utf8.withContiguousStorageIfAvailable { try put(key, text: $0) }
        if isPut == nil {
            var value = value
            try value.withUTF8 { try put(key, text: $0) }
        }
    }

    @inline(__always)
    private func put(_ key: KnownKey, text utf8: UnsafeBufferPointer<UInt8>) throws {
        try put(key, room: utf8.count &+ 9) { place in
            let text = RawBuffer.head(at: place, 0x60, UInt64(utf8.count))
            if let start = utf8.baseAddress { RawBuffer.copy(short: start, to: text, utf8.count) }
            return text + utf8.count
        }
    }
}
