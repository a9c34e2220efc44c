// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

/// Collects what a page says about links while it is read, and resolves it at the end, when `<base>` is known.
final class LinkCollector {
    private var references = ByteTable()
    private var anchors: Set<String> = []
    private var base: String?
    private var title: [UInt8] = []
    private var titleState = TitleState.none

    private enum TitleState {
        case none, open, known
    }

    /// Whether no title has begun yet.
    var lacksTitle: Bool { titleState == .none }

    /// An element begins.
    func start(_ name: Word, _ attributes: [Attribute]) {
        for attribute in attributes where attribute.name == "id" { unsafe addAnchor(attribute.value) }
        switch name {
        case "a":
            addAll(attributes, "href")
            for attribute in attributes where attribute.name == "name" { unsafe addAnchor(attribute.value) }
        case "link":
            if let rel = attributes.value("rel"), Self.isHint(rel) { return }
            addAll(attributes, "href")
        case "img", "source":
            for attribute in attributes {
                switch attribute.name {
                case "src": unsafe add(attribute.value)
                case "srcset": unsafe addSourceSet(attribute.value)
                default: break
                }
            }
        case "area": addAll(attributes, "href")
        case "script", "iframe", "frame", "embed", "audio", "track": addAll(attributes, "src")
        case "video":
            addAll(attributes, "src")
            addAll(attributes, "poster")
        case "object": addAll(attributes, "data")
        case "blockquote", "q", "ins", "del": addAll(attributes, "cite")
        case "input":
            if attributes.value("type")?.lowercased() == "image" { addAll(attributes, "src") }
        case "base": if base == nil { base = attributes.value("href") }
        case "meta": addRefresh(attributes)
        case "title": if titleState == .none { titleState = .open }
        default: break
        }
    }

    /// An element ends.
    func end(_ name: Word) {
        if name == "title", titleState == .open { titleState = .known }
    }

    /// Text between tags.
    func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard titleState == .open, title.count < 1024 else { return }
        unsafe title.append(contentsOf: bytes.prefix(1024))
    }

    /// Resolves what was collected on the page at `url`.
    func page(at url: WebURL, title: String? = nil) -> ParsedPage {
        let page = url.withoutFragment
        let base = base.flatMap { try? page.resolve($0).withoutFragment } ?? page
        var parsed = ParsedPage(baseURL: base.string)
        let words = String(decoding: self.title, as: UTF8.self).split { $0.isWhitespace }
        parsed.title = title ?? words.joined(separator: " ")
        parsed.anchors = anchors
        var resolver = LinkResolver(base: base)
        for number in 0..<references.count {
            unsafe references.withBytes(of: number) { unsafe resolver.resolve($0, into: &parsed) }
        }
        return parsed
    }

    // MARK: Attributes

    private func addAll(_ attributes: [Attribute], _ name: Word) {
        for attribute in attributes where attribute.name == name { unsafe add(attribute.value) }
    }

    private func add(_ reference: UnsafeBufferPointer<UInt8>) { _ = unsafe references.intern(reference) }

    private func add(_ reference: some StringProtocol) {
        var text = String(reference)
        text.withUTF8 { unsafe add($0) }
    }

    /// A name is kept with and without its percent-encoding: a fragment may be written either way.
    private func addAnchor(_ value: UnsafeBufferPointer<UInt8>) {
        let name = unsafe String(decoding: value, as: UTF8.self)
        guard !name.isEmpty else { return }
        anchors.insert(name)
        if name.utf8.contains(UInt8(ascii: "%")) { anchors.insert(Percent.decode(name)) }
    }

    /// The candidates of a `srcset` (HTML standard section 4.8.4.2.2): URLs, each with an optional descriptor.
    private func addSourceSet(_ value: UnsafeBufferPointer<UInt8>) {
        var rest = unsafe String(decoding: value, as: UTF8.self).utf8[...]
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
            add(Substring(candidate))
        }
    }

    /// `<meta http-equiv="refresh" content="5; url=next.html">`.
    private func addRefresh(_ attributes: [Attribute]) {
        guard attributes.value("http-equiv")?.lowercased() == "refresh", let content = attributes.value("content")
        else {
            return
        }
        var rest = content.drop { $0 != ";" && $0 != "," }.dropFirst().drop { $0.isWhitespace }
        if rest.prefix(3).lowercased() == "url" {
            let value = rest.dropFirst(3).drop { $0.isWhitespace }
            if value.first == "=" { rest = value.dropFirst().drop { $0.isWhitespace } }
        }
        if let quote = rest.first, quote == "\"" || quote == "'" {
            rest = rest.dropFirst().prefix { $0 != quote }
        }
        if !rest.isEmpty { add(rest) }
    }

    /// Whether a `<link>` names only a host to connect to early.
    private static func isHint(_ rel: String) -> Bool {
        let kinds = rel.lowercased().split { $0.isWhitespace }
        return kinds.contains("preconnect") || kinds.contains("dns-prefetch")
    }
}
