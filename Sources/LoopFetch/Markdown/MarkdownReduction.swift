/// Reduces a Markdown page to the HTML that says something about links: `<a href>`, `<img src>`, an anchor for each
/// heading, and the raw tags of the page. The text is left out.
///
/// It knows the parts of CommonMark 0.31 that decide what is a link and what is not: fenced and indented code, quotes,
/// lists, HTML blocks, headings of both kinds, reference definitions, code spans, escapes, autolinks.
struct MarkdownReduction {
    /// The text of the first heading; empty where there is none.
    private(set) var title = ""

    private var slugs = HeadingSlugs()

    /// The reduced page as UTF-8.
    mutating func html(of page: [UInt8]) -> [UInt8] {
        var blocks = MarkdownBlocks()
        blocks.read(page)
        var output: [UInt8] = []
        for block in blocks.blocks {
            switch block {
            case .html(let bytes):
                output += bytes
                output.append(UInt8(ascii: "\n"))
            case .paragraph(let bytes):
                var inlines = MarkdownInlines(bytes, blocks.definitions)
                inlines.read(into: &output)
            case .heading(let bytes):
                var inlines = MarkdownInlines(bytes, blocks.definitions)
                var links: [UInt8] = []
                inlines.read(into: &links)
                let text = inlines.plainText
                if title.isEmpty { title = text.split { $0.isWhitespace }.joined(separator: " ") }
                if let slug = slugs.next(for: text) { output += "<a id=\"\(slug)\"></a>".utf8 }
                output += links
            }
        }
        return output
    }
}

/// The anchors that GitHub gives to headings.
struct HeadingSlugs {
    private var uses: [String: Int] = [:]

    /// The anchor of the next heading: lower case, without punctuation, with hyphens for spaces, and numbered when it
    /// has been there before. Nil for a heading without letters.
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
