/// How a terminal shows styles: the "select graphic rendition" codes of ECMA-48.
struct TerminalStyle: Equatable, Sendable {
    var hasColours: Bool

    /// A line for the terminal, cut to a number of columns. It erases the rest of the old line.
    func row(_ line: TextLine, columns: Int, focus: ElementID?) -> String {
        var text = ""
        var used = 0
        for span in line.spans where used < columns {
            let piece = used + span.width > columns ? DisplayText.prefix(span.text, columns: columns - used) : span.text
            used += DisplayText.width(piece)
            let codes = codes(span, isFocused: span.owner != nil && span.owner == focus)
            text += codes.isEmpty ? piece : "\u{1B}[\(codes.joined(separator: ";"))m\(piece)\u{1B}[0m"
        }
        // After the last column the cursor is still on the last letter, and erasing would remove it.
        return used < columns ? text + "\u{1B}[K" : text
    }

    private func codes(_ span: TextSpan, isFocused: Bool) -> [String] {
        var codes: [String] = []
        if span.role == .heading || span.style.isStrong { codes.append("1") }
        if span.isDisabled || span.role == .prompt || span.style.tone == .secondary { codes.append("2") }
        if span.role == .link || span.role == .entry { codes.append("4") }
        if isFocused, span.role == .control { codes.append("7") }
        if hasColours, let colour = colour(span) { codes.append(colour) }
        return codes
    }

    private func colour(_ span: TextSpan) -> String? {
        switch span.style.tone {
        case .accent: "36"
        case .good: "32"
        case .warning: "33"
        case .bad: "31"
        case .plain, .secondary: span.role == .link || span.role == .bar ? "36" : nil
        }
    }
}
