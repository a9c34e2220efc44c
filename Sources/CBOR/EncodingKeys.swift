// Unsafe: the entry owns its memory until `free()`, and is never moved; it is used by one coding state, which one thread
// has at a time.

/// What encoding knows about a type of keys: their names, their order, and containers that can be used again.
@safe struct EncodingKeys {
    /// A container of the standard library, and the node that it writes to now.
    struct Box {
        var object: KeptContainer.Object
        var node: Int
        var serial: UInt32
    }

    /// Keys are known by their one byte, in `names`.
    private(set) var isOrdinal: Bool
    /// By ordinal; those that were not met yet have length 0, and no bit in `known`.
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

    /// Remembers a key's name, if it is short, and its place among the others.
    mutating func learn(_ text: String, ordinal: Int) {
        guard let name = KeyName(text, ordinal: ordinal) else { return }
        for known in 0..<KeyName.ordinalsMax where unsafe names[known].length > 0 && names[known].isSame(name) {
            // Two keys with one name have no order: such a type's keys are coded by their texts.
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
