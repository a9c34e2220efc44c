// Unsafe: the bytes belong to a value that lives for the whole call.

/// Gives every distinct name a number: 0, 1, 2, … in the order of insertion.
///
/// The names are concatenated in blocks, and found by open addressing, which takes about 20 bytes per name in addition to
/// its own. The slot of a name differs between processes and has no effect.
struct NameTable: Sendable {
    private static let blockBytes = 1 << 14

    private struct Place {
        var block: UInt32
        var offset: UInt32
        var count: UInt32
    }

    private var blocks: [[UInt8]] = []
    private var places = Chunks<Place>()
    /// The number of a name plus one, or 0 for an empty slot. The count of slots is a power of two.
    private var slots = Chunks(repeatElement(UInt32(0), count: 64))

    init() {}

    /// Creates a table of these names, numbered in their order.
    init(_ names: some Sequence<some StringProtocol>) {
        for name in names { _ = intern(String(name)) }
    }

    var count: Int { places.count }

    /// The name with this number.
    subscript(number: UInt32) -> String {
        let place = places[Int(number)]
        return String(decoding: bytes(of: place), as: UTF8.self)
    }

    func withBytes<Result>(of number: UInt32, _ body: (Span<UInt8>) -> Result) -> Result {
        let place = places[Int(number)]
        let start = Int(place.offset)
        let block = blocks[Int(place.block)]
        return body(block.span.extracting(start..<(start + Int(place.count))))
    }

    /// The first byte of a name, or 0 for the empty name.
    func firstByte(of number: UInt32) -> UInt8 { bytes(of: places[Int(number)]).first ?? 0 }

    /// The number of this name. It is new if the name was not in the table.
    mutating func intern(_ name: String) -> (number: UInt32, isNew: Bool) { intern(name.utf8.span) }

    /// The number of the name with these bytes of UTF-8.
    mutating func intern(_ name: Span<UInt8>) -> (number: UInt32, isNew: Bool) {
        var slot = firstSlot(of: name)
        while true {
            let entry = slots[slot]
            if entry == 0 { break }
            if isEqual(places[Int(entry - 1)], name) { return (entry - 1, false) }
            slot = (slot + 1) & (slots.count - 1)
        }
        let number = UInt32(places.count)
        store(name)
        slots.update(slot) { $0 = number + 1 }
        if 4 * places.count > 3 * slots.count { grow() }
        return (number, true)
    }

    private func firstSlot(of name: Span<UInt8>) -> Int {
        var hasher = Hasher()
        unsafe name.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        return hasher.finalize() & (slots.count - 1)
    }

    private func bytes(of place: Place) -> ArraySlice<UInt8> {
        blocks[Int(place.block)][Int(place.offset)..<Int(place.offset + place.count)]
    }

    private func isEqual(_ place: Place, _ name: Span<UInt8>) -> Bool {
        guard Int(place.count) == name.count else { return false }
        let offset = Int(place.offset)
        let block = blocks[Int(place.block)]
        for index in 0..<name.count where block[offset + index] != name[index] { return false }
        return true
    }

    private mutating func store(_ name: Span<UInt8>) {
        if blocks.isEmpty || blocks[blocks.count - 1].count + name.count > Self.blockBytes {
            var block: [UInt8] = []
            block.reserveCapacity(max(Self.blockBytes, name.count))
            blocks.append(block)
        }
        let block = blocks.count - 1
        let offset = blocks[block].count
        unsafe name.withUnsafeBufferPointer { unsafe blocks[block].append(contentsOf: $0) }
        places.append(Place(block: UInt32(block), offset: UInt32(offset), count: UInt32(name.count)))
    }

    private mutating func grow() {
        slots = Chunks(repeatElement(0, count: 2 * slots.count))
        for number in 0..<places.count {
            var slot = withBytes(of: UInt32(number)) { firstSlot(of: $0) }
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots.update(slot) { $0 = UInt32(number) + 1 }
        }
    }
}

extension NameTable: Codable {
    /// The names as one text, a line each, because no name has a line end.
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self.init(text.isEmpty ? [] : text.dropLast().split(separator: "\n", omittingEmptySubsequences: false))
    }

    func encode(to encoder: any Encoder) throws {
        var text = ""
        for number in 0..<UInt32(count) { text += self[number] + "\n" }
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
