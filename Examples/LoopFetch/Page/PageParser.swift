// Unsafe: a page is lent to its scanner for the call.

/// Finds links and anchors in HTML and Markdown.
package enum PageParser {
    /// The media types that `parse` knows, for `FetchRequest.wantedContentTypes`.
    package static let mediaTypes: Set<String> = ["text/html", "application/xhtml+xml", "text/markdown"]

    /// Parses a page by its content type. Broken markup is no error: the parser finds what it can.
    ///
    /// - Parameters:
    ///   - bytes: the body of the answer.
    ///   - contentType: the `Content-Type` header, with its charset if it has one, or nil for HTML.
    ///   - url: the URL that gave the answer.
    /// - Returns: the parsed page, or nil if the content type is none of `mediaTypes`.
    package static func parse(_ bytes: [UInt8], contentType: String?, url: WebURL) -> ParsedPage? {
        let type = contentType ?? "text/html"
        let charset = Charset.parameter("charset", of: type)
        switch FetchResponse.mediaType(type) {
        case "text/html": return html(bytes, charset: charset, url: url)
        case "application/xhtml+xml": return html(bytes, charset: charset, isXHTML: true, url: url)
        case "text/markdown": return markdown(bytes, charset: charset, url: url)
        default: return nil
        }
    }

    /// Parses an HTML page.
    ///
    /// - Parameters:
    ///   - charset: the charset that the server named. If it is nil or unknown, the page's own declaration applies. Without
    ///     one, the page is UTF-8 if the bytes are valid UTF-8, and windows-1252 otherwise.
    ///   - isXHTML: whether every element can end with `/>`, and an XML declaration can name the encoding.
    ///   - url: the URL of the page.
    package static func html(_ bytes: [UInt8], charset: String? = nil, isXHTML: Bool = false, url: WebURL) -> ParsedPage
    {
        let declaration = isXHTML ? String(decoding: bytes.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self) : ""
        let charset = charset ?? Charset.parameter("encoding", of: declaration)
        return read(bytes, charset: charset, url: url) { text, collector in
            unsafe text.withUnsafeBufferPointer { unsafe TagScanner.read($0, endsAtSlash: isXHTML, into: collector) }
            collector.readEmbeddedPages()
        }
    }

    /// Parses a Markdown page.
    ///
    /// - Parameters:
    ///   - charset: the charset that the server named, or nil.
    ///   - url: the URL of the page.
    package static func markdown(_ bytes: [UInt8], charset: String? = nil, url: WebURL) -> ParsedPage {
        read(bytes, charset: charset, url: url) { text, collector in
            MarkdownReader.read(String(decoding: text, as: UTF8.self), into: collector)
        }
    }

    /// Reads a page in the encoding of its byte order mark, else in the server's, else in its own declaration.
    private static func read(
        _ bytes: [UInt8], charset label: String?, url: WebURL, by read: ([UInt8], LinkCollector) -> Void
    ) -> ParsedPage {
        func collect(_ text: [UInt8]) -> LinkCollector {
            let collector = LinkCollector()
            read(text, collector)
            return collector
        }
        if let charset = Charset(markOf: bytes) ?? label.flatMap(Charset.init(label:)) {
            let text = charset.decode(bytes)
            return page(collect(text), text, charset)
        }
        let isUTF8 = Charset.isUTF8(bytes)
        var text = Charset.utf8.decode(bytes)
        var collector = collect(text)
        let labels = label.map { [$0] } ?? collector.charsets
        let declared = collector.charsets.lazy.compactMap(Charset.init(label:)).first
        let charset = declared.map { $0.isUTF16 ? .utf8 : $0 } ?? (isUTF8 ? .utf8 : .windows1252)
        if charset != .utf8 {
            text = charset.decode(bytes)
            collector = collect(text)
        }
        var parsed = page(collector, text, charset)
        if declared == nil, !isUTF8, let unknown = labels.first { parsed.unread = "unknown encoding \(unknown)" }
        return parsed

        func page(_ collector: LinkCollector, _ text: [UInt8], _ charset: Charset) -> ParsedPage {
            var page = collector.page(at: url, charset: charset)
            // A text has few such bytes, but pictures and archives have many at their beginning.
            let head = text.prefix(512)
            let oddCount = head.count { $0 < 0x09 }
            if oddCount > max(2, head.count / 64) { page.unread = "not text" }
            if charset.isUTF16, !text.isEmpty, !charset.isLikely(bytes) {
                page.unread = "not UTF-16, although it says so"
            }
            return page
        }
    }
}
