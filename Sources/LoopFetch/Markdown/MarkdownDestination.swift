/// Reads what stands behind a link's text: destinations, titles and labels (CommonMark sections 4.7 and 6.3).
///
/// Lengths are limited, so that no text makes a scanner read on for ever from each of its brackets.
enum MarkdownDestination {
    static let bytesMax = 4096

    /// `(destination "title")`. `index` is at the parenthesis, and behind the closing one on success.
    static func inline(_ text: ArraySlice<UInt8>, _ index: inout Int) -> [UInt8]? {
        var at = index + 1
        skipSpace(text, &at)
        if at < text.endIndex, text[at] == UInt8(ascii: ")") {
            index = at + 1
            return []
        }
        guard let found = destination(text, &at) else { return nil }
        let afterDestination = at
        skipSpace(text, &at)
        if at > afterDestination { _ = title(text, &at) }
        skipSpace(text, &at)
        guard at < text.endIndex, text[at] == UInt8(ascii: ")") else { return nil }
        index = at + 1
        return found
    }

    /// `<destination>`, or one without spaces and with balanced parentheses. Escapes are resolved.
    static func destination(_ text: ArraySlice<UInt8>, _ index: inout Int) -> [UInt8]? {
        var found: [UInt8] = []
        var at = index
        guard at < text.endIndex else { return nil }
        let isBracketed = text[at] == UInt8(ascii: "<")
        if isBracketed { at += 1 }
        var depth = 0
        scan: while at < text.endIndex {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: "\\") where at + 1 < text.endIndex && isPunctuation(text[at + 1]):
                at += 1
                found.append(text[at])
            case UInt8(ascii: ">") where isBracketed:
                index = at + 1
                return found
            case UInt8(ascii: "<") where isBracketed, UInt8(ascii: "\n") where isBracketed:
                return nil
            case 0...0x20 where !isBracketed:
                break scan
            case UInt8(ascii: "(") where !isBracketed:
                depth += 1
                found.append(byte)
            case UInt8(ascii: ")") where !isBracketed:
                if depth == 0 { break scan }
                depth -= 1
                found.append(byte)
            default:
                found.append(byte)
            }
            at += 1
            if found.count > bytesMax { return nil }
        }
        guard !isBracketed, depth == 0, at > index else { return nil }
        index = at
        return found
    }

    /// A title in quotes or parentheses.
    static func title(_ text: ArraySlice<UInt8>, _ index: inout Int) -> Bool {
        guard index < text.endIndex else { return false }
        let end: UInt8
        switch text[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): end = text[index]
        case UInt8(ascii: "("): end = UInt8(ascii: ")")
        default: return false
        }
        var at = index + 1
        while at < text.endIndex, at - index < bytesMax {
            if text[at] == UInt8(ascii: "\\") {
                at += 2
                continue
            }
            if text[at] == end {
                index = at + 1
                return true
            }
            at += 1
        }
        return false
    }

    /// `[label]`, in the form in which labels are compared; nil where there is none.
    static func label(_ text: ArraySlice<UInt8>, _ index: inout Int) -> String? {
        var at = index + 1
        while at < text.endIndex, at - index < 1000 {
            switch text[at] {
            case UInt8(ascii: "\\"): at += 2
            case UInt8(ascii: "["): return nil
            case UInt8(ascii: "]"):
                defer { index = at + 1 }
                return normalise(text[(index + 1)..<at])
            default: at += 1
            }
        }
        return nil
    }

    /// Labels are the same whatever their case and however wide their spaces.
    static func normalise(_ label: ArraySlice<UInt8>) -> String {
        String(decoding: label, as: UTF8.self).lowercased().uppercased().split { $0.isWhitespace }
            .joined(separator: " ")
    }

    static func skipSpace(_ text: ArraySlice<UInt8>, _ index: inout Int) {
        while index < text.endIndex, text[index] <= 0x20 { index += 1 }
    }

    static func isPunctuation(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}

/// A reference definition: `[label]: destination "title"` (CommonMark section 4.7).
struct MarkdownDefinition {
    let label: String
    let destination: [UInt8]

    /// Takes a definition from the beginning of a paragraph; nil, and nothing taken, where there is none.
    init?(_ text: inout ArraySlice<UInt8>) {
        var index = text.startIndex
        guard let label = MarkdownDestination.label(text, &index), !label.isEmpty, !label.hasPrefix("^"),
            index < text.endIndex, text[index] == UInt8(ascii: ":")
        else { return nil }
        index += 1
        MarkdownDestination.skipSpace(text, &index)
        guard let destination = MarkdownDestination.destination(text, &index) else { return nil }
        let afterDestination = index
        var afterTitle = index
        MarkdownDestination.skipSpace(text, &afterTitle)
        if afterTitle > index, MarkdownDestination.title(text, &afterTitle), Self.endsLine(text, &afterTitle) {
            index = afterTitle
        } else {
            index = afterDestination
            guard Self.endsLine(text, &index) else { return nil }
        }
        self.label = label
        self.destination = destination
        text = text[index...]
    }

    private static func endsLine(_ text: ArraySlice<UInt8>, _ index: inout Int) -> Bool {
        while index < text.endIndex, text[index] == UInt8(ascii: " ") || text[index] == UInt8(ascii: "\t") {
            index += 1
        }
        guard index < text.endIndex else { return true }
        guard text[index] == UInt8(ascii: "\n") else { return false }
        index += 1
        return true
    }
}
