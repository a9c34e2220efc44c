/// Finds links and anchors in HTML and Markdown.
public enum PageParser {
    /// The media types that `parse` knows, for `FetchRequest.wantedContentTypes`.
    public static let mediaTypes: Set<String> = ["text/html", "application/xhtml+xml", "text/markdown"]

    /// Parses a page by its content type. Broken markup is no error: what can be found is found.
    ///
    /// - Parameters:
    ///   - bytes: The body of the answer.
    ///   - contentType: The `Content-Type` header, with its charset if it has one; nil: HTML.
    ///   - url: The URL that gave the answer.
    /// - Returns: What the page says; nil where the content type is none of `mediaTypes`.
    public static func parse(_ bytes: [UInt8], contentType: String?, url: WebURL) -> ParsedPage? {
        let type = contentType ?? "text/html"
        switch FetchResponse.mediaType(type) {
        case "text/html", "application/xhtml+xml":
            return html(bytes, charset: Charset.parameter(of: type), url: url)
        case "text/markdown":
            return markdown(String(decoding: bytes, as: UTF8.self), url: url)
        default:
            return nil
        }
    }

    /// Parses an HTML page.
    ///
    /// - Parameters:
    ///   - charset: The charset that the server named; nil: a byte order mark or the page itself says it, else UTF-8 if
    ///     the bytes are that, else windows-1252.
    ///   - url: The URL of the page.
    public static func html(_ bytes: [UInt8], charset: String? = nil, url: WebURL) -> ParsedPage {
        let (collector, isWhole) = HTMLReader.read(Charset.decode(bytes, named: charset))
        var page = collector.page(at: url)
        page.isCut = !isWhole
        return page
    }

    /// Parses a Markdown page.
    ///
    /// The page is first reduced to the HTML of its links, images, headings and raw tags, so that HTML and Markdown follow
    /// the same rules.
    ///
    /// - Parameter url: The URL of the page.
    public static func markdown(_ text: String, url: WebURL) -> ParsedPage {
        let reduced = ReducedMarkdown(text)
        let (collector, isWhole) = HTMLReader.read(reduced.html)
        var page = collector.page(at: url, title: reduced.title)
        page.isCut = !isWhole
        return page
    }

    /// What either reader says of an HTML page, for who compares them.
    ///
    /// - Returns: `scanned` is nil where the markup is not plain.
    package static func readings(of bytes: [UInt8], url: WebURL) -> (scanned: ParsedPage?, byLibrary: ParsedPage) {
        let text = Charset.decode(bytes, named: nil)
        let (scanned, read) = (LinkCollector(), LinkCollector())
        let isPlain = HTMLReader.scan(text, into: scanned)
        let isWhole = HTMLReader.readByLibrary(text, into: read)
        var byLibrary = read.page(at: url)
        byLibrary.isCut = !isWhole
        return (isPlain ? scanned.page(at: url) : nil, byLibrary)
    }
}
