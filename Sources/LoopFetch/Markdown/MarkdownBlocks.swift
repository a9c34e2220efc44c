/// Divides a Markdown page into the blocks that can hold links, line by line (CommonMark sections 4 and 5).
struct MarkdownBlocks {
    /// A block that can hold links or anchors.
    enum Block: Equatable {
        case paragraph([UInt8])
        case heading([UInt8])
        case html([UInt8])
    }

    /// What lines belong to until it ends. Without one, they are paragraphs or begin something.
    private enum Container {
        /// A code fence: its character, its length, the quotes it is in, and the indent of the list item it is in.
        case fence(UInt8, count: Int, quotes: Int, indent: Int)
        /// An HTML block that ends at a blank line.
        case html
        /// An HTML block that ends with the line that has this text in it, and whose tags count or not.
        case htmlUntil(StaticString, isKept: Bool)
    }

    private(set) var blocks: [Block] = []
    private(set) var definitions: [String: [UInt8]] = [:]

    private var container: Container?
    private var isCommentOpen = false
    private var paragraph: [UInt8] = []
    private var paragraphQuotes = 0
    private var html: [UInt8] = []
    /// The columns at which the contents of the open list items begin, outermost first.
    private var items: [Int] = []

    /// Reads a whole page.
    mutating func read(_ page: [UInt8]) {
        var lines = page.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        if lines.first?.starts(with: [0xEF, 0xBB, 0xBF]) == true, let first = lines.first {
            lines[lines.startIndex] = first.dropFirst(3)
        }
        lines = Self.withoutFrontMatter(lines)
        for line in lines { read(line: line) }
        // A comment that is never closed hides all that follows it.
        if isCommentOpen { html = [] }
        endHTML()
        endParagraph()
    }

    // MARK: Lines

    private mutating func read(line whole: ArraySlice<UInt8>) {
        var line = MarkdownLine(whole)
        var quotes = 0
        let quotesMax = if case .fence(_, _, let quotes, _) = container { quotes } else { Int.max }
        while quotes < quotesMax, line.dropQuote() { quotes += 1 }
        if read(line, quotes: quotes, inside: container) { return }
        // A quote ends the paragraph above it; a line that leaves a quote continues the paragraph in it.
        if line.isBlank || quotes > paragraphQuotes { endParagraph() }
        if line.isBlank { return }
        if paragraph.isEmpty { paragraphQuotes = quotes }
        readBlocks(line, quotes: quotes)
    }

    /// True when the line belongs to the container, or ends it.
    private mutating func read(_ line: MarkdownLine, quotes: Int, inside container: Container?) -> Bool {
        switch container {
        case nil:
            return false
        case .fence(let character, let count, let fenceQuotes, let indent):
            if quotes < fenceQuotes || !line.isBlank && line.indent < indent {
                self.container = nil
                return false
            }
            let run = line.content.prefix { $0 == character }
            if run.count >= count, line.content[run.endIndex...].allSatisfy({ $0 <= 0x20 }) { self.container = nil }
            return true
        case .html:
            if line.isBlank {
                endHTML()
                return true
            }
            html += line.content + [UInt8(ascii: "\n")]
            return true
        case .htmlUntil(let end, let isKept):
            if isKept { html += line.content + [UInt8(ascii: "\n")] }
            if line.contains(end) { endHTML() }
            return true
        }
    }

    /// A line that is in no container: markers of lists, one inside of the other, and then what the item holds.
    private mutating func readBlocks(_ line: MarkdownLine, quotes: Int) {
        var line = line
        while true {
            let begins = line.indent < (items.last ?? 0) + 4 && beginsBlock(line)
            // A line that is not indented far enough for its item, and begins nothing, continues the paragraph.
            if !paragraph.isEmpty, !begins, setextLevel(line) == nil || line.indent < (items.last ?? 0) {
                append(line)
                return
            }
            while let column = items.last, line.indent < column {
                endParagraph()
                items.removeLast()
            }
            if line.indent >= (items.last ?? 0) + 4, paragraph.isEmpty { return }
            if !paragraph.isEmpty, setextLevel(line) != nil {
                endParagraph(asHeading: true)
                return
            }
            if line.isThematicBreak {
                endParagraph()
                return
            }
            guard let item = line.listItem, paragraph.isEmpty || item.interrupts else { break }
            endParagraph()
            items.append(item.column)
            line = item.rest
            while line.dropQuote() {}
            if line.isBlank { return }
        }
        readLeaf(line, quotes: quotes)
    }

    private mutating func readLeaf(_ line: MarkdownLine, quotes: Int) {
        if let heading = line.heading {
            endParagraph()
            blocks.append(.heading(Array(heading)))
        } else if let (character, count) = line.fence {
            endParagraph()
            container = .fence(character, count: count, quotes: quotes, indent: items.last ?? 0)
        } else if let start = line.htmlStart, start != .anyTag || paragraph.isEmpty {
            endParagraph()
            switch start {
            case .blockTag, .anyTag: container = .html
            case .comment:
                isCommentOpen = true
                container = .htmlUntil("-->", isKept: true)
            case .instruction: container = .htmlUntil(">", isKept: false)
            case .raw(let end, let isKept): container = .htmlUntil(end, isKept: isKept)
            }
            _ = read(line, quotes: quotes, inside: container)
        } else {
            append(line)
        }
    }

    private func beginsBlock(_ line: MarkdownLine) -> Bool {
        if line.isThematicBreak || line.heading != nil || line.fence != nil { return true }
        if let item = line.listItem { return paragraph.isEmpty || item.interrupts || line.indent < (items.last ?? 0) }
        return line.htmlStart.map { $0 != .anyTag } ?? false
    }

    /// 1 or 2 for a line of equal signs or hyphens only, which makes a heading of the paragraph above.
    private func setextLevel(_ line: MarkdownLine) -> Int? {
        guard let first = line.content.first, first == UInt8(ascii: "=") || first == UInt8(ascii: "-") else {
            return nil
        }
        guard line.indent < (items.last ?? 0) + 4 else { return nil }
        let rest = line.content.drop { $0 == first }
        return rest.allSatisfy { $0 <= 0x20 } ? (first == UInt8(ascii: "=") ? 1 : 2) : nil
    }

    // MARK: Ends

    private mutating func append(_ line: MarkdownLine) {
        if !paragraph.isEmpty { paragraph.append(UInt8(ascii: "\n")) }
        paragraph += line.content
    }

    private mutating func endHTML() {
        if !html.isEmpty { blocks.append(.html(html)) }
        html = []
        container = nil
        isCommentOpen = false
    }

    private mutating func endParagraph(asHeading: Bool = false) {
        var rest = paragraph[...]
        paragraph = []
        while rest.first == UInt8(ascii: "["), let definition = MarkdownDefinition(&rest) {
            if definitions[definition.label] == nil { definitions[definition.label] = definition.destination }
        }
        guard !rest.isEmpty else { return }
        blocks.append(asHeading ? .heading(Array(rest)) : .paragraph(Array(rest)))
    }

    /// Without the YAML between two lines of `---` at the very beginning.
    private static func withoutFrontMatter(_ lines: ArraySlice<ArraySlice<UInt8>>) -> ArraySlice<ArraySlice<UInt8>> {
        func isFence(_ line: ArraySlice<UInt8>) -> Bool {
            line.starts(with: "---".utf8) && line.dropFirst(3).allSatisfy { $0 <= 0x20 }
        }
        guard let first = lines.first, isFence(first), let end = lines.dropFirst().firstIndex(where: isFence) else {
            return lines
        }
        return lines[(end + 1)...]
    }
}
