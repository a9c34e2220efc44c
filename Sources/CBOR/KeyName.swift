// Unsafe: 24 bytes can be read or written where the caller says so; a key of one byte is trivial.

/// A short text key as it stands in CBOR, its head and up to 23 bytes, in three words that are copied and compared whole.
///
/// The compiler makes an enum of a struct's or a case's keys. Asking such a key for its text builds a string for every
/// field of every value; its one byte says as much. So the coder asks for each text once and knows it by the byte.
struct KeyName {
    /// How many keys of a type can be known; those beyond are coded by their texts.
    static var ordinalsMax: Int { 64 }

    /// The encoded bytes, the first one lowest; zeros after them.
    var word0: UInt64 = 0
    var word1: UInt64 = 0
    var word2: UInt64 = 0
    /// How many bytes the key has with its head; 0 where the key is not known.
    var length: UInt8 = 0
    /// The bits of `word0` that are the key's.
    var mask0: UInt64 = 0
    /// The key's one byte in memory.
    var ordinal: UInt8 = 0

    /// Nothing.
    init() {}

    /// Nil for a text of more than 23 bytes.
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

    /// The first 8 bytes, the first one highest.
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

    /// The bytewise order. Keys of different length differ in their first byte, which holds the length.
    func precedes(_ other: KeyName) -> Bool {
        if word0 != other.word0 { return word0.byteSwapped < other.word0.byteSwapped }
        if word1 != other.word1 { return word1.byteSwapped < other.word1.byteSwapped }
        return word2.byteSwapped < other.word2.byteSwapped
    }

    /// Whether the document has this key at `place`, from where on it has `available` bytes.
    @inline(__always)
    func isAt(_ place: UnsafePointer<UInt8>, available: Int) -> Bool {
        unsafe available >= 24 ? isAt(UnsafeRawPointer(place)) : isNearEnd(place, available)
    }

    /// The same where 24 bytes can be read.
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

/// Types of keys that are known by their one byte in memory, as the enums are that the compiler makes.
enum KeyOrdinal {
    /// True if a key of the type has no more than one byte. A reference has more, so the byte is all that a key is made of.
    static func isOrdinal<Key: CodingKey>(_ type: Key.Type) -> Bool { MemoryLayout<Key>.size <= 1 }

    /// The byte; 0 for the key of a type that has one value, which has no byte.
    @inline(__always)
    static func of<Key: CodingKey>(_ key: Key) -> Int {
        unsafe MemoryLayout<Key>.size == 1 ? Int(unsafeBitCast(key, to: UInt8.self)) : 0
    }
}
