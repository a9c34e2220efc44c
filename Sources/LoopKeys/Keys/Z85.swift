/// Bytes as text that can be copied, in ZeroMQ's base 85 (RFC 32): five characters for four bytes, the highest byte first.
enum Z85 {
    private static let characters = [UInt8](
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)

    /// The value of each character, or 255 for other bytes.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// The 5 characters of 4 bytes.
    static func characters(of word: UInt32) -> [UInt8] {
        var rest = Int(word)
        var text = [UInt8](repeating: 0, count: 5)
        for place in text.indices.reversed() {
            text[place] = characters[rest % 85]
            rest /= 85
        }
        return text
    }

    /// The word of the 5 characters from an index on, or nil if they are not Z85 or exceed 4 bytes.
    static func word(of text: Span<UInt8>, from place: Int) -> UInt32? {
        var word: UInt64 = 0
        for index in place..<place + 5 {
            let value = values[Int(text[index])]
            guard value < 85 else { return nil }
            word = word * 85 + UInt64(value)
        }
        return UInt32(exactly: word)
    }
}
