/// The name of a key pair and of its files: ASCII letters, digits, `-`, `_` and `.`.
package struct KeyName: Hashable, Sendable, CustomStringConvertible {
    /// The valid form, for people.
    package static let form =
        "1 to \(Certificate.textBytesMax) letters, digits, '-', '_' and '.', of which '-' and '.' are not the first"

    /// The name.
    package let text: String

    /// Creates a name, or nil if the text does not have the valid form.
    package init?(_ text: String) {
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

    /// The name.
    package var description: String { text }
}
