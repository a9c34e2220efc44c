// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// Keyed containers, and keys that are known.
extension EncodingCore {
    /// A container for a node's entries, in a box that was used before if one is free.
    @inline(__always)
    func keyedContainer<Key: CodingKey>(
        _ type: Key.Type, _ node: Int32, _ serial: UInt32
    ) -> KeyedEncodingContainer<Key> {
        if let (keys, box) = unsafe freeBox(type) {
            if isLive(Int(node), serial), unsafe nodes[Int(node)].kind == .unset {
                unsafe open(Int(node), keys, box)
            } else {
                open(Int(node), serial, as: .map)
                unsafe box.pointee.node = node
                unsafe box.pointee.serial = serial
                if unsafe box == state.pointee.quickBox, unsafe state.pointee.quickNode != Int(node) {
                    unsafe state.pointee.quickBox = nil
                }
            }
            return unsafe keys.pointee.maker.container(KeyedEncodingContainer<Key>.self, &box.pointee.object)
        }
        open(Int(node), serial, as: .map)
        return newContainer(type, node, serial)
    }

    /// A box for containers of this type of keys that nobody uses.
    @inline(__always)
    func freeBox<Key: CodingKey>(
        _ type: Key.Type
    ) -> (UnsafeMutablePointer<EncodingKeys>, UnsafeMutablePointer<EncodingKeys.Box>)? {
        guard let keys = unsafe state.pointee.keys.entry(type) else { return nil }
        for number in unsafe 0..<keys.pointee.boxCount {
            let box = unsafe keys.pointee.boxes + number
            if unsafe isKnownUniquelyReferenced(&box.pointee.object) { return unsafe (keys, box) }
        }
        return nil
    }

    /// Turns an unset node into a map that this box stands for, whose known keys may be written at once.
    @inline(__always)
    func open(_ node: Int, _ keys: UnsafeMutablePointer<EncodingKeys>, _ box: UnsafeMutablePointer<EncodingKeys.Box>) {
        let serial = unsafe nodes[node].serial
        unsafe box.pointee.node = Int32(truncatingIfNeeded: node)
        unsafe box.pointee.serial = serial
        if open(node, serial, as: .map), !hasFailed {
            unsafe beQuick(node, keys, box)
        } else if unsafe box == state.pointee.quickBox {
            unsafe state.pointee.quickBox = nil
        }
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(
        _ type: Key.Type, _ node: Int32, _ serial: UInt32
    ) -> KeyedEncodingContainer<Key> {
        let keys = unsafe state.pointee.keys.entry(type) ?? newKeys(type)
        if let keys = unsafe keys, unsafe keys.pointee.boxCount < KeptContainer.countMax {
            let box = unsafe keys.pointee.boxes + keys.pointee.boxCount
            let place = unsafe EncodingPlace(core: self, keys: keys, box: box, node: node, serial: serial)
            let container = KeyedEncodingContainer(CBORKeyedEncoding<Key>(place))
            if let object = KeptContainer.object(of: container) {
                unsafe box.initialize(to: EncodingKeys.Box(object: object, node: node, serial: serial))
                unsafe keys.pointee.boxCount += 1
                return container
            }
        }
        let place = unsafe EncodingPlace(core: self, keys: keys, box: nil, node: node, serial: serial)
        return KeyedEncodingContainer(CBORKeyedEncoding<Key>(place))
    }

    private func newKeys<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<EncodingKeys>? {
        let keys = EncodingKeys(type)
        if let place = unsafe state.pointee.keys.add(type, keys) { return unsafe place }
        keys.free()
        return nil
    }

    /// Writes a key.
    @inline(__always)
    func writeKey<Key: CodingKey>(_ key: Key, _ keys: UnsafeMutablePointer<EncodingKeys>?) {
        if let keys = unsafe keys, unsafe keys.pointee.isOrdinal {
            let ordinal = KeyOrdinal.of(key)
            if ordinal < KeyName.ordinalsMax {
                let name = unsafe keys.pointee.names + ordinal
                if unsafe name.pointee.length > 0 { return unsafe log.name(name) }
            }
        }
        unsafe writeUnknown(key, keys)
    }

    @inline(never)
    private func writeUnknown<Key: CodingKey>(_ key: Key, _ keys: UnsafeMutablePointer<EncodingKeys>?) {
        let text = key.stringValue
        log.text(text)
        guard let keys = unsafe keys, unsafe keys.pointee.isOrdinal else { return }
        let ordinal = KeyOrdinal.of(key)
        if ordinal < KeyName.ordinalsMax { unsafe keys.pointee.learn(text, ordinal: ordinal) }
    }
}

/// Values behind known keys, without generic code for the type of keys.
///
/// This is what encoding a struct mostly consists of: a key's bytes, the value's behind it, and a note where they are.
extension EncodingCore {
    /// Lets the known keys of a map that was just opened be written at once through this box.
    @inline(__always)
    private func beQuick(
        _ node: Int, _ keys: UnsafeMutablePointer<EncodingKeys>, _ box: UnsafeMutablePointer<EncodingKeys.Box>
    ) {
        let known = unsafe keys.pointee.known
        let spansMax = UInt64.bitWidth &- known.leadingZeroBitCount
        if unsafe state.pointee.spanCapacity &- state.pointee.spanCount < spansMax { growSpans(spansMax) }
        let owner = unsafe nodes + node
        unsafe owner.pointee.keys = unsafe keys
        unsafe owner.pointee.quickKeys = known
        unsafe owner.pointee.openKeys = known
        unsafe owner.pointee.spans = unsafe state.pointee.spanCount
        unsafe state.pointee.spanCount &+= spansMax
        unsafe state.pointee.quickBox = unsafe box
        unsafe state.pointee.quickNode = node
    }

