// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

internal import Glibc

/// Reads the start tags of a page. This is the tokenizer of the HTML standard (section 13.2.5) without texts.
///
/// Every sequence of bytes is a valid page. The scanner builds no tree. It tracks only what decides how bytes are read:
/// elements with text content, SVG and MathML, and templates, whose content is not part of the page.
@safe struct TagScanner: ~Copyable {
    private let collector: LinkCollector
    private let bytes: UnsafeBufferPointer<UInt8>
    private let count: Int
    private let endsAtSlash: Bool
    private var index = 0
    private var attributes: [Attribute] = []
    /// The open elements that change how tags are read, the innermost last.
    private var open: [Context] = []
    /// The positions of the open elements by name, so that an end tag finds its element without a search.
    private var places: [Word: [Int]] = [:]
    private var inertCount = 0

    private enum Kind {
        /// SVG or MathML.
        case foreign
        /// An element of SVG or MathML whose content is HTML.
        case integration
        case template
        /// A template whose content is not part of the page.
        case inertTemplate
    }

    private struct Context {
        let name: Word
        let kind: Kind
    }

    /// Reports all start tags to `collector`.
    ///
    /// - Parameters:
    ///   - page: UTF-8, or another superset of ASCII.
    ///   - endsAtSlash: whether every element can end with `/>`, as in XHTML.
    static func read(_ page: UnsafeBufferPointer<UInt8>, endsAtSlash: Bool = false, into collector: LinkCollector) {
        var scanner = unsafe TagScanner(collector, page, endsAtSlash)
        while let start = scanner.find(UInt8(ascii: "<")) {
            scanner.index = start + 1
            scanner.readMarkup()
        }
    }

    private init(_ collector: LinkCollector, _ bytes: UnsafeBufferPointer<UInt8>, _ endsAtSlash: Bool) {
        self.collector = collector
        unsafe self.bytes = bytes
        count = bytes.count
        self.endsAtSlash = endsAtSlash
        attributes.reserveCapacity(16)
    }

    private var isForeign: Bool { open.last?.kind == .foreign }

    // MARK: Markup

    private mutating func readMarkup() {
        switch byte(0) {
        case UInt8(ascii: "!"): passDeclaration()
        case UInt8(ascii: "?"): pass(through: ">")
        case UInt8(ascii: "/"):
            index += 1
            if byte(0).isLetter { readEndTag() } else { pass(through: ">") }
        case let first:
            if first.isLetter { readStartTag() }
        }
    }

    private mutating func passDeclaration() {
        if matches("!--") {
            passComment()
        } else if isForeign, matches("![CDATA[") {
            pass(through: "]]>")
        } else {
            pass(through: ">")
        }
    }

    private mutating func passComment() {
        index += 3
        if matches(">") || matches("->") { return pass(through: ">") }
        while let dash = find(UInt8(ascii: "-")) {
            index = dash
            if matches("-->") || matches("--!>") { return pass(through: ">") }
            index += 1
        }
        index = count
    }

    private mutating func readEndTag() {
        let name = readName()
        guard readAttributes() != nil else { return }
        close(name)
    }

    private mutating func readStartTag() {
        let name = readName()
        guard let isClosed = readAttributes() else { return }
        if open.last?.kind == .foreign,
            Self.endsForeign(name) || name == "font" && attributes.contains(where: \.isOfFont)
        {
            while open.last?.kind == .foreign { pop() }
        }
        // Outside of SVG, an `<image>` is an `<img>`.
        if inertCount == 0, !attributes.isEmpty {
            collector.start(name == "image" && !isForeign ? "img" : name, attributes)
        }
        if isForeign {
            if !isClosed { enterForeign(name) }
        } else if !(isClosed && endsAtSlash) {
            enter(name, isClosed: isClosed)
        }
    }

    // MARK: Elements

    private mutating func enter(_ name: Word, isClosed: Bool) {
        switch name {
        case "svg", "math": if !isClosed { push(name, .foreign) }
        case "template":
            let isPart =
                attributes.value("shadowrootmode").map { ["open", "closed"].contains($0.lowercased()) } ?? false
            push(name, isPart ? .template : .inertTemplate)
            inertCount += isPart ? 0 : 1
        case "script": passScript()
        case "title", "textarea", "style", "xmp", "iframe", "noembed", "noframes": passText(of: name)
        case "plaintext": index = count
        default: break
        }
    }

    private mutating func enterForeign(_ name: Word) {
        switch name {
        case "svg", "math": push(name, .foreign)
        case "foreignobject", "desc", "title":
            if open.last?.name == "svg" { push(name, .integration) }
        case "mi", "mo", "mn", "ms", "mtext":
            if open.last?.name == "math" { push(name, .integration) }
        case "annotation-xml":
            let encoding = attributes.value("encoding")?.lowercased()
            if encoding == "text/html" || encoding == "application/xhtml+xml" {
                push(name, .integration)
            }
        default: break
        }
    }

    /// Closes the innermost open element with this name and the elements in it, but no template around it.
    private mutating func close(_ name: Word) {
        if open.isEmpty { return }
        if open.last?.kind == .foreign, name == "p" || name == "br" {
            while open.last?.kind == .foreign { pop() }
        }
        guard let place = places[name]?.last, place >= places["template"]?.last ?? 0 else { return }
        while open.count > place { pop() }
    }

    private mutating func push(_ name: Word, _ kind: Kind) {
        places[name, default: []].append(open.count)
        open.append(Context(name: name, kind: kind))
    }

    private mutating func pop() {
        let context = open.removeLast()
        places[context.name]?.removeLast()
        if context.kind == .inertTemplate { inertCount -= 1 }
    }

