// Unsafe: the bytes of a page are lent by the caller of the scan, and nothing keeps them after it.

internal import Glibc

/// Reads pages whose markup is plain, several times as fast as libxml2, and tells the same: every start tag with its
/// attributes, and the title.
///
/// Links and places do not depend on which elements are open. So none is opened or closed here; texts and end tags are
/// passed over. A page is plain where every reader of HTML sees the same tags in it. What one of them could see in
/// another way is not plain: a `<` in a text, an attribute without a proper name, a reference such as `&#64;` in a value,
/// an element whose content may be no markup, nesting that is not for people. Such a page is libxml2's as a whole.
///
///     text ──"<"──▶ "/" name ">"                                         ──▶ text
///                   name *attribute (">" | "/>")                         ──▶ text; of a script or a style sheet its end
///                   "!--" … "-->" | "!doctype" … ">" | "?" letter … ">"  ──▶ text
///                   anything else                                        ──▶ not plain
@safe struct TagScanner: ~Copyable {
    private let collector: LinkCollector
    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var attributes: [Attribute] = []
    private var values: DecodedValues
    private var part = Part.prologue
    /// The names of the tags that are open, where every one is closed in its turn; else more of them.
    private var open: [Word] = []
    private var openMax = 0

    /// How far the page has come: a second `<html>` or `<body>` has no attributes for libxml2, wherever the first came
    /// from.
    private enum Part {
        case prologue, head, body
    }

    /// Tells `collector` about all start tags, and the title.
    ///
    /// - Parameter page: Valid UTF-8 without zero bytes, up to the end of its last tag.
    /// - Returns: False where the page is not plain; `collector` then knows only a part of it.
    static func read(_ page: UnsafeBufferPointer<UInt8>, into collector: LinkCollector) -> Bool {
        // A second byte order mark.
        if unsafe page.starts(with: [0xEF, 0xBB, 0xBF]) { return false }
        var scanner = unsafe TagScanner(collector, page)
        while scanner.index < page.count {
            guard scanner.passText(), scanner.readMarkup() else { return false }
        }
        return MarkupLimits.isShallow(scanner.openMax, bytesCount: page.count)
    }

    private init(_ collector: LinkCollector, _ bytes: UnsafeBufferPointer<UInt8>) {
        self.collector = collector
        unsafe self.bytes = bytes
        values = DecodedValues(capacity: bytes.count)
        attributes.reserveCapacity(16)
        open.reserveCapacity(64)
    }

    // MARK: Markup

    /// Goes to the next `<`.
    private mutating func passText() -> Bool {
        guard let end = find(UInt8(ascii: "<")) else { return false }
        if part != .body, unsafe bytes[index..<end].contains(where: { !Self.isBlank($0) }) { part = .body }
        index = end
        return true
    }

    private mutating func readMarkup() -> Bool {
        switch byte(1) {
        case UInt8(ascii: "/"): readEndTag()
        case UInt8(ascii: "!"): passDeclaration()
        case UInt8(ascii: "?"): passInstruction()
        case let first: Self.isLetter(first) && readStartTag()
        }
    }

    private mutating func readEndTag() -> Bool {
        guard Self.isLetter(byte(2)) else { return false }
        index += 2
        guard let name = readName() else { return false }
        passBlanks()
        guard byte(0) == UInt8(ascii: ">") else { return false }
        index += 1
        if open.last == name { open.removeLast() }
        return true
    }

    private mutating func passInstruction() -> Bool {
        guard Self.isLetter(byte(2)), let end = find(UInt8(ascii: ">")) else { return false }
        index = end + 1
        return true
    }

