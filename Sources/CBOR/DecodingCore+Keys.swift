// Unsafe: the document's memory and its index do not change until `close()`, and every handle is checked against its
// serial number.

/// Keyed containers for the maps of a document.
extension DecodingCore {
    /// A container for a map's entries, in a used box if one is free.
    @inline(__always)
    func keyedContainer<Key: CodingKey>(_ type: Key.Type, _ item: Item) throws -> KeyedDecodingContainer<Key> {
        guard let (keys, box) = unsafe box(type, item) else {
            // The item is no map, or the type has no free box.
            _ = try openMap(item)
            return newContainer(type, item)
        }
        return unsafe keys.pointee.maker.container(KeyedDecodingContainer<Key>.self, &box.pointee.object)
    }

    /// A box that nothing refers to. It is bound to this map from now on.
    @inline(__always)
    func box<Key: CodingKey>(_ type: Key.Type, _ item: Item) -> (
        UnsafeMutablePointer<DecodingKeys>, UnsafeMutablePointer<DecodingKeys.Box>
    )? {
        guard isOpen, unsafe state.pointee.index.base[Int(item.offset)] >> 5 == 5,
            let keys = unsafe state.pointee.keys.entry(type)
        else { return nil }
        for number in unsafe 0..<keys.pointee.boxCount {
            let box = unsafe keys.pointee.boxes + number
            guard unsafe isKnownUniquelyReferenced(&box.pointee.object) else { continue }
            unsafe box.pointee.item = item
            unsafe box.pointee.serial = serial
            let map = unsafe state.pointee.index.containers + Int(item.container)
            unsafe look(
                for: keys, box, Item(offset: map.pointee.start, container: item.container &+ 1),
                Int(map.pointee.count))
            return unsafe (keys, box)
        }
        return nil
    }

    @inline(never)
    private func newContainer<Key: CodingKey>(_ type: Key.Type, _ item: Item) -> KeyedDecodingContainer<Key> {
        let keys = unsafe state.pointee.keys.entry(type) ?? newKeys(type)
        if let keys = unsafe keys, unsafe keys.pointee.boxCount < KeptContainer.countMax {
            let box = unsafe keys.pointee.boxes + keys.pointee.boxCount
            let place = unsafe KeyedPlace(core: self, keys: keys, box: box, ownItem: item)
            let container = KeyedDecodingContainer(CBORKeyedDecoding<Key>(place))
            if let object = KeptContainer.object(of: container) {
                unsafe box.initialize(
                    to: DecodingKeys.Box(
                        object: object, item: item, serial: serial, known: 0, present: 0,
                        values: .allocate(capacity: KeyName.ordinalsMax)))
                unsafe keys.pointee.boxCount += 1
                return container
            }
        }
        let place = unsafe KeyedPlace(core: self, keys: keys, box: nil, ownItem: item)
        return KeyedDecodingContainer(CBORKeyedDecoding<Key>(place))
    }

    private func newKeys<Key: CodingKey>(_ type: Key.Type) -> UnsafeMutablePointer<DecodingKeys>? {
        let keys = DecodingKeys(type)
        if let place = unsafe state.pointee.keys.add(type, keys) { return unsafe place }
        keys.free()
        return nil
    }

    /// Walks through a map once and notes the positions of the known keys' values.
    ///
    /// A map that this coder wrote has the keys in the order in which they are looked for. In other orders they are found too. If a
    /// key is not in its shortest form, or if there are very many, each key is searched by its text.
    private func look(
        for keys: UnsafeMutablePointer<DecodingKeys>, _ box: UnsafeMutablePointer<DecodingKeys.Box>, _ first: Item,
        _ count: Int
    ) {
        unsafe box.pointee.known = 0
        unsafe box.pointee.present = 0
        guard unsafe keys.pointee.isOrdinal, count <= KeyName.ordinalsMax, unsafe keys.pointee.nameCount > 0 else {
            return
        }
        let index = index
        let (base, readable, values) = unsafe (index.base, index.readable, box.pointee.values)
        let names = unsafe keys.pointee.names
        let end = unsafe names + keys.pointee.nameCount
        var name = unsafe names
        var present: UInt64 = 0
        var here = first
        for _ in 0..<count {
            let place = unsafe base + Int(here.offset)
            // Most keys are in the order of the names. A name that is absent is skipped.
            var left = unsafe keys.pointee.nameCount
            while left > 0, unsafe !name.pointee.isAt(place, available: readable &- Int(here.offset)) {
                unsafe name += 1
                if unsafe name == end { unsafe name = unsafe names }
                left &-= 1
            }
            guard left > 0 else {
                // An unknown key is skipped if its bytes show that it is none of the names.
                let head = unsafe place[0]
                guard head & 0xE0 == 0x60, head & 31 < 24 else { return }
                here = index.after(Item(offset: here.offset &+ 1 &+ UInt32(head & 31), container: here.container))
                continue
            }
            let ordinal = unsafe name.pointee.ordinal
            unsafe here.offset &+= UInt32(name.pointee.length)
            unsafe values[Int(ordinal)] = here
            present |= 1 &<< UInt64(ordinal)
            here = index.after(here)
        }
        unsafe box.pointee.present = present
        unsafe box.pointee.known = unsafe keys.pointee.known
    }
}
