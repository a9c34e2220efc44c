/// Removes passwords from texts with addresses, before a text is shown or written.
package enum Redaction {
    /// Replaces each password in a text by `***`. A password is the text between `:` and `@` in a URL, or the value of a parameter,
    /// of a URL or of libpq, with a name that ends in `password`.
    package static func of(_ text: String) -> String {
        var rest = text[...]
        var shown = ""
        while let mark = rest.firstRange(of: "://") {
            shown += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let place = rest.prefix { !$0.isWhitespace && !"'\"".contains($0) }
            rest = rest[place.endIndex...]
            shown += withoutUserInfo(place)
        }
        return withoutParameters(shown + rest)
    }

    private static func withoutUserInfo(_ place: Substring) -> Substring {
        guard let at = place.lastIndex(of: "@"), let colon = place[..<at].firstIndex(of: ":") else { return place }
        return place[...colon] + "***" + place[at...]
    }

    private static func withoutParameters(_ text: String) -> String {
        // Quoted, or up to the next space, parameter or end of a quotation.
        let parameter = #/(?i)(password\s*=\s*)(?:'(?:[^'\\]|\\.)*'|[^\s&]+?(?=['"]?[:,;.)]*(?:[\s&]|$)))/#
        return text.replacing(parameter) { "\($0.1)***" }
    }
}
