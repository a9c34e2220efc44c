// Unsafe: HTML within a page is lent to its scanner for the call.

/// Reads a Markdown page: its links, images and headings, and the HTML within it.
struct MarkdownReader {
    private let collector: LinkCollector
    private var slugs = HeadingSlugs()
    /// The text of the present heading, or nil outside of headings.
    private var heading: String?

    static func read(_ page: String, into collector: LinkCollector) {
        var reader = MarkdownReader(collector: collector)
        MarkdownDocument(withoutFrontMatter(page)).forEachPiece { reader.add($0) }
    }

    private init(collector: LinkCollector) { self.collector = collector }

    private mutating func add(_ piece: MarkdownDocument.Piece) {
        switch piece {
        case .link(let destination): collector.add(destination)
        case .image(let source): collector.add(source)
        case .headingStart: heading = ""
        case .headingEnd:
            if let text = heading.take(), let slug = slugs.next(for: text) { collector.addAnchor(slug) }
        case .text(let text): heading?.append(text)
        case .html(var markup):
            // Each piece is scanned separately, so that an unclosed comment hides nothing after it.
            markup.withUTF8 { unsafe TagScanner.read($0, into: collector) }
        }
    }

    /// The page without the YAML between two lines of `---` at its beginning.
    private static func withoutFrontMatter(_ page: String) -> String {
        let lines = page.split(omittingEmptySubsequences: false) { $0.isNewline }
        func isFence(_ line: Substring) -> Bool {
            line.hasPrefix("---") && line.dropFirst(3).allSatisfy(\.isWhitespace)
        }
        // Without a key, the first line is a rule.
        guard let first = lines.first, isFence(first), lines.count > 1,
            lines[1].prefixMatch(of: #/["']?[A-Za-z_][\w.\-]*["']?:(?:\s|$)/#) != nil,
            let end = lines.dropFirst().firstIndex(where: isFence)
        else { return page }
        return String(page[lines[end].endIndex...])
    }
}

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
