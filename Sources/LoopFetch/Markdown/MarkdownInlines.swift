/// Finds the links in the text of a paragraph or heading, and the text without its markup (CommonMark section 6).
struct MarkdownInlines {
    /// A `[` or `![` that may become a link.
    private struct Opener {
        let start: Int
        let content: Int
        let textCount: Int
        let isImage: Bool
    }

    /// The text without markup, once it has been read.
    var plainText: String {
        String(decoding: EmphasisMarks.remove(text, at: underscores).filter { $0 != Self.nothing }, as: UTF8.self)
    }

    /// Stands in `text` for a bracket that has turned out to be no part of it.
    private static let nothing: UInt8 = 0

    private let bytes: [UInt8]
    private let definitions: [String: [UInt8]]
    private var index = 0
    private var text: [UInt8] = []
    /// Where in `text` there are underscores that are no part of code.
    private var underscores: [Int] = []
    private var openers: [Opener] = []
    /// How many of the openers, from the first on, have a link behind them: they can become images only.
    private var openersBeforeLink = 0
    private var found: [(start: Int, html: [UInt8])] = []
    /// Lengths of backtick runs that nothing closes any more.
    private var unclosedRuns: Set<Int> = []
    private var hasNoMoreComments = false

    init(_ bytes: [UInt8], _ definitions: [String: [UInt8]]) {
        self.bytes = bytes
        self.definitions = definitions
    }

