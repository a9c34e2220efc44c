/// What decoding knows about a type of keys: their names in the order in which a map has them, containers that can be
/// used again, and the answers to `allKeys`.
struct DecodingKeys {
    /// A container of the standard library, and the map that it reads now.
    struct Box {
        var object: KeyedBox
        var item: CBORIndex.Item
        /// Of the document.
        var serial: UInt32
        /// By ordinal, a bit each: the keys that were looked for in the whole map, and those that are there.
        var known: UInt64
        var present: UInt64
        /// By ordinal: the values of those that are there.
        var values: UnsafeMutablePointer<CBORIndex.Item>
    }

    /// The answer of `allKeys` for maps of one entry.
    struct OneKey {
        var name: KeyName
        /// An array of one key.
        var keys: KeyedBox
    }

    /// Keys are known by their one byte.
    private(set) var isOrdinal: Bool
    /// The keys that were asked for, in the order in which a map has them.
    let names: UnsafeMutablePointer<KeyName>
    private(set) var nameCount = 0
    /// The ordinals of `names`, a bit each.
    private(set) var known: UInt64 = 0
    let boxes: UnsafeMutablePointer<Box>
    var boxCount = 0
    let maker: KeyedMaker
    /// The kept answers of `allKeys`, and which was found last.
    private(set) var oneKeys: UnsafeMutablePointer<OneKey>
    private(set) var oneKeyCount = 0
    private var oneKeyCapacity = 4
    var oneKeyLast = 0

    init<Key: CodingKey>(_ type: Key.Type) {
        isOrdinal = KeyOrdinal.isOrdinal(type)
        names = .allocate(capacity: KeyName.ordinalsMax)
        boxes = .allocate(capacity: KeyedBox.boxesMax)
        maker = KeyedMaker.of(KeyedDecodingContainer<Key>.self)
        oneKeys = .allocate(capacity: oneKeyCapacity)
    }

    func free() {
        names.deallocate()
        for number in 0..<boxCount { boxes[number].values.deallocate() }
        boxes.deinitialize(count: boxCount)
        boxes.deallocate()
        oneKeys.deinitialize(count: oneKeyCount)
        oneKeys.deallocate()
    }

    /// Keeps an answer of `allKeys`, if there is room.
    mutating func learn(_ answer: OneKey) {
        guard oneKeyCount < KeyName.ordinalsMax else { return }
        if oneKeyCount == oneKeyCapacity {
            let moved = UnsafeMutablePointer<OneKey>.allocate(capacity: oneKeyCapacity * 2)
            moved.moveInitialize(from: oneKeys, count: oneKeyCount)
            oneKeys.deallocate()
            oneKeys = moved
            oneKeyCapacity *= 2
        }
        (oneKeys + oneKeyCount).initialize(to: answer)
        oneKeyCount += 1
    }

    /// Remembers a key's name, if it is short.
    mutating func learn(_ text: String, ordinal: Int) {
        guard isOrdinal, ordinal < KeyName.ordinalsMax, known & 1 << UInt64(ordinal) == 0,
            let name = KeyName(text, ordinal: ordinal)
        else { return }
        var place = 0
        while place < nameCount, names[place].precedes(name) { place += 1 }
        if place < nameCount, names[place].isSame(name) {
            // Of two keys with one name only one would be found: such a type's keys are found by their texts.
            isOrdinal = false
            for number in 0..<boxCount { boxes[number].known = 0 }
            return
        }
        (names + place + 1).update(from: names + place, count: nameCount - place)
        names[place] = name
        nameCount += 1
        known |= 1 << UInt64(ordinal)
    }
}
