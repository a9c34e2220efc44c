/// What a key pair is called, and its files too: letters, digits, `-`, `_` and `.`, of ASCII.
public struct KeyName: Hashable, Sendable, CustomStringConvertible {
    /// What fits, for people.
    public static let form =
        "1 to \(Certificate.textBytesMax) letters, digits, '-', '_' and '.', of which '-' and '.' are not the first"

    /// The name.
    public let text: String

    /// Nil where the text has another form.
    public init?(_ text: String) {
        guard (1...Certificate.textBytesMax).contains(text.utf8.count), !text.hasPrefix("."), !text.hasPrefix("-")
        else { return nil }
        let fits = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: "-_.".utf8.contains(byte)
            }
        }
        guard fits else { return nil }
        self.text = text
    }

    /// The same as ``text``.
    public var description: String { text }
}
