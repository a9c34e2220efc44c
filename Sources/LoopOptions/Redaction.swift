/// Removes passwords from texts with addresses, before a text is shown or written.
package enum Redaction {
    /// Replaces each password in a text by `***`. A password is the text between `:` and `@` in a URL, or the value of a parameter
    /// with a name that ends in `password`.
    package static func of(_ text: String) -> String {
        var (shown, rest) = ("", text[...])
        while !rest.isEmpty {
            let word = rest.prefix { !isGap($0) }
            shown += withoutParameters(withoutUserInfo(word))
            rest = rest[word.endIndex...]
            shown += rest.prefix(while: isGap)
            rest = rest.drop(while: isGap)
        }
        return shown
    }

    private static func isGap(_ character: Character) -> Bool { character.isWhitespace || "'\"".contains(character) }

    private static func withoutUserInfo(_ word: Substring) -> Substring {
        guard let at = word.lastIndex(of: "@") else { return word }
        let start = word[..<at].firstRange(of: "//")?.upperBound ?? word.startIndex
        guard let colon = word[start..<at].firstIndex(of: ":") else { return word }
        return word[...colon] + "***" + word[at...]
    }

    private static func withoutParameters(_ word: Substring) -> String {
        var (shown, rest) = ("", word)
        while !rest.isEmpty {
            let parameter = rest.prefix { !"?&".contains($0) }
            rest = rest[parameter.endIndex...]
            if let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased().hasSuffix("password") {
                shown += parameter[...equals] + "***"
            } else {
                shown += parameter
            }
            shown += rest.prefix(1)
            rest = rest.dropFirst()
        }
        return shown
    }
}
