/// One line of Markdown: how far it is indented, and what it begins.
struct MarkdownLine {
    /// What an HTML block begins with (CommonMark section 4.6).
    enum HTMLStart: Equatable {
        /// A comment.
        case comment
        /// `<?…`, `<!DOCTYPE…`.
        case instruction
        /// An element whose text is no Markdown, by the text of its end, and whether its tags count.
        case raw(end: StaticString, isKept: Bool)
        /// A tag of a block, such as `<div>`.
        case blockTag
        /// Any other tag that is alone on its line.
        case anyTag

        static func == (a: HTMLStart, b: HTMLStart) -> Bool {
            switch (a, b) {
            case (.comment, .comment), (.instruction, .instruction), (.blockTag, .blockTag), (.anyTag, .anyTag),
                (.raw, .raw):
                true
            default: false
            }
        }
    }

    /// The column of the first character that is no space; a tab leads to the next multiple of four.
    private(set) var indent = 0

    /// What is left without the indent and the end of the line.
    private(set) var content: ArraySlice<UInt8>

    var isBlank: Bool { content.isEmpty }

    init(_ line: ArraySlice<UInt8>, from column: Int = 0) {
        content = line
        indent = column
        if content.last == UInt8(ascii: "\r") { content.removeLast() }
        skipIndent()
    }

    private mutating func skipIndent() {
        while let byte = content.first {
            switch byte {
            case UInt8(ascii: " "): indent += 1
            case UInt8(ascii: "\t"): indent += 4 - indent % 4
            default: return
            }
            content.removeFirst()
        }
    }

    /// Takes one `>` and one space away. What is in a quote counts its columns anew.
    mutating func dropQuote() -> Bool {
        guard indent < 4, content.first == UInt8(ascii: ">") else { return false }
        content.removeFirst()
        if content.first == UInt8(ascii: " ") { content.removeFirst() }
        indent = 0
        skipIndent()
        return true
    }

    /// The text of a heading such as `## Text ##`.
    var heading: ArraySlice<UInt8>? {
        let marks = content.prefix { $0 == UInt8(ascii: "#") }
        guard (1...6).contains(marks.count) else { return nil }
        var text = content[marks.endIndex...]
        guard text.first.map({ $0 <= 0x20 }) ?? true else { return nil }
        text = Self.trim(text)
        var closed = text
        while closed.last == UInt8(ascii: "#") { closed.removeLast() }
        if closed.isEmpty || closed.last.map({ $0 <= 0x20 }) == true { text = Self.trim(closed) }
        return text
    }

    /// The character and length of a code fence that begins here.
    var fence: (UInt8, Int)? {
        guard let first = content.first, first == UInt8(ascii: "`") || first == UInt8(ascii: "~") else { return nil }
        let run = content.prefix { $0 == first }
        guard run.count >= 3 else { return nil }
        if first == UInt8(ascii: "`"), content[run.endIndex...].contains(first) { return nil }
        return (first, run.count)
    }

    /// `---`, `* * *` and the like.
    var isThematicBreak: Bool {
        guard let first = content.first, "-*_".utf8.contains(first) else { return false }
        var count = 0
        for byte in content {
            if byte == first { count += 1 } else if byte > 0x20 { return false }
        }
        return count >= 3
    }

    /// A list item that begins here: the column of its contents, what is left of the line, and whether it may end a
    /// paragraph that has no blank line after it.
    var listItem: (column: Int, rest: MarkdownLine, interrupts: Bool)? {
        guard let first = content.first else { return nil }
        var marker = 1
        var interrupts = true
        if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
            let digits = content.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard digits.count <= 9, let end = content[digits.endIndex...].first,
                end == UInt8(ascii: ".") || end == UInt8(ascii: ")")
            else { return nil }
            marker = digits.count + 1
            interrupts = digits.elementsEqual("1".utf8)
        } else if !"-+*".utf8.contains(first) {
            return nil
        }
        let after = content.dropFirst(marker)
        guard after.first.map({ $0 <= 0x20 }) ?? true else { return nil }
        let rest = MarkdownLine(after, from: indent + marker)
        let gap = rest.indent - indent - marker
        // An empty item, or one that begins with indented code, has its contents one column after the marker.
        let column = rest.isBlank || gap > 4 ? indent + marker + 1 : rest.indent
        return (column, rest, interrupts && !rest.isBlank)
    }

    /// The kind of HTML block that begins here.
    var htmlStart: HTMLStart? {
        guard content.first == UInt8(ascii: "<") else { return nil }
        let rest = content.dropFirst()
        if rest.starts(with: "!--".utf8) { return .comment }
        if rest.first == UInt8(ascii: "?") || rest.first == UInt8(ascii: "!") { return .instruction }
        let isEnd = rest.first == UInt8(ascii: "/")
        let tag = isEnd ? rest.dropFirst() : rest
        let name = String(decoding: tag.prefix { Self.isAlphanumeric($0) }, as: UTF8.self).lowercased()
        guard let after = tag.dropFirst(name.utf8.count).first.map({ $0 <= 0x20 || $0 == 0x2F || $0 == 0x3E ? $0 : 0 })
        else { return Self.blockTags.contains(name) ? .blockTag : nil }
        if after != 0, !isEnd {
            switch name {
            case "pre": return .raw(end: "</pre>", isKept: true)
            case "script": return .raw(end: "</script>", isKept: false)
            case "style": return .raw(end: "</style>", isKept: false)
            case "textarea": return .raw(end: "</textarea>", isKept: false)
            default: break
            }
        }
        if after != 0, Self.blockTags.contains(name) { return .blockTag }
        guard let end = MarkdownTag.end(of: content), content[end...].allSatisfy({ $0 <= 0x20 }) else { return nil }
        return MarkdownTag.isSwallowing(name) ? nil : .anyTag
    }

    /// Whether the line has this text in it, in lower or upper case.
    func contains(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard content.count >= count else { return false }
        return (content.startIndex...(content.endIndex - count)).contains { start in
            (0..<count).allSatisfy { offset in
                let byte = content[start + offset]
                let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
                return lower == text.utf8Start[offset]
            }
        }
    }

    private static func trim(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text.drop { $0 <= 0x20 }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        return text
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static let blockTags: Set<String> = [
        "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
        "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer",
        "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe",
        "legend", "li", "link", "main", "menu", "menuitem", "nav", "ol", "optgroup", "option", "p", "param", "search",
        "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "ul",
    ]
}
