internal import Linux

/// A normalised absolute `http` or `https` URL (RFC 3986 section 6.2.2), with a separate fragment.
///
/// URLs are equal if they differ only in the case of scheme or host, a default port, the encoding of unreserved characters,
/// or dot segments. Whitespace, backslashes and characters that need percent-encoding are treated as in browsers (WHATWG
/// URL), because links are written for browsers.
///
/// ```swift
/// let page = try WebURL("http://Example.com:80/book/a.html")
/// let link = try page.resolve("../img/x y.png#top")
/// link.string    // "http://example.com/img/x%20y.png"
/// link.fragment  // "top"
/// ```
package struct WebURL: Hashable, Sendable, CustomStringConvertible {
    /// The URL without its fragment.
    package let string: String

    /// The text after `#` as written, including percent-encoding; or nil if there is no `#`.
    package let fragment: String?

    /// The offsets of the parts of `string`, in bytes.
    let layout: Layout

    struct Layout: Hashable, Sendable {
        /// Whether the scheme is https.
        var isSecure: Bool
        var hostStart = 0
        var hostEnd = 0
        var port: UInt16
        var pathStart = 0
        var pathEnd = 0
    }

    /// Parses an absolute URL.
    ///
    /// - Throws: the reason why the text is none.
    package init(_ text: String) throws(WebURLError) {
        var builder = WebURLBuilder(text.utf8)
        self = try builder.resolve(against: nil)
    }

    /// Resolves `reference` on the page with this URL (RFC 3986 section 5.2).
    ///
    /// - Parameter reference: an absolute URL, or any relative form: `//host/x`, `/x`, `x`, `../x`, `?q`, `#f`, empty.
    /// - Throws: `otherScheme` for `mailto:` and similar; else the reason why the result would be no URL.
    package func resolve(_ reference: String) throws(WebURLError) -> WebURL {
        try resolve(reference, charset: .utf8)
    }

    /// Resolves a reference of a page.
    /// - Parameter charset: the encoding of the page, in which the query is sent.
    func resolve(_ reference: String, charset: Charset) throws(WebURLError) -> WebURL {
        var builder = WebURLBuilder(reference.utf8, charset: charset)
        return try builder.resolve(against: self)
    }

    /// Resolves a reference of a header.
    /// - Parameter reference: the bytes. Those beyond ASCII are sent unchanged.
    func resolve(bytes reference: [UInt8]) throws(WebURLError) -> WebURL {
        var builder = WebURLBuilder(reference)
        return try builder.resolve(against: self)
    }

    init(bytes: [UInt8], fragment: String?, layout: Layout) {
        string = String(decoding: bytes, as: UTF8.self)
        self.fragment = fragment
        self.layout = layout
    }

    /// `http` or `https`.
    package var scheme: String { layout.isSecure ? "https" : "http" }

    /// The host in lower case; an IPv6 address without its brackets.
    package var host: String {
        let host = part(layout.hostStart, layout.hostEnd)
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }

    /// The port as written, else 80 or 443.
    package var port: UInt16 { layout.port }

    /// The path, beginning with its slash, percent-encoded.
    package var path: String { part(layout.pathStart, layout.pathEnd) }

    /// The text after `?`, percent-encoded, or nil if there is no `?`.
    package var query: String? {
        let end = string.utf8.count
        return layout.pathEnd == end ? nil : part(layout.pathEnd + 1, end)
    }

    /// Whether the host is this machine by its name or address, so that no proxy may be used.
    package var isLoopback: Bool {
        let host = host
        return host == "localhost" || host.hasSuffix(".localhost") || HostAddress(host)?.isLoopback == true
    }

    /// The URL with its fragment.
    package var description: String { fragment.map { "\(string)#\($0)" } ?? string }

    /// Whether it has a user name or a password.
    var hasUser: Bool { layout.hostStart > scheme.utf8.count + "://".utf8.count }

    /// The URL without its user name, password and fragment. Of these, an `@` remains: `http://@example.com/`.
    var stringWithoutUser: String {
        hasUser ? "\(scheme)://@\(part(layout.hostStart, string.utf8.count))" : string
    }

    /// A text that is no URL, without what may be a user name or password before its last `@`.
    static func withoutUser(_ text: String) -> String {
        func isMark(_ byte: UInt8) -> Bool { byte <= 0x20 || ":/\\".utf8.contains(byte) }
        let start = text.utf8.drop { !isMark($0) }.drop(while: isMark).startIndex
        guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")), start < at else { return text }
        return String(text[..<start] + text[at...])
    }

    /// This URL without its fragment.
    package var withoutFragment: WebURL {
        WebURL(string: string, fragment: nil, layout: layout)
    }

    private init(string: String, fragment: String?, layout: Layout) {
        self.string = string
        self.fragment = fragment
        self.layout = layout
    }

    private func part(_ start: Int, _ end: Int) -> String {
        let bytes = string.utf8
        let from = bytes.index(bytes.startIndex, offsetBy: start)
        return String(string[from..<bytes.index(bytes.startIndex, offsetBy: end)])
    }
}
