// Unsafe: the entry owns its memory until `free()`, and is never moved. One coding state uses it, which one thread
// has at a time.

/// What encoding knows about a type of keys: their names, their order, and containers to reuse.
@safe struct EncodingKeys {
    /// A container of the standard library, and the node that it writes to now.
    struct Box {
        var object: KeptContainer.Object
        var node: Int
        var serial: UInt32
    }

    /// Whether keys are known by their one byte, in `names`.
    private(set) var isOrdinal: Bool
    /// The names by ordinal. Those that were not used yet have length 0, and no bit in `known`.
    let names: UnsafeMutablePointer<KeyName>
    private(set) var known: UInt64 = 0
    /// The ordinals of the known keys, in the order of the keys' encodings.
    let order: UnsafeMutablePointer<UInt8>
    private(set) var orderCount = 0
    let boxes: UnsafeMutablePointer<Box>
    var boxCount = 0
    let maker: KeptContainer.Maker

    init<Key: CodingKey>(_ type: Key.Type) {
        isOrdinal = KeyOrdinal.isOrdinal(type)
        let count = isOrdinal ? KeyName.ordinalsMax : 1
        unsafe names = .allocate(capacity: count)
        unsafe names.initialize(repeating: KeyName(), count: count)
        unsafe order = .allocate(capacity: KeyName.ordinalsMax)
        unsafe boxes = .allocate(capacity: KeptContainer.countMax)
        maker = KeptContainer.Maker.of(KeyedEncodingContainer<Key>.self)
    }

    func free() {
        unsafe names.deallocate()
        unsafe order.deallocate()
        unsafe boxes.deinitialize(count: boxCount)
        unsafe boxes.deallocate()
    }

    /// Stores a key's name, if it is short, and its position among the others.
    mutating func learn(_ text: String, ordinal: Int) {
        guard let name = KeyName(text, ordinal: ordinal) else { return }
        for known in 0..<KeyName.ordinalsMax where unsafe names[known].length > 0 && names[known].isSame(name) {
            // Two keys with one name have no order, so the keys of such a type are coded by their texts.
            isOrdinal = false
            self.known = 0
            return
        }
        unsafe names[ordinal] = name
        known |= 1 << UInt64(ordinal)
        var place = orderCount
        while place > 0, unsafe name.precedes(names[Int(order[place - 1])]) {
            unsafe order[place] = unsafe order[place - 1]
            place -= 1
        }
        unsafe order[place] = UInt8(truncatingIfNeeded: ordinal)
        orderCount += 1
    }
}
