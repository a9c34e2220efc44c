/// The 32 bytes of a key, not all 0. They can be compared and hashed without an allocation.
struct KeyBytes: Hashable, Sendable {
    static let byteCount = 32
    /// The number of characters in the text that people and files use.
    static let characterCount = 40

    /// Words of 4 bytes each, the first byte being the highest.
    private var words = SIMD8<UInt32>()

    /// Creates a key, or nil unless there are 32 bytes and not all of them are 0.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        for (index, byte) in bytes.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
        guard words != SIMD8() else { return nil }
    }

    /// Reads 40 characters of Z85.
    /// - Throws: why they are not a key.
    init(z85 text: Span<UInt8>) throws(KeyFlaw) {
        guard text.count == Self.characterCount else { throw .length(text.count) }
        for index in 0..<8 {
            guard let word = Z85.word(of: text, from: index * 5) else { throw .notZ85 }
            words[index] = word
        }
        guard words != SIMD8() else { throw .zero }
    }

    /// Reads 40 characters of Z85.
    /// - Throws: why the text is not a key.
    init(z85 text: some StringProtocol) throws(KeyFlaw) { try self.init(z85: Array(text.utf8).span) }

    var bytes: [UInt8] {
        (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 / 4] >> UInt32(24 - 8 * ($0 % 4))) }
    }

    /// The key as 40 characters of Z85.
    var z85: String { String(decoding: (0..<8).flatMap { Z85.characters(of: words[$0]) }, as: UTF8.self) }
}

/// Why a text is not a CURVE key.
package enum KeyFlaw: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text does not have 40 bytes.
    case length(Int)
    /// The text has 40 characters that are not Z85.
    case notZ85
    /// All bytes are 0, as a program without CURVE writes them.
    case zero

    /// What is wrong, as text that follows the name of the key. It never shows the text.
    package var description: String {
        switch self {
        case .length(let count): "has \(count) characters instead of \(KeyBytes.characterCount)"
        case .notZ85: "is not Z85 text"
        case .zero: "is all zeros, which is no key"
        }
    }
}
