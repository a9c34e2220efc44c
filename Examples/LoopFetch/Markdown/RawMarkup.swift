/// The HTML within a Markdown page.
enum RawMarkup {
    /// The markup without comments and without elements whose content is plain text, such as scripts.
    ///
    /// A page of HTML ends at a comment that is never closed. A Markdown page goes on after the block that holds it, so
    /// whatever would hide the rest of the page is removed.
    ///
    /// - Parameter markup: one block, or one tag.
    static func withoutHiddenText(_ markup: [UInt8]) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(markup.count)
        var index = 0
        while index < markup.count {
            guard markup[index] == UInt8(ascii: "<"), let end = endOfHidden(markup, at: index) else {
                kept.append(markup[index])
                index += 1
                continue
            }
            index = end
        }
        return kept
    }

    /// The index after the comment or text element that begins at `start`; nil if none begins there.
    private static func endOfHidden(_ markup: [UInt8], at start: Int) -> Int? {
        if starts(markup, at: start, with: "<!--") { return end(of: "-->", markup, from: start + 4) }
        for name in textElements where starts(markup, at: start + 1, with: name) {
            let after = start + 1 + name.utf8.count
            if after < markup.count, isName(markup[after]) { continue }
            let closing = end(of: "</" + name, markup, from: after)
            return end(of: ">", markup, from: closing)
        }
        return nil
    }

    /// Elements that hold text and no tags.
    private static let textElements = [
        "script", "style", "title", "textarea", "xmp", "plaintext", "noembed", "noframes",
    ]

    /// The index after the next `text`; the end of the markup if there is none.
    private static func end(of text: String, _ markup: [UInt8], from start: Int) -> Int {
        var index = start
        while index < markup.count {
            if starts(markup, at: index, with: text) { return index + text.utf8.count }
            index += 1
        }
        return markup.count
    }

    /// Whether the markup has this text here, in lower or upper case.
    private static func starts(_ markup: [UInt8], at index: Int, with text: String) -> Bool {
        var index = index
        for wanted in text.utf8 {
            guard index < markup.count else { return false }
            let byte = markup[index]
            let isUppercase = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            guard (isUppercase ? byte | 0x20 : byte) == wanted else { return false }
            index += 1
        }
        return true
    }

    private static func isName(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