    /// Writes a known key and what `write` writes behind it, at most `room` bytes; `write` says where that ends.
    /// - Returns: false, and nothing is written, where the key has to go the general way.
    @inline(__always)
    private static func put(
        _ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, room: Int,
        _ write: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let core = unsafe place.pointee.core
        guard let box = unsafe place.pointee.box, unsafe box == core.state.pointee.quickBox,
            let keys = unsafe place.pointee.keys,
            ordinal < KeyName.ordinalsMax
        else { return false }
        let node = unsafe core.nodes + core.state.pointee.quickNode
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ordinal)
        guard unsafe node.pointee.openKeys & bit != 0 else { return false }
        unsafe node.pointee.openKeys ^= bit
        core.log.reserve(room &+ 24)
        let name = unsafe keys.pointee.names + ordinal
        let (base, start) = unsafe (core.log.base, core.log.count)
        unsafe name.pointee.store(at: base + start)
        let end = unsafe write(base + (start &+ Int(name.pointee.length))) - base
        core.log.count = end
        unsafe core.state.pointee.spans[node.pointee.spans &+ ordinal] = Span(start: start, end: end)
        return true
    }

    @inline(never)
    static func put(_ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, simple value: UInt8) -> Bool {
        unsafe put(place, ordinal, room: 1) {
            unsafe $0[0] = value
            return unsafe $0 + 1
        }
    }

    @inline(never)
    static func put(_ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, signed value: Int64) -> Bool {
        // The complement of a negative number is −1 − n, which is its argument.
        let sign = value >> 63
        return unsafe put(place, ordinal, room: 9) {
            unsafe RawBuffer.head(at: $0, 0x20 & UInt8(truncatingIfNeeded: sign), UInt64(bitPattern: value ^ sign))
        }
    }

    @inline(never)
    static func put(_ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, unsigned value: UInt64) -> Bool {
        unsafe put(place, ordinal, room: 9) { unsafe RawBuffer.head(at: $0, 0, value) }
    }

    @inline(never)
    static func put(_ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, float value: Double) -> Bool {
        unsafe put(place, ordinal, room: 9) { unsafe RawBuffer.float(at: $0, value) }
    }

