/// Removes passwords from texts with addresses, before a text is shown or written.
package enum Redaction {
    /// Replaces each password in a text by `***`. A password is the text between `:` and `@` in a URL. It is also the value of a
    /// parameter whose name ends in `password`, in a URL or for libpq.
    package static func of(_ text: String) -> String {
        withoutParameters(withoutUserInfos(text).replacing(#/[^\s'"]+/#) { withoutUserInfo($0.output) })
    }

    private static func isGap(_ character: Character) -> Bool { character.isWhitespace || "'\"".contains(character) }

    /// Replaces the password in a text that is one value as a whole. It may have spaces and quotes.
    package static func of(value: String) -> String { withoutParameters(String(withoutUserInfo(value[...]))) }

    /// A password may have spaces, quotes and slashes. In a URL it ends at the last `@` before the next URL, and a database's URL
    /// without an `@` has it in place of a port.
    private static func withoutUserInfos(_ text: String) -> String {
        var (shown, rest) = ("", text[...])
        while let mark = rest.firstRange(of: "://") {
            let isDatabase =
                rest[..<mark.lowerBound].hasSuffix("postgres") || rest[..<mark.lowerBound].hasSuffix("postgresql")
            shown += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let url = rest[..<(rest.firstRange(of: "://")?.lowerBound ?? rest.endIndex)]
            let colon = url.firstIndex(of: ":")
            let at = url.indices.last {
                url[$0] == "@" && url.index(after: $0) < url.endIndex && !isGap(url[url.index(after: $0)])
            }
            if let colon, let at, colon < at {
                shown += url[...colon] + "***"
                rest = rest[at...]
            } else if isDatabase, at == nil, let colon, url.first != "[" {
                let port = url[colon...].dropFirst().prefix { !"/?,".contains($0) && !isGap($0) }
                if port.contains(where: { !$0.isNumber }) {
                    shown += url[...colon] + "***"
                    rest = rest[colon...].drop { !isGap($0) }
                }
            }
        }
        return shown + rest
    }

    private static func withoutUserInfo(_ word: Substring) -> Substring {
        guard let at = word.lastIndex(of: "@") else { return word }
        let start = word[..<at].firstRange(of: "//")?.upperBound ?? word.startIndex
        guard let colon = word[start..<at].firstIndex(of: ":") else { return word }
        return word[...colon] + "***" + word[at...]
    }

    private static func withoutParameters(_ text: String) -> String {
        // Quoted, or up to the next space, parameter or end of a quotation.
        let parameter = #/(?i)(password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^\s&]+?(?=['"]?[:,;.)]*(?:[\s&]|$)))/#
        return text.replacing(parameter) { "\($0.1)***" }
    }
}
