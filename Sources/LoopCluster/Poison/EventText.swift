import CBOR

/// Describes an encoded event in a few words, for people, by its case and the beginning of its value. It does not use the
/// definition, which may have ended the process when it decoded these bytes.
package enum EventText {
    /// The longest text of an event, in characters.
    private static let charactersMax = 80

    /// - Parameters:
    ///   - bytes: the first bytes of the event.
    ///   - count: the number of bytes of the whole event.
    package static func of(_ bytes: some Collection<UInt8>, of count: Int) -> String {
        let bytes = Array(bytes)
        if bytes.count == count, let text = try? CBOR.json(bytes) {
            return text.count > charactersMax ? "\(text.prefix(charactersMax - 1))…" : text
        }
        // Some bytes are no event, such as the message of a failure.
        if let text = String(validating: bytes, as: UTF8.self), text.allSatisfy({ $0.isASCII && $0 >= " " }) {
            return "\"\(text)\""
        }
        if let name = firstKey(bytes) { return "{\"\(name)\":…}" }
        return "\(count) bytes: \(bytes.prefix(16).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
    }

    /// The first key of a map, which names the case of an enumeration, or nil if it is no map or the key is cut.
    private static func firstKey(_ bytes: [UInt8]) -> String? {
        guard bytes.count > 2, (0xa1...0xb7).contains(bytes[0]), (0x60...0x77).contains(bytes[1]) else { return nil }
        let length = Int(bytes[1] - 0x60)
        guard bytes.count >= 2 + length else { return nil }
        let key = String(validating: bytes[2..<(2 + length)], as: UTF8.self)
        return key.flatMap { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? $0 : nil }
    }
}
