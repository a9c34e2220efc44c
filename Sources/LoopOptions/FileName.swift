/// Checks texts that a person gives as names of files.
public enum FileName {
    /// Says why a text is more likely a mistake than the name of a file, and how to name such a file. It is nil if the
    /// text is a name.
    public static func flaw(in text: String) -> String? {
        if text.isEmpty { return "it is empty" }
        if text.utf8.contains(0) { return "it has a NUL" }
        if text.hasPrefix("-") { return "it begins with -, as options do (a file of that name is ./\(text))" }
        guard let scheme = scheme(of: text) else { return nil }
        return "it begins with \(scheme):, as addresses do (a file of that name is ./\(scheme):…)"
    }

    /// The scheme of a text, such as `sqlite` in `sqlite:x`, by the grammar of URLs (RFC 3986 section 3.1), or nil.
    public static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard scheme.count > 1, scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) })
        else { return nil }
        return String(scheme)
    }
}
