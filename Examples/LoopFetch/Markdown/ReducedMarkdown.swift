/// A Markdown page reduced to the HTML that matters for links: `<a href>`, `<img src>`, an anchor for each heading, and
/// the raw tags of the page. The text is left out.
struct ReducedMarkdown {
    /// The text of the first heading; empty if there is none.
    private(set) var title = ""

    /// The reduced page as UTF-8.
    private(set) var html: [UInt8] = []

    private var slugs = HeadingSlugs()
    /// The text of the heading that is being read, and where its anchor goes; nil outside of headings.
    private var heading: (text: String, start: Int)?

    init(_ page: String) {
        let document = MarkdownDocument(Self.withoutFrontMatter(page))
        document.forEachPiece { add($0) }
    }

    private mutating func add(_ piece: MarkdownDocument.Piece) {
        switch piece {
        case .link(let destination): addTag("a href", destination)
        case .image(let source): addTag("img src", source)
        case .headingStart: heading = ("", html.count)
        case .headingEnd: endHeading()
        case .text(let text): heading?.text += text
        case .html(let markup, let isBlock):
            html += RawMarkup.withoutHiddenText(Array(markup.utf8))
            if isBlock { html.append(UInt8(ascii: "\n")) }
        }
    }

    private mutating func addTag(_ nameAndAttribute: String, _ value: String) {
        html += "<\(nameAndAttribute)=\"".utf8
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "&"): html += "&amp;".utf8
            case UInt8(ascii: "\""): html += "&quot;".utf8
            case UInt8(ascii: "<"): html += "&lt;".utf8
            default: html.append(byte)
            }
        }
        html += "\">".utf8
    }

    private mutating func endHeading() {
        guard let (text, start) = heading else { return }
        heading = nil
        if title.isEmpty { title = text.split { $0.isWhitespace }.joined(separator: " ") }
        if let slug = slugs.next(for: text) { html.insert(contentsOf: "<a id=\"\(slug)\"></a>".utf8, at: start) }
    }

    /// The page without the YAML between two lines of `---` at its very beginning.
    private static func withoutFrontMatter(_ page: String) -> String {
        let lines = page.split(omittingEmptySubsequences: false) { $0.isNewline }
        func isFence(_ line: Substring) -> Bool {
            line.hasPrefix("---") && line.dropFirst(3).allSatisfy(\.isWhitespace)
        }
        guard let first = lines.first, isFence(first), let end = lines.dropFirst().firstIndex(where: isFence) else {
            return page
        }
        return String(page[lines[end].endIndex...])
    }
}
