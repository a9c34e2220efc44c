/// The 32 bytes of a key of CURVE, public or secret. They are compared and hashed without memory of their own.
struct CurveKey: Sendable, Hashable {
    static let byteCount = 32
    /// Of the text that people and files know.
    static let characterCount = 40

    /// Of 4 bytes each, the first byte being the highest.
    private var words = SIMD8<UInt32>()

    init(bytes: [UInt8]) throws(CurveKeyError) {
        guard bytes.count == Self.byteCount else { throw .byteCount(bytes.count) }
        for (index, byte) in bytes.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
    }

    init(_ text: String) throws(CurveKeyError) {
        for (index, character) in text.enumerated() {
            guard let byte = character.asciiValue, Z85.isCharacter(byte) else { throw .character(place: index + 1) }
        }
        guard text.utf8.count == Self.characterCount else { throw .length(text.utf8.count) }
        guard let key = CurveKey(z85: [UInt8](text.utf8).span) else { throw .range }
        self = key
    }

    /// Nil if it is not the text of a key.
    init?(z85 text: Span<UInt8>) {
        guard text.count == Self.characterCount else { return nil }
        for index in 0..<8 {
            guard let word = Z85.word(of: text, from: index * 5) else { return nil }
            words[index] = word
        }
    }

    var bytes: [UInt8] {
        (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 / 4] >> UInt32(24 - 8 * ($0 % 4))) }
    }

    var text: String {
        String(decoding: (0..<8).flatMap { Z85.characters(of: words[$0]) }, as: UTF8.self)
    }
}

/// The reason why something is not a key. It does not repeat the text, which may be a secret.
public enum CurveKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A text with another number of characters than 40.
    case length(Int)
    /// A character that Z85 does not have, at a place counted from 1.
    case character(place: Int)
    /// Characters of Z85 that mean more than 32 bytes hold.
    case range
    /// Another number of bytes than 32.
    case byteCount(Int)

    /// One line for people, which continues "KEY: ".
    public var description: String {
        switch self {
        case .length(let count): "a key has 40 characters, this one has \(count)"
        case .character(let place): "character \(place) cannot be in a key; a key has 40 characters of Z85"
        case .range: "no key has these 40 characters; a character was changed"
        case .byteCount(let count): "a key has 32 bytes, this one has \(count)"
        }
    }
}