    /// Skips to the end tag of an element with text content.
    private mutating func passText(of name: Word) {
        while !isAtEndTag(of: name) {
            guard let next = find(UInt8(ascii: "<"), from: index + 1) else {
                index = count
                return
            }
            index = next
        }
    }

    /// Skips to the end tag of a script. Within a comment, a nested script has an end tag of its own.
    private mutating func passScript() {
        var isComment = false
        var isNested = false
        while index < count {
            if isAtEndTag(of: "script") {
                if !isNested { return }
                isNested = false
                index += 2
            } else if !isComment, matches("<!--") {
                isComment = true
                // The two dashes may also belong to the comment's end.
                index += 2
            } else if isComment, matches("-->") {
                (isComment, isNested) = (false, false)
                index += 3
            } else if isComment, !isNested, isAtTag(of: "script", after: "<") {
                isNested = true
                index += 1
            } else {
                index += 1
                let mark = isComment ? nil : find(UInt8(ascii: "<"))
                if !isComment { index = mark ?? count }
            }
        }
    }

    private func isAtEndTag(of name: Word) -> Bool { isAtTag(of: name, after: "</") }

    private func isAtTag(of name: Word, after mark: StaticString) -> Bool {
        guard matches(mark) else { return false }
        var found = Word()
        var end = index + mark.utf8CodeUnitCount
        while end < count, unsafe !Self.endsName(bytes[end]) {
            unsafe found.append(bytes[end])
            end += 1
            if end - index > 16 { return false }
        }
        return found == name && end < count
    }

    // MARK: Attributes

    /// Reads the attributes and the end of a tag.
    ///
    /// - Returns: whether it ends with `/>`, or nil if the page ends first, which makes it no tag.
    private mutating func readAttributes() -> Bool? {
        attributes.removeAll(keepingCapacity: true)
        while true {
            passBlanks()
            guard index < count else { return nil }
            if byte(0) == UInt8(ascii: ">") {
                index += 1
                return false
            }
            if byte(0) == UInt8(ascii: "/") {
                index += 1
                guard byte(0) == UInt8(ascii: ">"), index < count else { continue }
                index += 1
                return true
            }
            let name = readAttributeName()
            passBlanks()
            var value = unsafe UnsafeBufferPointer(rebasing: bytes[index..<index])
            if byte(0) == UInt8(ascii: "=") {
                index += 1
                guard let written = unsafe readValue() else { return nil }
                unsafe value = unsafe written
            }
            // The first attribute of a name is valid.
            if Self.matters(name), !attributes.contains(where: { $0.name == name }) {
                unsafe attributes.append(Attribute(name: name, value: CharacterReferences.decoded(value)))
            }
        }
    }

    private mutating func readValue() -> UnsafeBufferPointer<UInt8>? {
        passBlanks()
        var start = index
        let quote = byte(0)
        if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
            start += 1
            guard let end = find(quote, from: start) else {
                index = count
                return nil
            }
            index = end + 1
            return unsafe UnsafeBufferPointer(rebasing: bytes[start..<end])
        }
        while index < count, unsafe bytes[index] != UInt8(ascii: ">"), unsafe !Self.isBlank(bytes[index]) {
            index += 1
        }
        return unsafe UnsafeBufferPointer(rebasing: bytes[start..<index])
    }

    private mutating func readName() -> Word {
        var name = Word()
        while index < count, unsafe !Self.endsName(bytes[index]) {
            unsafe name.append(bytes[index])
            index += 1
        }
        return name
    }

    /// A name may begin with `=`.
    private mutating func readAttributeName() -> Word {
        var name = Word()
        repeat {
            unsafe name.append(bytes[index])
            index += 1
        } while unsafe index < count && bytes[index] != UInt8(ascii: "=") && !Self.endsName(bytes[index])
        return name
    }

    // MARK: Bytes

    private mutating func passBlanks() {
        while index < count, unsafe Self.isBlank(bytes[index]) { index += 1 }
    }

    /// Skips past the next occurrence of a text, or to the end of the page.
    private mutating func pass(through text: StaticString) {
        while let next = unsafe find(text.utf8Start[0]) {
            index = next
            if matches(text) {
                index += text.utf8CodeUnitCount
                return
            }
            index += 1
        }
        index = count
    }

    /// The byte at an offset from the next one, or 0 after the end.
    private func byte(_ offset: Int) -> UInt8 { index + offset < count ? unsafe bytes[index + offset] : 0 }

    private func matches(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        return index + length <= count && (0..<length).allSatisfy { unsafe bytes[index + $0] == text.utf8Start[$0] }
    }

    private func find(_ byte: UInt8, from start: Int? = nil) -> Int? {
        let start = start ?? index
        guard start < count, let base = unsafe bytes.baseAddress,
            let found = unsafe memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D || byte == 0x0C
    }

    private static func endsName(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || isBlank(byte)
    }

    /// Whether `LinkCollector` or the scanner uses an attribute.
    private static func matters(_ name: Word) -> Bool {
        switch name {
        case "class", "title", "style": false
        case "id", "href", "name", "rel", "src", "srcset", "poster", "data", "cite", "type", "http-equiv", "content",
            "charset", "srcdoc", "xlink:href", "encoding", "shadowrootmode", "color", "face", "size":
            true
        default: false
        }
    }

    /// Whether a start tag of HTML ends the SVG or MathML around it.
    private static func endsForeign(_ name: Word) -> Bool {
        switch name {
        case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1",
            "h2", "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p",
            "pre", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var":
            true
        default: false
        }
    }
}

extension Attribute {
    /// Whether a `<font>` with this attribute belongs to HTML and not to SVG.
    fileprivate var isOfFont: Bool { name == "color" || name == "face" || name == "size" }
}