    /// Appends the HTML of the links, images and tags in the order in which they begin.
    mutating func read(into output: inout [UInt8]) {
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\\"): readEscape()
            case UInt8(ascii: "`"): readCode()
            case UInt8(ascii: "<"): readTag()
            case UInt8(ascii: "["): open(isImage: false)
            case UInt8(ascii: "!") where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "["):
                open(isImage: true)
            case UInt8(ascii: "]"): close()
            case UInt8(ascii: "&"): readEntity()
            default:
                if byte == UInt8(ascii: "_") { underscores.append(text.count) }
                text.append(byte)
                index += 1
            }
        }
        found.sort { $0.start < $1.start }
        for piece in found { output += piece.html }
    }

    // MARK: Pieces

    private mutating func readEscape() {
        index += 1
        if index < bytes.count, MarkdownDestination.isPunctuation(bytes[index]) {
            text.append(bytes[index])
            index += 1
        }
    }

    private mutating func readCode() {
        let start = index
        while index < bytes.count, bytes[index] == UInt8(ascii: "`") { index += 1 }
        let count = index - start
        guard !unclosedRuns.contains(count) else { return }
        var at = index
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "`") else {
                at += 1
                continue
            }
            let runStart = at
            while at < bytes.count, bytes[at] == UInt8(ascii: "`") { at += 1 }
            if at - runStart == count {
                text += bytes[index..<runStart]
                index = at
                return
            }
        }
        unclosedRuns.insert(count)
    }

    private mutating func readTag() {
        let start = index
        if bytes[start...].starts(with: "<!--".utf8) {
            if !hasNoMoreComments, let end = endOfComment(from: start + 4) {
                index = end
                return
            }
            hasNoMoreComments = true
        } else if let end = endOfAutolink() {
            found.append((start, Self.tag("<a href=\"", bytes[(start + 1)..<(end - 1)])))
            text += bytes[(start + 1)..<(end - 1)]
            index = end
            return
        } else if let end = MarkdownTag.end(of: bytes[start...]) {
            let name = bytes[(start + 1)..<end].prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A }
            if !MarkdownTag.isSwallowing(String(decoding: name, as: UTF8.self).lowercased()) {
                found.append((start, Array(bytes[start..<end])))
            }
            index = end
            return
        }
        text.append(UInt8(ascii: "<"))
        index += 1
    }

    private func endOfComment(from start: Int) -> Int? {
        var at = start
        while at + 2 < bytes.count {
            if bytes[at] == 0x2D, bytes[at + 1] == 0x2D, bytes[at + 2] == 0x3E { return at + 3 }
            at += 1
        }
        return nil
    }

    /// Behind the `>` of `<scheme:something>`.
    private func endOfAutolink() -> Int? {
        var at = index + 1
        while at < bytes.count, at - index < 34, Self.isSchemeByte(bytes[at]) { at += 1 }
        guard at - index > 2, at < bytes.count, bytes[at] == UInt8(ascii: ":") else { return nil }
        while at < bytes.count, at - index < MarkdownDestination.bytesMax {
            if bytes[at] == UInt8(ascii: ">") { return at + 1 }
            if bytes[at] <= 0x20 || bytes[at] == UInt8(ascii: "<") { return nil }
            at += 1
        }
        return nil
    }

    /// Entities in headings are mostly signs, which anchors leave out; links keep theirs, and libxml2 decodes them.
    private mutating func readEntity() {
        let name = bytes[(index + 1)...].prefix(32)
        let end = name.firstIndex { !($0 == UInt8(ascii: "#") || Self.isSchemeByte($0)) }
        if let end, end > index + 1, bytes[end] == UInt8(ascii: ";") {
            index = end + 1
        } else {
            text.append(bytes[index])
            index += 1
        }
    }

    // MARK: Brackets

    private mutating func open(isImage: Bool) {
        let content = index + (isImage ? 2 : 1)
        openers.append(Opener(start: index, content: content, textCount: text.count, isImage: isImage))
        text += bytes[index..<content]
        index = content
    }

    private mutating func close() {
        let end = index
        index += 1
        let opener = openers.popLast()
        let isActive = opener?.isImage == true || openers.count >= openersBeforeLink
        openersBeforeLink = min(openersBeforeLink, openers.count)
        guard let opener, isActive, let destination = destination(after: end, opener) else {
            text.append(UInt8(ascii: "]"))
            return
        }
        if opener.isImage {
            found.append((opener.start, Self.tag("<img src=\"", destination[...])))
            // The text that stands for an image is no text of the heading.
            text.removeSubrange(opener.textCount...)
            while let last = underscores.last, last >= text.count { underscores.removeLast() }
        } else {
            found.append((opener.start, Self.tag("<a href=\"", destination[...])))
            text[opener.textCount] = Self.nothing
            // A link has no links in it.
            openersBeforeLink = openers.count
        }
    }

    /// What the link that ends with the bracket at `end` leads to; nil where it is no link after all.
    private mutating func destination(after end: Int, _ opener: Opener) -> [UInt8]? {
        if index < bytes.count, bytes[index] == UInt8(ascii: "(") {
            var at = index
            if let destination = MarkdownDestination.inline(bytes[...], &at) {
                index = at
                return destination
            }
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: "[") {
            var at = index
            if let label = MarkdownDestination.label(bytes[...], &at), !label.isEmpty {
                guard let destination = definitions[label] else { return nil }
                index = at
                return destination
            }
        }
        guard end - opener.content < 1000, !definitions.isEmpty else { return nil }
        let label = MarkdownDestination.normalise(bytes[opener.content..<end])
        guard let destination = definitions[label] else { return nil }
        if bytes[index...].starts(with: "[]".utf8) { index += 2 }
        return destination
    }

    private static func tag(_ start: StaticString, _ value: ArraySlice<UInt8>) -> [UInt8] {
        var html = Array(UnsafeBufferPointer(start: start.utf8Start, count: start.utf8CodeUnitCount))
        for byte in value {
            switch byte {
            case UInt8(ascii: "\""): html += "&quot;".utf8
            case UInt8(ascii: "<"): html += "&lt;".utf8
            case UInt8(ascii: ">"): html += "&gt;".utf8
            default: html.append(byte)
            }
        }
        return html + "\">".utf8
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

/// Underscores that emphasise a word, and are no part of the text.
enum EmphasisMarks {
    /// The text without the underscores that open and close an emphasis. Other marks are left out of anchors anyway.
    static func remove(_ text: [UInt8], at places: [Int]) -> [UInt8] {
        guard places.count > 1, text.count < 4096 else { return text }
        var openers: [Int] = []
        var removed: Set<Int> = []
        for place in places {
            var first = place
            var last = place
            while first > 0, text[first - 1] == UInt8(ascii: "_") { first -= 1 }
            while last + 1 < text.count, text[last + 1] == UInt8(ascii: "_") { last += 1 }
            let hasWordBefore = first > 0 && isWord(text[first - 1])
            let hasWordAfter = last + 1 < text.count && isWord(text[last + 1])
            if hasWordBefore, !hasWordAfter, let opener = openers.popLast() {
                removed.formUnion([opener, place])
            } else if !hasWordBefore, last + 1 < text.count, text[last + 1] > 0x20 {
                openers.append(place)
            }
        }
        return text.indices.filter { !removed.contains($0) }.map { text[$0] }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
