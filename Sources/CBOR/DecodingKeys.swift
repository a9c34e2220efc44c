// Unsafe: the entry owns its memory until `free()`, and is never moved. One coding state uses it, which one thread
// has at a time.

/// What decoding knows about a type of keys: their names in the order in which a map has them, and containers to reuse.
@safe struct DecodingKeys {
    /// A container of the standard library, and the map that it reads now.
    @safe struct Box {
        var object: KeptContainer.Object
        var item: CBORIndex.Item
        /// The serial number of the document.
        var serial: UInt32
        /// Bits by ordinal: the keys that were looked for in the whole map, and those that are there.
        var known: UInt64
        var present: UInt64
        /// The values of the present keys, by ordinal.
        var values: UnsafeMutablePointer<CBORIndex.Item>
    }

    /// Whether keys are known by their one byte.
    private(set) var isOrdinal: Bool
    /// The names that were looked up so far, in the order in which a map has them.
    let names: UnsafeMutablePointer<KeyName>
    private(set) var nameCount = 0
    /// The ordinals of `names`, a bit each.
    private(set) var known: UInt64 = 0
    let boxes: UnsafeMutablePointer<Box>
    var boxCount = 0
    let maker: KeptContainer.Maker
    /// By ordinal: the answer to `allKeys` for a map with only that key.
    let keptKeys: UnsafeMutablePointer<AnyObject?>

    init<Key: CodingKey>(_ type: Key.Type) {
        isOrdinal = KeyOrdinal.isOrdinal(type)
        unsafe names = .allocate(capacity: KeyName.ordinalsMax)
        unsafe boxes = .allocate(capacity: KeptContainer.countMax)
        unsafe keptKeys = .allocate(capacity: KeyName.ordinalsMax)
        unsafe keptKeys.initialize(repeating: nil, count: KeyName.ordinalsMax)
        maker = KeptContainer.Maker.of(KeyedDecodingContainer<Key>.self)
    }

    func free() {
        unsafe names.deallocate()
        for number in 0..<boxCount { unsafe boxes[number].values.deallocate() }
        unsafe boxes.deinitialize(count: boxCount)
        unsafe boxes.deallocate()
        unsafe keptKeys.deinitialize(count: KeyName.ordinalsMax)
        unsafe keptKeys.deallocate()
    }

    /// Stores a key's name, if it is short.
    mutating func learn(_ text: String, ordinal: Int) {
        guard isOrdinal, ordinal < KeyName.ordinalsMax, known & 1 << UInt64(ordinal) == 0,
            let name = KeyName(text, ordinal: ordinal)
        else { return }
        var place = 0
        while place < nameCount, unsafe names[place].precedes(name) { place += 1 }
        if place < nameCount, unsafe names[place].isSame(name) {
            // Of two keys with one name only one would be found. So the keys of such a type are found by their texts.
            isOrdinal = false
            for number in 0..<boxCount { unsafe boxes[number].known = 0 }
            return
        }
        unsafe (names + place + 1).update(from: names + place, count: nameCount - place)
        unsafe names[place] = name
        nameCount += 1
        known |= 1 << UInt64(ordinal)
    }
}
