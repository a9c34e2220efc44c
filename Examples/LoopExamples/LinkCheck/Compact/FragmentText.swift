internal import LoopCore

/// The canonical form of an anchor's name: percent-encoded as RFC 3986 section 3.5 requires.
///
/// Names that are equal without percent-encoding are equal in this form. It has no space, `#` or line end.
enum FragmentText {
    /// - Parameter name: the name without percent-encoding.
    static func encode(_ name: String) -> String {
        PercentEncoding.encode(name.utf8) {
            PercentEncoding.isUnreserved($0) || "!$&'()*+,;=:@/?".utf8.contains($0)
        }
    }

    /// A reference that is no URL, as one word.
    static func encode(malformed reference: String) -> String {
        PercentEncoding.encode(reference.utf8) {
            $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "%")
        }
    }
}
