/// The grammar of a raw HTML tag in Markdown (CommonMark section 6.6).
enum MarkdownTag {
    /// Where the tag that begins with `<` at the start of `text` ends: after its `>`. Nil where there is no tag.
    static func end(of text: ArraySlice<UInt8>) -> Int? {
        var index = text.startIndex + 1
        func byte() -> UInt8 { index < text.endIndex ? text[index] : 0 }
        func skipSpace() { while index < text.endIndex, text[index] <= 0x20 { index += 1 } }
        let isClosing = byte() == UInt8(ascii: "/")
        if isClosing { index += 1 }
        guard isLetter(byte()) else { return nil }
        while isLetter(byte()) || isDigit(byte()) || byte() == UInt8(ascii: "-") { index += 1 }
        while true {
            let gap = index
            skipSpace()
            if byte() == UInt8(ascii: ">") { return index + 1 }
            guard !isClosing else { return nil }
            if byte() == UInt8(ascii: "/") {
                index += 1
                return byte() == UInt8(ascii: ">") ? index + 1 : nil
            }
            guard index > gap, isLetter(byte()) || byte() == UInt8(ascii: "_") || byte() == UInt8(ascii: ":") else {
                return nil
            }
            while isLetter(byte()) || isDigit(byte()) || "_:.-".utf8.contains(byte()) { index += 1 }
            let afterName = index
            skipSpace()
            guard byte() == UInt8(ascii: "=") else {
                index = afterName
                continue
            }
            index += 1
            skipSpace()
            let quote = byte()
            if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                index += 1
                while index < text.endIndex, text[index] != quote { index += 1 }
                guard index < text.endIndex else { return nil }
                index += 1
            } else {
                let start = index
                while index < text.endIndex, text[index] > 0x20, !"\"'=<>`".utf8.contains(text[index]) { index += 1 }
                guard index > start else { return nil }
            }
        }
    }

    /// Whether this element, left open, would swallow all that follows as its text.
    static func isSwallowing(_ name: String) -> Bool {
        switch name {
        case "script", "style", "title", "textarea", "xmp", "plaintext", "noembed", "noframes": true
        default: false
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
