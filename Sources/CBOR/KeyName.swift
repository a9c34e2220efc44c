// Unsafe: 24 bytes can be read or written as the caller promises. A key of one byte is trivial.

/// A short text key in its CBOR form, a head and up to 23 bytes, in three words that are copied and compared whole.
///
/// The compiler makes an enum of the keys of a struct or a case. The text of such a key is a new string for every field of every
/// value, but its one byte identifies it too. So the coder reads each text once, and then knows it by the byte.
struct KeyName {
    /// The number of keys of a type that can be known. Any others are coded by their texts.
    static var ordinalsMax: Int { 64 }

    /// The encoded bytes with the first byte in the lowest bits, then zeros.
    var word0: UInt64 = 0
    var word1: UInt64 = 0
    var word2: UInt64 = 0
    /// The length of the key with its head, or 0 if the key is not known.
    var length: UInt8 = 0
    /// The bits of `word0` that are the key's.
    var mask0: UInt64 = 0
    /// The key's one byte in memory.
    var ordinal: UInt8 = 0

    /// An unknown key.
    init() {}

    /// Nil if the text has more than 23 bytes.
    init?(_ text: String, ordinal: Int) {
        let utf8 = text.utf8
        let count = utf8.count
        guard count < 24 else { return nil }
        var words: (UInt64, UInt64, UInt64) = (UInt64(0x60 | count), 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { bytes in
            var place = 1
            for byte in utf8 {
                unsafe bytes[place] = byte
                place += 1
            }
        }
        (word0, word1, word2) = words
        length = UInt8(truncatingIfNeeded: count + 1)
        mask0 = count >= 7 ? UInt64.max : ~(UInt64.max << UInt64(8 * (count + 1)))
        self.ordinal = UInt8(truncatingIfNeeded: ordinal)
    }

    /// The first 8 bytes, with the first byte in the highest bits.
    var prefix: UInt64 { word0.byteSwapped }

    /// Writes the key, and zeros up to 24 bytes.
    @inline(__always)
    func store(at place: UnsafeMutablePointer<UInt8>) {
        let target = UnsafeMutableRawPointer(place)
        unsafe target.storeBytes(of: word0, as: UInt64.self)
        unsafe target.storeBytes(of: word1, toByteOffset: 8, as: UInt64.self)
        unsafe target.storeBytes(of: word2, toByteOffset: 16, as: UInt64.self)
    }

    func isSame(_ other: KeyName) -> Bool {
        word0 == other.word0 && word1 == other.word1 && word2 == other.word2
    }

    /// The bytewise order. Keys of different length differ in their first byte, which has the length.
    func precedes(_ other: KeyName) -> Bool {
        if word0 != other.word0 { return word0.byteSwapped < other.word0.byteSwapped }
        if word1 != other.word1 { return word1.byteSwapped < other.word1.byteSwapped }
        return word2.byteSwapped < other.word2.byteSwapped
    }

    /// Whether the document has this key at `place`, where `available` bytes remain.
    @inline(__always)
    func isAt(_ place: UnsafePointer<UInt8>, available: Int) -> Bool {
        unsafe available >= 24 ? isAt(UnsafeRawPointer(place)) : isNearEnd(place, available)
    }

    /// Whether the document has this key at `raw`, if 24 bytes can be read there.
    @inline(__always)
    func isAt(_ raw: UnsafeRawPointer) -> Bool {
        guard unsafe (raw.loadUnaligned(as: UInt64.self) ^ word0) & mask0 == 0 else { return false }
        if length <= 8 { return true }
        let second = unsafe raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        if length < 16 { return (second ^ word1) & ~(UInt64.max << (8 * UInt64(length) - 64)) == 0 }
        guard second == word1 else { return false }
        let third = unsafe raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        if length < 24 { return (third ^ word2) & ~(UInt64.max << (8 * UInt64(length) - 128)) == 0 }
        return third == word2
    }

    @inline(never)
    private func isNearEnd(_ place: UnsafePointer<UInt8>, _ available: Int) -> Bool {
        guard available >= Int(length) else { return false }
        return unsafe withUnsafeBytes(of: (word0, word1, word2)) { bytes in
            for index in 0..<Int(length) where unsafe bytes[index] != place[index] { return false }
            return true
        }
    }
}

/// Types of keys that are known by their one byte in memory, such as the enums that the compiler makes.
enum KeyOrdinal {
    /// Whether a key of the type has at most one byte. A reference has more, so that byte is the whole key.
    static func isOrdinal<Key: CodingKey>(_ type: Key.Type) -> Bool { MemoryLayout<Key>.size <= 1 }

    /// The byte, or 0 if the type has only one value, which has no byte.
    @inline(__always)
    static func of<Key: CodingKey>(_ key: Key) -> Int {
        unsafe MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0
    }
}
