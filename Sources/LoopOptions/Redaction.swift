/// Removes passwords from texts with addresses, before a text is shown or written.
package enum Redaction {
    /// Replaces each password in a text by `***`. A password is the text between `:` and `@` in a URL, or the value of a parameter,
    /// of a URL or of libpq, with a name that ends in `password`.
    package static func of(_ text: String) -> String {
        var (shown, rest) = ("", text[...])
        while !rest.isEmpty {
            let word = rest.prefix { !isGap($0) }
            shown += withoutUserInfo(word)
            rest = rest[word.endIndex...]
            shown += rest.prefix(while: isGap)
            rest = rest.drop(while: isGap)
        }
        return withoutParameters(shown)
    }

    private static func isGap(_ character: Character) -> Bool { character.isWhitespace || "'\"".contains(character) }

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
