internal import CMemory

// Unsafe: the document's memory and its index stay as they are until `close()`, which every look-up asks about first.

/// Finds a key in a map.
///
/// A derived `init(from:)` asks for keys in declaration order, and the map has them in encoded order. The search begins after the key
/// found last and goes around once, which for the few keys of a struct is the fastest way. Maps of many keys are sorted once, as soon
/// as a search does not succeed at its first steps.
extension DecodingCore {
    /// How many keys are tried one by one.
    private static var stepsMax: Int { 24 }

    /// The value of a text key, or nil if the map does not have it.
    func find(_ key: UnsafeBufferPointer<UInt8>, in item: Item) -> Item? {
        guard isOpen else { return nil }
        let index = index
        return index.containers.update(Int(item.container)) { map in
            var here = map.hint
            for _ in 0..<min(Int(map.count), Self.stepsMax) {
                if here.offset == map.contentEnd { here = Item(offset: map.start, container: item.container &+ 1) }
                let (isFound, value) = unsafe match(key, here, index)
                here = index.after(value)
                if isFound {
                    map.hint = here
                    return value
                }
            }
            return unsafe map.count > Self.stepsMax ? findSorted(key, in: item) : nil
        }
    }

    /// Whether an item is this text, and the item after it.
    @inline(__always)
    private func match(_ key: UnsafeBufferPointer<UInt8>, _ item: Item, _ index: CBORIndex) -> (Bool, Item) {
        let place = unsafe index.base + Int(item.offset)
        let length = unsafe Int(place[0]) - 0x60
        guard 0..<24 ~= length, let text = key.baseAddress else {
            return unsafe (compare(key, item) == 0, index.after(item))
        }
        let isFound =
            unsafe length == key.count && (length == 0 || place[1] == text[0] && memcmp(place + 1, text, length) == 0)
        return (isFound, Item(offset: item.offset &+ 1 &+ UInt32(length), container: item.container))
    }

    /// The order of a text and a key. Keys that are no text come after every text.
    @inline(__always)
    private func compare(_ key: UnsafeBufferPointer<UInt8>, _ item: Item) -> Int {
        let head = index.head(at: Int(item.offset))
        guard head.major == 3 else { return -1 }
        return unsafe index.withString(head, item) { text in
            guard let a = key.baseAddress, let b = text.baseAddress else { return key.count - text.count }
            return unsafe BytesOrder.compare(a, key.count, b, text.count)
        }
    }

    private func findSorted(_ key: UnsafeBufferPointer<UInt8>, in item: Item) -> Item? {
        let entries = sortedEntries(item) { textEntries(item) }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let order = unsafe compare(key, entries[middle].key)
            if order == 0 { return entries[middle].value }
            if order < 0 { high = middle } else { low = middle + 1 }
        }
        return nil
    }

    private func textEntries(_ item: Item) -> [MapEntry] {
        var entries: [MapEntry] = []
        var key: Item?
        index.forEach(in: item, isMap: true) { number, element in
            if number % 2 == 0 {
                key = index.head(at: Int(element.offset)).major == 3 ? element : nil
            } else if let key {
                entries.append(MapEntry(key: key, value: element))
            }
        }
        return entries.sorted { left, right in
            let head = index.head(at: Int(left.key.offset))
            return unsafe index.withString(head, left.key) { unsafe compare($0, right.key) < 0 }
        }
    }
}
