/// Checks a text that a person gives as the name of a file.
package enum FileName {
    /// The reason why a text is probably no file name, with a way to write it as one, or nil if it is one.
    package static func flaw(in text: String) -> String? {
        if text.isEmpty { return "it is empty" }
        if text.utf8.contains(0) { return "it has a NUL" }
        if text.hasPrefix("-") { return "it begins with -, as options do (a file of that name is ./\(text))" }
        if let keyword = keyword(in: text) {
            return "it has \(keyword)=, as connection strings do: give the database's URL (a file of that name is ./…)"
        }
        guard let scheme = scheme(of: text) else { return nil }
        return "it begins with \(scheme):, as addresses do (a file of that name is ./\(scheme):…)"
    }

    /// The first word of a text such as `host=db password=secret` that libpq knows as a keyword, or nil. In a path, no keyword comes
    /// before the first slash.
    private static func keyword(in text: String) -> String? {
        if text.prefix(while: { $0 != "=" }).contains("/") { return nil }
        let assignment = #/(?:^|\s)(host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=/#
        return text.firstMatch(of: assignment).map { String($0.1) }
    }

    /// The scheme of a URL, such as `sqlite` in `sqlite:x`, by the grammar of RFC 3986 section 3.1, or nil.
    package static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard scheme.count > 1, scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) })
        else { return nil }
        return String(scheme)
    }
}
