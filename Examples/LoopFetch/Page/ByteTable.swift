// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

/// Distinct texts as bytes, numbered in the order of insertion.
///
/// They are concatenated and found by open addressing: no allocation for each, and one hash.
struct ByteTable {
    private var bytes: [UInt8] = []
    /// The end of each text, where the next begins.
    private var ends: [Int] = []
    private var hashes: [Int] = []
    /// The number of a text plus one, or 0 for an empty slot. The count of slots is a power of two.
    private var slots: [UInt32] = []

    var count: Int { ends.count }

    /// Lends the text with this number.
    func withBytes<Result>(of number: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { unsafe body(UnsafeBufferPointer(rebasing: $0[range(of: number)])) }
    }

    /// The number of this text. It is new if the text was not in the table.
    mutating func intern(_ text: UnsafeBufferPointer<UInt8>) -> (number: Int, isNew: Bool) {
        if 4 * count >= 3 * slots.count { grow() }
        var hasher = Hasher()
        unsafe hasher.combine(bytes: UnsafeRawBufferPointer(text))
        let hash = hasher.finalize()
        var slot = hash & (slots.count - 1)
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if hashes[number] == hash, unsafe withBytes(of: number, { unsafe $0.elementsEqual(text) }) {
                return (number, false)
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        unsafe bytes.append(contentsOf: text)
        ends.append(bytes.count)
        hashes.append(hash)
        slots[slot] = UInt32(count)
        return (count - 1, true)
    }

    private func range(of number: Int) -> Range<Int> { (number == 0 ? 0 : ends[number - 1])..<ends[number] }

    private mutating func grow() {
        slots = Array(repeating: 0, count: max(64, 2 * slots.count))
        for number in 0..<count {
            var slot = hashes[number] & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(number + 1)
        }
    }
}
