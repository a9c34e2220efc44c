// Unsafe: the coding state lives until `end()` gives it back, and every handle is checked against its serial number.

/// Keyed containers, and known keys.
extension EncodingCore {
    /// A container for a node's entries, in a used box if one is free.
    @inline(__always)
    func keyedContainer<Key: CodingKey>(_ type: Key.Type, _ handle: NodeHandle) -> KeyedEncodingContainer<Key> {
        let isNew = open(handle.node, handle.serial, as: .map)
        guard let (keys, box) = unsafe freeBox(type) else { return newContainer(type, handle) }
        unsafe box.pointee.node = handle.node
        unsafe box.pointee.serial = handle.serial
        if isNew, !hasFailed {
            unsafe beQuick(handle.node, keys, box)
        } else if unsafe box == state.pointee.quickBox {
            unsafe state.pointee.quickBox = nil
        }
        return unsafe keys.pointee.maker.container(KeyedEncodingContainer<Key>.self, &box.pointee.object)
    }

    /// A box for containers of this type of keys that nothing refers to.
    @inline(__always)
    private func freeBox<Key: CodingKey>(
        _ type: Key.Type
    ) -> (UnsafeMutablePointer<EncodingKeys>, UnsafeMutablePointer<EncodingKeys.Box>)? {
        guard let keys = unsafe state.pointee.keys.entry(type) else { return nil }
        for number in unsafe 0..<keys.pointee.boxCount {
            let box = unsafe keys.pointee.boxes + number
            if unsafe isKnownUniquelyReferenced(&box.pointee.object) { return unsafe (keys, box) }
        }
        return nil
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(_ type: Key.Type, _ handle: NodeHandle) -> KeyedEncodingContainer<Key> {
        let keys = unsafe state.pointee.keys.entry(type) ?? newKeys(type)
        if let keys = unsafe keys, unsafe keys.pointee.boxCount < KeptContainer.countMax {
            let box = unsafe keys.pointee.boxes + keys.pointee.boxCount
            let place = unsafe EncodingPlace(handle, keys: keys, box: box)
            let container = KeyedEncodingContainer(CBORKeyedEncoding<Key>(place: place))
            if let object = KeptContainer.object(of: container) {
                unsafe box.initialize(
                    to: EncodingKeys.Box(object: object, node: handle.node, serial: handle.serial))
                unsafe keys.pointee.boxCount += 1
                return container
            }
        }
        let place = unsafe EncodingPlace(handle, keys: keys, box: nil)
        return KeyedEncodingContainer(CBORKeyedEncoding<Key>(place: place))
    }

    private func newKeys<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<EncodingKeys>? {
        let keys = EncodingKeys(type)
        if let place = unsafe state.pointee.keys.add(type, keys) { return unsafe place }
        keys.free()
        return nil
    }

    /// Lets the known keys of a map that was just opened be written directly through this box.
    @inline(__always)
    private func beQuick(
        _ node: Int, _ keys: UnsafeMutablePointer<EncodingKeys>, _ box: UnsafeMutablePointer<EncodingKeys.Box>
    ) {
        let known = unsafe keys.pointee.known
        let spansMax = UInt64.bitWidth &- known.leadingZeroBitCount
        spans.reserve(spansMax)
        unsafe nodes[node].keys = unsafe keys
        nodes[node].quickKeys = known
        nodes[node].openKeys = known
        nodes[node].spans = spans.count
        spans.count &+= spansMax
        unsafe state.pointee.quickBox = unsafe box
        unsafe state.pointee.quickNode = node
    }

    /// Writes a value into a container. Meanwhile the known keys of the outer containers cannot be written directly. Every
    /// container of `encode(to:)` writes values of any type through this method.
    @inline(__always)
    func encodeAside<T: Encodable>(_ value: T, at position: ValuePosition) throws {
        let (box, quickNode) = unsafe (state.pointee.quickBox, state.pointee.quickNode)
        unsafe state.pointee.quickBox = nil
        defer { unsafe beQuickAgain(box, quickNode) }
        try encode(value, at: position)
    }

    /// Lets known keys be written directly through this box again, if it is still bound to the node.
    @inline(__always)
    private func beQuickAgain(_ box: UnsafeMutablePointer<EncodingKeys.Box>?, _ node: Int) {
        unsafe state.pointee.quickBox = nil
        guard let box = unsafe box, !hasFailed, unsafe box.pointee.serial == nodes[node].serial else { return }
        unsafe state.pointee.quickBox = unsafe box
        unsafe state.pointee.quickNode = node
    }

    /// Makes entries of the known keys that were written to a map. From now on all its keys are written the general way.
    @inline(never)
    func makeEntries(_ node: Int) {
        let owner = nodes[node]
        nodes[node].quickKeys = 0
        nodes[node].openKeys = 0
        guard let keys = unsafe owner.keys else { return }
        var written = owner.quickKeys ^ owner.openKeys
        while written != 0 {
            // Finds the first in the order in which they were written.
            var first = written.trailingZeroBitCount
            for ordinal in first..<KeyName.ordinalsMax
            where written &>> UInt64(ordinal) & 1 != 0
                && spans[owner.spans + ordinal].start < spans[owner.spans + first].start
            {
                first = ordinal
            }
            let (span, name) = unsafe (spans[owner.spans + first], keys.pointee.names + first)
            unsafe addEntry(
                node, start: span.start, end: span.end, keyLength: Int(name.pointee.length), child: nil,
                prefix: name.pointee.prefix)
            written ^= 1 &<< UInt64(first)
        }
    }
}
