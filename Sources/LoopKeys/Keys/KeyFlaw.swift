/// Why a text or some bytes are no key of CURVE.
public enum KeyFlaw: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text has another number of bytes than 40.
    case length(Int)
    /// The text has 40 characters that are no Z85.
    case notZ85
    /// All bytes are 0, as a program writes them that has no CURVE.
    case zero

    /// What is wrong, to follow the name of the key. It never shows the text.
    public var description: String {
        switch self {
        case .length(let count): "has \(count) characters instead of \(KeyFormat.characterCount)"
        case .notZ85: "is not Z85 text"
        case .zero: "is all zeros, which is no key"
        }
    }
}

/// What public and secret keys have in common: 32 bytes, not all 0, written as 40 characters of Z85.
enum KeyFormat {
    static let byteCount = 32
    static let characterCount = 40

    /// - Throws: why the text is no key.
    static func bytes(of text: some StringProtocol) throws(KeyFlaw) -> [UInt8] {
        guard text.utf8.count == characterCount else { throw .length(text.utf8.count) }
        guard let bytes = Z85.bytes(of: text) else { throw .notZ85 }
        guard isKey(bytes) else { throw .zero }
        return bytes
    }

    static func isKey(_ bytes: [UInt8]) -> Bool { bytes.count == byteCount && bytes.contains { $0 != 0 } }
}