    @inline(never)
    static func put(_ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, text value: String) -> Bool {
        if let isPut = unsafe value.utf8.withContiguousStorageIfAvailable({ unsafe put(place, ordinal, text: $0) }) {
            return isPut
        }
        var value = value
        return value.withUTF8 { unsafe put(place, ordinal, text: $0) }
    }

    @inline(__always)
    private static func put(
        _ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, text utf8: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        unsafe put(place, ordinal, room: utf8.count &+ 9) { place in
            let text = unsafe RawBuffer.head(at: place, 0x60, UInt64(utf8.count))
            if let start = utf8.baseAddress { unsafe RawBuffer.copy(short: start, to: text, utf8.count) }
            return unsafe text + utf8.count
        }
    }

    /// The same for a value of any type; nothing is written if that throws.
    @inline(never)
    static func put<T: Encodable>(_ place: UnsafePointer<EncodingPlace>, _ ordinal: Int, value: T) throws -> Bool {
        let core = unsafe place.pointee.core
        guard let box = unsafe place.pointee.box, unsafe box == core.state.pointee.quickBox,
            let keys = unsafe place.pointee.keys,
            ordinal < KeyName.ordinalsMax
        else { return false }
        let node = unsafe core.state.pointee.quickNode
        let bit: UInt64 = 1 &<< UInt64(truncatingIfNeeded: ordinal)
        guard unsafe core.nodes[node].openKeys & bit != 0 else { return false }
        let name = unsafe keys.pointee.names + ordinal
        let start = core.log.count
        unsafe core.log.name(name)
        do {
            try unsafe core.encodeAside(value, in: node, keyStartOrIndex: start, keyLength: Int(name.pointee.length))
        } catch {
            core.log.count = start
            throw error
        }
        unsafe core.nodes[node].openKeys ^= bit
        unsafe core.state.pointee.spans[core.nodes[node].spans &+ ordinal] = Span(start: start, end: core.log.count)
        return true
    }

    /// Writes a value into a container; meanwhile no known key of one around it may be written. Every container that is given to
    /// `encode(to:)` writes values of any type through this.
    @inline(__always)
    func encodeAside<T: Encodable>(_ value: T, in node: Int, keyStartOrIndex: Int, keyLength: Int) throws {
        let (box, quickNode) = unsafe (state.pointee.quickBox, state.pointee.quickNode)
        unsafe state.pointee.quickBox = nil
        defer { unsafe beQuickAgain(box, quickNode) }
        try encode(value, in: node, keyStartOrIndex: keyStartOrIndex, keyLength: keyLength)
    }

    /// Lets known keys be written through this box again, if it still stands for the node.
    @inline(__always)
    func beQuickAgain(_ box: UnsafeMutablePointer<EncodingKeys.Box>?, _ node: Int) {
        unsafe state.pointee.quickBox = nil
        guard let box = unsafe box, !hasFailed, unsafe box.pointee.serial == nodes[node].serial else { return }
        unsafe state.pointee.quickBox = unsafe box
        unsafe state.pointee.quickNode = node
    }

    /// Makes entries of the known keys that were written to a map: from now on all its keys go the general way.
    @inline(never)
    func makeEntries(_ node: Int) {
        let owner = unsafe nodes[node]
        unsafe nodes[node].quickKeys = 0
        unsafe nodes[node].openKeys = 0
        guard let keys = unsafe owner.keys else { return }
        var written = owner.quickKeys ^ owner.openKeys
        let spans = unsafe state.pointee.spans + owner.spans
        while written != 0 {
            // In the order in which they were written.
            var first = written.trailingZeroBitCount
            for ordinal in first..<KeyName.ordinalsMax
            where unsafe written &>> UInt64(ordinal) & 1 != 0 && spans[ordinal].start < spans[first].start {
                first = ordinal
            }
            let name = unsafe keys.pointee.names + first
            unsafe addEntry(
                node, start: spans[first].start, end: spans[first].end, keyLength: Int(name.pointee.length), child: -1,
                prefix: name.pointee.prefix)
            written ^= 1 &<< UInt64(first)
        }
    }
}
