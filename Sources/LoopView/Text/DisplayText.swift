/// Text that is safe for a terminal: without control sequences, and measured in columns.
enum DisplayText {
    /// The text as one line. Control characters and marks that change the direction of text are replaced or left out. Line ends and
    /// tabs become blanks.
    static func sanitized(_ text: String) -> String {
        // Nearly all text is printable ASCII.
        if text.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) { return text }
        var safe = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r", "\u{2028}", "\u{2029}": safe.append(" ")
            // These join letters and emoji.
            case "\u{200C}", "\u{200D}": safe.append(scalar)
            default:
                switch scalar.properties.generalCategory {
                case .control, .surrogate: safe.append("\u{FFFD}")
                case .format: break
                default: safe.append(scalar)
                }
            }
        }
        return String(safe)
    }

    /// The lines of a text, each sanitized.
    static func lines(_ text: String) -> [String] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { sanitized(String($0)) }
    }

    /// The number of columns that sanitized text takes.
    static func width(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 128 }) { return text.utf8.count }
        return text.reduce(0) { $0 + width($1) }
    }

    /// The number of columns that one character of sanitized text takes: 0, 1 or 2.
    static func width(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first, first.value >= 0x300 else { return 1 }
        if first.properties.isEmojiPresentation || scalars.contains("\u{FE0F}") { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(first.value) ? 2 : 1
        }
    }

    /// East Asian wide and full-width characters (Unicode Standard Annex 11), in blocks.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
            0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            true
        default: false
        }
    }

    /// The longest prefix of sanitized text that fits into a number of columns.
    static func prefix(_ text: String, columns: Int) -> String {
        var used = 0
        var end = text.startIndex
        for index in text.indices {
            used += width(text[index])
            if used > columns { return String(text[..<end]) }
            end = text.index(after: index)
        }
        return text
    }

    /// The longest suffix of sanitized text that fits into a number of columns.
    static func suffix(_ text: String, columns: Int) -> String {
        var used = 0
        var start = text.endIndex
        for index in text.indices.reversed() {
            used += width(text[index])
            if used > columns { return String(text[start...]) }
            start = index
        }
        return text
    }

    /// Breaks sanitized text into lines, at blanks if possible.
    static func wrapped(_ text: String, columns: Int) -> [String] {
        let columns = max(columns, 1)
        if width(text) <= columns { return [text] }
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            var word = String(word)
            var wordWidth = width(word)
            if used > 0 || !line.isEmpty {
                if used + 1 + wordWidth <= columns {
                    line += " " + word
                    used += 1 + wordWidth
                    continue
                }
                lines.append(line)
                (line, used) = ("", 0)
            }
            while wordWidth > columns {
                var piece = prefix(word, columns: columns)
                if piece.isEmpty, let first = word.first { piece = String(first) }
                lines.append(piece)
                word.removeFirst(piece.count)
                wordWidth = width(word)
            }
            (line, used) = (word, wordWidth)
        }
        lines.append(line)
        return lines
    }
}
