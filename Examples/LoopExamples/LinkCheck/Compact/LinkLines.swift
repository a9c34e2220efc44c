/// The links of a page as one text, a line for each target with all its fragments, so that an event has few parts.
///
///     links    = *( line LF )
///     line     = target [ "#" fragment *( "#" fragment ) ]    ; the empty fragment is a link without one;
///                                                             ; a line without "#" has just that
///     target   = "/" path          ; in scope, from the base's last slash on
///              / absolute URL      ; out of scope; an "@" before the host stands for a user name or password that was left out
///              / "!" reference     ; no URL
///              / "?" reference     ; longer than a URL may be, cut
///     fragment = ...               ; as in `FragmentText`
enum LinkLines {
    /// The longest target or fragment that is checked, in bytes.
    static let bytesMax = 8192

    static let malformed = UInt8(ascii: "!")
    static let overlong = UInt8(ascii: "?")
    static let inScope = UInt8(ascii: "/")

    /// Whether a target is a URL whose user name or password was left out.
    static func hasUser(_ target: Span<UInt8>) -> Bool {
        (7...8).contains { index in
            target.count > index && target[index] == UInt8(ascii: "@") && target[index - 1] == inScope
                && target[index - 2] == inScope && target[0] != inScope
        }
    }

    /// A part of a line, by its bytes.
    enum Piece: Equatable {
        /// The line's target, before its fragments.
        case target(Range<Int>)
        /// A link to the target. The empty fragment means no fragment.
        case fragment(Range<Int>)
    }

    /// Parses lines. Every line yields its target and then at least one fragment.
    struct Reader {
        private var index = 0
        private var isInLine = false
        private var owesFragment = false

        mutating func next(in bytes: Span<UInt8>) -> Piece? {
            if owesFragment {
                owesFragment = false
                return .fragment(index..<index)
            }
            if isInLine {
                isInLine = false
            } else {
                while index < bytes.count, bytes[index] == UInt8(ascii: "\n") { index += 1 }
                guard index < bytes.count else { return nil }
                let start = index
                skipPiece(in: bytes)
                if !isInLine { owesFragment = true }
                return .target(start..<(isInLine ? index - 1 : index))
            }
            let start = index
            skipPiece(in: bytes)
            return .fragment(start..<(isInLine ? index - 1 : index))
        }

        /// Skips past the next `#` if a fragment follows, or to the end of the line.
        private mutating func skipPiece(in bytes: Span<UInt8>) {
            while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
                index += 1
                if bytes[index - 1] == UInt8(ascii: "#") {
                    isInLine = true
                    return
                }
            }
        }
    }
}
