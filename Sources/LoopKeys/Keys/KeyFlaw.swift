/// Why a text is no key of CURVE.
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
        case .length(let count): "has \(count) characters instead of \(KeyBytes.characterCount)"
        case .notZ85: "is not Z85 text"
        case .zero: "is all zeros, which is no key"
        }
    }
}
