// Unsafe: the document's memory and its index stay as they are until `close()`, and every handle is checked against its
// serial number.

/// Finding a key in a map.
///
/// A derived `init(from:)` asks for keys in declaration order, the map has them in encoded order: the search begins
/// after the key found last and goes around once, which for the few keys of a struct is the fastest way. Maps of
/// many keys are sorted once, as soon as a search does not succeed at its first steps.
extension DecodingCore {
    /// How many keys are tried one by one.
    private static let stepsMax = 24

    /// The value of a text key; nil if the map does not hold it.
    @inline(__always)
    func find(_ key: String, in item: Item) -> Item? {
        guard isOpen else { return nil }
        var key = key
        return key.withUTF8 { unsafe find($0, in: item) }
    }

    /// The same for the bytes of a key, in a document that is known to be open. The next key is looked at at once.
    @inline(__always)
    func find(_ key: UnsafeBufferPointer<UInt8>, in item: Item) -> Item? {
        let containers = unsafe state.pointee.index.containers
        let map = unsafe containers + Int(item.container)
        let offset = unsafe map.pointee.hintOffset
        if unsafe offset != map.pointee.contentEnd, key.count < 24, let start = key.baseAddress {
            let place = unsafe state.pointee.index.base + Int(offset)
            if unsafe place[0] == 0x60 | UInt8(truncatingIfNeeded: key.count),
                unsafe Self.isSame(start, place + 1, key.count)
            {
                let value = unsafe Item(
                    offset: offset + 1 + UInt32(truncatingIfNeeded: key.count), container: map.pointee.hintContainer)
                let next = index.after(value)
                unsafe map.pointee.hintOffset = next.offset
                unsafe map.pointee.hintContainer = next.container
                return value
            }
        }
        return unsafe findAround(key, in: item)
    }

    @inline(never)
    private func findAround(_ key: UnsafeBufferPointer<UInt8>, in item: Item) -> Item? {
        let index = index
        let map = unsafe index.containers + Int(item.container)
        var here = unsafe Item(offset: map.pointee.hintOffset, container: map.pointee.hintContainer)
        var left = unsafe Int(map.pointee.count)
        var steps = 0
        while left > 0 {
            if unsafe here.offset == map.pointee.contentEnd {
                here = unsafe Item(offset: map.pointee.start, container: item.container + 1)
            }
            guard steps < Self.stepsMax else { return unsafe findSorted(key, in: item) }
            let (isKey, value) = unsafe match(key, here)
            let next = index.after(value)
            if isKey {
                unsafe map.pointee.hintOffset = next.offset
                unsafe map.pointee.hintContainer = next.container
                return value
            }
            here = next
            left -= 1
            steps += 1
        }
        return nil
    }

    /// Whether the item is this text, and the item after it.
    @inline(__always)
    private func match(_ key: UnsafeBufferPointer<UInt8>, _ item: Item) -> (Bool, Item) {
        let first = unsafe index.base[Int(item.offset)]
        if first & 0xE0 == 0x60, first & 31 < 24 {
            let length = Int(first & 31)
            let value = Item(offset: item.offset + 1 + UInt32(length), container: item.container)
            guard length == key.count else { return (false, value) }
            guard let start = key.baseAddress else { return (true, value) }
            return unsafe (Self.isSame(start, index.base + Int(item.offset) + 1, length), value)
        }
        return unsafe (compare(key, item) == 0, index.after(item))
    }

    /// Whether fewer than 24 bytes are the same: the first and the last ones, which overlap, a word at a time.
    @inline(__always)
    private static func isSame(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        let (a, b) = unsafe (UnsafeRawPointer(a), UnsafeRawPointer(b))
        func same<N: FixedWidthInteger & BitwiseCopyable>(_ type: N.Type, at offset: Int) -> Bool {
            unsafe a.loadUnaligned(fromByteOffset: offset, as: type)
                == b.loadUnaligned(fromByteOffset: offset, as: type)
        }
        if count >= 8 {
            return same(UInt64.self, at: 0) && same(UInt64.self, at: count - 8)
                && (count <= 16 || same(UInt64.self, at: 8))
        }
        if count >= 4 { return same(UInt32.self, at: 0) && same(UInt32.self, at: count - 4) }
        if count >= 2 { return same(UInt16.self, at: 0) && same(UInt16.self, at: count - 2) }
        return count == 0 || same(UInt8.self, at: 0)
    }

    /// The order of a text and a key; keys that are no text come after every text.
    private func compare(_ key: UnsafeBufferPointer<UInt8>, _ item: Item) -> Int {
        let head = index.head(at: Int(item.offset))
        guard head.major == 3 else { return -1 }
        return unsafe index.withString(head, item) { text in
            guard let a = key.baseAddress, let b = text.baseAddress else { return key.count - text.count }
            return unsafe BytesOrder.compare(a, key.count, b, text.count)
        }
    }

    private func findSorted(_ key: UnsafeBufferPointer<UInt8>, in item: Item) -> Item? {
        let entries = sortedEntries(item)
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let order = unsafe compare(key, entries[middle].key)
            if order == 0 { return entries[middle].value }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return nil
    }

    private func sortedEntries(_ item: Item) -> [MapEntry] {
        if let known = unsafe state.pointee.sortedMaps[item.container] { return known }
        let map = unsafe index.containers[Int(item.container)]
        var entries: [MapEntry] = []
        entries.reserveCapacity(Int(map.count))
        var key = Item(offset: map.start, container: item.container + 1)
        for _ in 0..<map.count {
            let value = index.after(key)
            if index.head(at: Int(key.offset)).major == 3 { entries.append(MapEntry(key: key, value: value)) }
            key = index.after(value)
        }
        entries.sort { left, right in
            let head = index.head(at: Int(left.key.offset))
            return unsafe index.withString(head, left.key) { unsafe compare($0, right.key) < 0 }
        }
        unsafe state.pointee.sortedMaps[item.container] = entries
        return entries
    }
}
