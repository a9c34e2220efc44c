/// Bytes as text that can be copied: ZeroMQ's base 85 (RFC 32), five characters for each four bytes, the highest byte first.
enum Z85 {
    private static let characters = Array(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#".utf8)
    /// The value of each ASCII character; 85 where it has none.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 85, count: 128)
        for (value, character) in characters.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    /// - Precondition: the number of bytes is a multiple of 4.
    static func text(of bytes: some Collection<UInt8>) -> String {
        precondition(bytes.count % 4 == 0, "Z85 has no text for \(bytes.count) bytes")
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 4 * 5)
        var word: UInt32 = 0
        for (index, byte) in bytes.enumerated() {
            word = word << 8 | UInt32(byte)
            guard index % 4 == 3 else { continue }
            for divisor: UInt32 in [52_200_625, 614_125, 7225, 85, 1] {
                text.append(characters[Int(word / divisor % 85)])
            }
            word = 0
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text, nil where it is not Z85: another length, another character, or five characters that are more
    /// than four bytes.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 5 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 5 * 4)
        var word: UInt64 = 0
        for (index, character) in text.utf8.enumerated() {
            guard character < 128, case let value = values[Int(character)], value < 85 else { return nil }
            word = word * 85 + UInt64(value)
            guard index % 5 == 4 else { continue }
            guard let whole = UInt32(exactly: word) else { return nil }
            bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: whole >> UInt32($0)) }
            word = 0
        }
        return bytes
    }
}
