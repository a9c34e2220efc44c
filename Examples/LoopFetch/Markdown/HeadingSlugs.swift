/// The anchors that GitHub gives to headings.
struct HeadingSlugs {
    private var uses: [String: Int] = [:]

    /// The anchor of the next heading: lower case, without punctuation, with hyphens for spaces, and numbered if it is a
    /// repetition. Nil for a heading without letters.
    mutating func next(for heading: String) -> String? {
        var slug = ""
        for scalar in heading.lowercased().unicodeScalars.drop(while: { $0.properties.isWhitespace }) {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
                .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation:
                slug.unicodeScalars.append(scalar)
            default:
                if scalar == "-" { slug.append("-") } else if scalar == " " || scalar == "\n" { slug.append(" ") }
            }
        }
        while slug.last == " " { slug.removeLast() }
        slug = slug.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "-")
        guard !slug.isEmpty else { return nil }
        var unique = slug
        while uses[unique] != nil {
            uses[slug, default: 0] += 1
            unique = "\(slug)-\(uses[slug] ?? 0)"
        }
        uses[unique] = 0
        return unique
    }
}
