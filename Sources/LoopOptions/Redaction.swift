/// Removes passwords from texts with addresses, before a text is shown or logged.
package enum Redaction {
    /// The text with `***` in place of each password. A password is the part between `:` and `@` in a URL, or the value
    /// of a parameter whose name ends in `password`.
    package static func of(_ text: String) -> String {
        var rest = text[...]
        var shown = ""
        while let mark = rest.firstRange(of: "://") {
            shown += rest[..<mark.upperBound]
            rest = rest[mark.upperBound...]
            let place = rest.prefix { !$0.isWhitespace && !"'\"".contains($0) }
            rest = rest[place.endIndex...]
            shown += withoutParameters(withoutUserInfo(place))
        }
        return shown + rest
    }

    private static func withoutUserInfo(_ place: Substring) -> Substring {
        guard let at = place.lastIndex(of: "@"), let colon = place[..<at].firstIndex(of: ":") else { return place }
        return place[...colon] + "***" + place[at...]
    }

    private static func withoutParameters(_ place: Substring) -> Substring {
        guard let question = place.firstIndex(of: "?") else { return place }
        let parameters = place[place.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
        let shown = parameters.map { parameter in
            guard let equals = parameter.firstIndex(of: "="), parameter[..<equals].lowercased().hasSuffix("password")
            else {
                return String(parameter)
            }
            return parameter[...equals] + "***"
        }
        return place[...question] + shown.joined(separator: "&")
    }
}