    private mutating func passDeclaration() -> Bool {
        if byte(2) == UInt8(ascii: "-"), byte(3) == UInt8(ascii: "-") { return passComment() }
        guard let end = find(UInt8(ascii: ">")) else { return false }
        let words = unsafe bytes[(index + 2)..<end]
        let isDoctype = unsafe words.prefix(7).lazy.map { $0 | 0x20 }.elementsEqual("doctype".utf8)
        let areQuotesClosed = unsafe words.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2)
        guard isDoctype, areQuotesClosed, unsafe !words.contains(UInt8(ascii: "'")),
            unsafe !words.contains(UInt8(ascii: "["))
        else {
            return false
        }
        index = end + 1
        return true
    }

    private mutating func passComment() -> Bool {
        index += 4
        // An end right here is one for some readers only.
        if byte(0) == UInt8(ascii: ">") || byte(0) == UInt8(ascii: "-") && byte(1) == UInt8(ascii: ">") { return false }
        while let dash = find(UInt8(ascii: "-")) {
            index = dash + 1
            guard byte(0) == UInt8(ascii: "-") else { continue }
            if byte(1) == UInt8(ascii: "!"), byte(2) == UInt8(ascii: ">") { return false }
            if byte(1) == UInt8(ascii: ">") {
                index += 2
                return true
            }
        }
        return false
    }

    // MARK: Start tags

    private mutating func readStartTag() -> Bool {
        index += 1
        guard let name = readName(), readAttributes() else { return false }
        let isClosed = byte(0) == UInt8(ascii: "/")
        index += isClosed ? 2 : 1
        if !isClosed, !Self.isVoid(name) {
            open.append(name)
            openMax = max(openMax, open.count)
        }
        return tell(name, isClosed: isClosed)
    }

    private mutating func tell(_ name: Word, isClosed: Bool) -> Bool {
        switch name {
        case "html", "head", "body":
            guard !isClosed, mayHaveAttributes(name) else { return false }
            part = name == "body" ? .body : part == .prologue ? .head : part
        case "script", "style":
            if part == .prologue { part = .head }
            collector.start(name, attributes)
            return isClosed || passRawText(of: name)
        case "title" where collector.lacksTitle:
            collector.start(name, attributes)
            return !isClosed && readTitle()
        case "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext":
            return false
        case "meta", "link", "base":
            if part == .prologue { part = .head }
        default:
            part = .body
        }
        if !attributes.isEmpty { collector.start(name, attributes) }
        return true
    }

    /// Whether it is plain that `<html>`, `<head>` or `<body>` is the first, or that it does not matter.
    private func mayHaveAttributes(_ name: Word) -> Bool {
        guard attributes.contains(where: { $0.name == "id" }) else { return true }
        switch name {
        case "html": return part == .prologue
        case "body": return part != .body
        default: return false
        }
    }

    /// Goes to the end tag of a script or a style sheet.
    private mutating func passRawText(of name: Word) -> Bool {
        // What is a tag at the very beginning is one for libxml2 here too.
        if byte(0) == UInt8(ascii: "<"), Self.isLetter(byte(1)) { return false }
        let start = index
        while let end = find(UInt8(ascii: "<")) {
            index = end
            if byte(1) == UInt8(ascii: "/") {
                index = end + 2
                let found = Self.isLetter(byte(0)) ? readName() : nil
                index = end
                if found == name { return true }
                // The end tag of another element whose name begins alike ends the text for libxml2.
                if end == start || found.map({ $0.hasPrefix(name) }) ?? false { return false }
            }
            index += 1
        }
        return false
    }

    /// Reads the text of a title, and its end tag.
    private mutating func readTitle() -> Bool {
        if part == .prologue { part = .head }
        guard let end = find(UInt8(ascii: "<")) else { return false }
        let text = unsafe bytes[index..<end]
        index = end + 2
        guard byte(-1) == UInt8(ascii: "/"), Self.isLetter(byte(0)), readName() == "title" else { return false }
        index = end
        // References are for libxml2, and so are the pieces in which it tells a long text and what it leaves out.
        if unsafe text.count < 1000, unsafe !text.contains(where: Self.isForLibrary) {
            unsafe collector.text(UnsafeBufferPointer(rebasing: text))
        } else {
            guard unsafe HTMLReader.readByLibrary(Array("<p>".utf8) + text + Array("</p>".utf8), into: collector) else {
                return false
            }
        }
        collector.end("title")
        return readEndTag()
    }

    /// Reads attributes up to the end of the tag, which is then at `index`.
    private mutating func readAttributes() -> Bool {
        attributes.removeAll(keepingCapacity: true)
        var count = 0
        var unquotedCount = 0
        while true {
            passBlanks()
            let first = byte(0)
            if first == UInt8(ascii: ">") { return true }
            if first == UInt8(ascii: "/") { return byte(1) == UInt8(ascii: ">") }
            count += 1
            guard count <= MarkupLimits.attributesMax / 8, Self.isLetter(first), let name = readName() else {
                return false
            }
            passBlanks()
            guard byte(0) == UInt8(ascii: "=") else {
                // Another one of the same name would have no value either.
                if Self.matters(name) { return false }
                continue
            }
            index += 1
            passBlanks()
            let quote = byte(0)
            let start: Int
            let end: Int
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                start = index + 1
                guard let close = find(quote, from: start) else { return false }
                end = close
                index = end + 1
            } else {
                start = index
                while unsafe index < bytes.count, unsafe !Self.isBlank(bytes[index]),
                    unsafe bytes[index] != UInt8(ascii: ">")
                { index += 1 }
                end = index
                unquotedCount += end - start
                guard end > start, unquotedCount < MarkupLimits.attributesMax / 2 else { return false }
            }
            // The first of a name counts.
            guard Self.matters(name), !attributes.contains(where: { $0.name == name }) else { continue }
            guard let value = unsafe values.decoded(UnsafeBufferPointer(rebasing: bytes[start..<end])) else {
                return false
            }
            unsafe attributes.append(Attribute(name: name, value: value))
        }
    }

    // MARK: Bytes

    /// A name of letters, digits, `:`, `-`, `_` and `.`, its letters in lower case; nil where it is longer than names are.
    private mutating func readName() -> Word? {
        var name = Word.Builder()
        while unsafe index < bytes.count, unsafe bytes[index].isInName {
            unsafe name.append(bytes[index])
            index += 1
        }
        return name.count <= 64 ? name.word : nil
    }

    private mutating func passBlanks() {
        while unsafe index < bytes.count, unsafe Self.isBlank(bytes[index]) { index += 1 }
    }

    /// The byte at an offset from the next one; 0 after the end.
    private func byte(_ offset: Int) -> UInt8 { unsafe index + offset < bytes.count ? bytes[index + offset] : 0 }

    private func find(_ byte: UInt8, from start: Int? = nil) -> Int? {
        let start = start ?? index
        guard unsafe start < bytes.count, let base = unsafe bytes.baseAddress,
            let found = unsafe memchr(base + start, Int32(byte), bytes.count - start)
        else { return nil }
        return unsafe UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Whether a byte of a title begins a reference or is a part of a character that XML does not have: U+FFFE and U+FFFF
    /// begin with EF.
    private static func isForLibrary(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "&") || byte == 0xEF || byte < 0x20 && !isBlank(byte)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

    /// Whether an attribute is one that `LinkCollector` looks at.
    private static func matters(_ name: Word) -> Bool {
        switch name {
        case "class", "title", "style": false
        case "id", "href", "name", "rel", "src", "srcset", "poster", "data", "cite", "type", "http-equiv", "content":
            true
        default: false
        }
    }

    /// Whether an element never has content, nor an end tag.
    private static func isVoid(_ name: Word) -> Bool {
        switch name {
        case "area", "base", "br", "col", "frame", "hr", "img", "input", "link", "meta", "param": true
        default: false
        }
    }
}
