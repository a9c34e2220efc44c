// Unsafe: an embedded page is lent to its scanner for the call.

internal import LoopCore

/// An attribute of an element. The value may be empty.
struct Attribute {
    let name: Word
    let value: String
}

extension [Attribute] {
    /// The value of the attribute with this name, or nil if there is none.
    func value(_ wanted: Word) -> String? { first { $0.name == wanted }?.value }
}

/// Collects the links of a page while it is read, and resolves them at the end, when `<base>` is known.
final class LinkCollector {
    /// The encodings that the page declares, in order.
    private(set) var charsets: [String] = []
    /// The pages in `<iframe srcdoc>`. Pages embedded in these are ignored.
    private(set) var embeddedPages: [[UInt8]] = []
    /// The distinct references, in the order in which they first appear.
    private var references: [String] = []
    /// The references as bytes, because strings are equal if they differ only in their composition of accents.
    private var known: Set<[UInt8]> = []
    private var anchors: Set<String> = []
    private var base: String?
    private var isEmbedded = false

    /// Handles the start of an element.
    func start(_ name: Word, _ attributes: [Attribute]) {
        if !isEmbedded { for attribute in attributes where attribute.name == "id" { addAnchor(attribute.value) } }
        switch name {
        case "a":
            addAll(attributes, "href")
            addAll(attributes, "xlink:href")
            for attribute in attributes where attribute.name == "name" && !isEmbedded { addAnchor(attribute.value) }
        case "link":
            if let rel = attributes.value("rel"), Self.isHint(rel) { return }
            addAll(attributes, "href")
        case "image":
            addAll(attributes, "href")
            addAll(attributes, "xlink:href")
        case "img", "source":
            for attribute in attributes {
                switch attribute.name {
                case "src": add(attribute.value)
                case "srcset": addSourceSet(attribute.value)
                default: break
                }
            }
        case "area": addAll(attributes, "href")
        case "script", "frame", "embed", "audio", "track": addAll(attributes, "src")
        case "iframe":
            if let page = attributes.value("srcdoc") {
                if !isEmbedded { embeddedPages.append(Array(page.utf8)) }
            } else {
                addAll(attributes, "src")
            }
        case "video":
            addAll(attributes, "src")
            addAll(attributes, "poster")
        case "object": addAll(attributes, "data")
        case "blockquote", "q", "ins", "del": addAll(attributes, "cite")
        case "input":
            if attributes.value("type")?.lowercased() == "image" { addAll(attributes, "src") }
        case "base": if base == nil, !isEmbedded { base = attributes.value("href") }
        case "meta": addMeta(attributes)
        default: break
        }
    }

    /// Reads the embedded pages, whose links are links of this page.
    func readEmbeddedPages() {
        isEmbedded = true
        for page in embeddedPages { unsafe page.withUnsafeBufferPointer { unsafe TagScanner.read($0, into: self) } }
    }

    /// Resolves the collected links of the page at `url`.
    func page(at url: WebURL, charset: Charset) -> ParsedPage {
        let page = url.withoutFragment
        let base = base.flatMap { try? page.resolve($0).withoutFragment } ?? page
        var parsed = ParsedPage()
        parsed.anchors = anchors
        var resolver = LinkResolver(base: base, charset: charset)
        for reference in references { resolver.resolve(reference, into: &parsed) }
        return parsed
    }

    func add(_ reference: String) {
        if known.insert(Array(reference.utf8)).inserted { references.append(reference) }
    }

    /// Adds a name with and without its percent-encoding, because a fragment may be written either way.
    func addAnchor(_ name: String) {
        guard !name.isEmpty else { return }
        anchors.insert(name)
        if name.utf8.contains(UInt8(ascii: "%")) { anchors.insert(PercentEncoding.decode(name)) }
    }

    // MARK: Attributes

    private func addAll(_ attributes: [Attribute], _ name: Word) {
        for attribute in attributes where attribute.name == name { add(attribute.value) }
    }

    /// The candidates of a `srcset` (HTML standard section 4.8.4.2.2): URLs, each with an optional descriptor.
    private func addSourceSet(_ value: String) {
        var rest = value.utf8[...]
        func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
        while true {
            rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
            guard !rest.isEmpty else { return }
            var candidate = rest.prefix { !isSpace($0) }
            rest = rest[candidate.endIndex...]
            if candidate.last == UInt8(ascii: ",") {
                while candidate.last == UInt8(ascii: ",") { candidate.removeLast() }
            } else {
                var depth = 0
                rest = rest.drop { byte in
                    if byte == UInt8(ascii: "(") { depth += 1 }
                    if byte == UInt8(ascii: ")") { depth -= 1 }
                    return byte != UInt8(ascii: ",") || depth > 0
                }
            }
            add(String(Substring(candidate)))
        }
    }

    private func addMeta(_ attributes: [Attribute]) {
        if let charset = attributes.value("charset") { charsets.append(charset) }
        guard let content = attributes.value("content") else { return }
        switch attributes.value("http-equiv")?.lowercased() {
        case "refresh": addRefresh(content)
        case "content-type": if let charset = Charset.parameter("charset", of: content) { charsets.append(charset) }
        default: break
        }
    }

    /// Adds the target of a refresh such as `5; url=next.html` (HTML standard section 4.2.5.3).
    private func addRefresh(_ content: String) {
        func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 }
        let text = content.utf8.drop(while: isSpace)
        let time = text.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
        var rest = text[time.endIndex...]
        guard !time.isEmpty, let mark = rest.first, isSpace(mark) || ";,".utf8.contains(mark) else { return }
        rest = rest.drop(while: isSpace)
        if let mark = rest.first, ";,".utf8.contains(mark) { rest.removeFirst() }
        rest = rest.drop(while: isSpace)
        if rest.prefix(3).elementsEqual("url".utf8, by: { $0 | 0x20 == $1 }) {
            let value = rest.dropFirst(3).drop(while: isSpace)
            // Without "=" the word `url` is part of the reference.
            if value.first != UInt8(ascii: "=") { return add(String(Substring(rest))) }
            rest = value.dropFirst().drop(while: isSpace)
        }
        if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            rest = rest.dropFirst().prefix { $0 != quote }
        }
        if !rest.isEmpty { add(String(Substring(rest))) }
    }

    /// Whether a `<link>` only names a host to connect to early.
    private static func isHint(_ rel: String) -> Bool {
        let kinds = rel.lowercased().split { $0.isWhitespace }
        return kinds.contains("preconnect") || kinds.contains("dns-prefetch")
    }
}
