/// Why a text is not a CURVE key.
public enum KeyFlaw: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text does not have 40 bytes.
    case length(Int)
    /// The text has 40 characters that are not Z85.
    case notZ85
    /// All bytes are 0, as a program without CURVE writes them.
    case zero

    /// What is wrong, as text that follows the name of the key. It never shows the text.
    public var description: String {
        switch self {
        case .length(let count): "has \(count) characters instead of \(KeyBytes.characterCount)"
        case .notZ85: "is not Z85 text"
        case .zero: "is all zeros, which is no key"
        }
    }
}
