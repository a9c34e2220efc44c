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
    static func hasUser(_ target: String) -> Bool { target.hasPrefix("http://@") || target.hasPrefix("https://@") }

    /// The target of each line and its fragments, of which there is at least one. The empty fragment means no fragment.
    static func links(_ lines: String) -> [(target: String, fragments: [String])] {
        lines.utf8.split(separator: UInt8(ascii: "\n")).map { line in
            let pieces = line.split(separator: UInt8(ascii: "#"), omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            return (pieces[0], pieces.count > 1 ? Array(pieces.dropFirst()) : [""])
        }
    }
}
