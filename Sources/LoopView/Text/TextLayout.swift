/// Lays elements out in lines of text: one layout for logs, tests and terminals.
struct TextLayout {
    /// The number of columns.
    var columns: Int
    /// Whether the text is read without colours and bold letters, so that headings need a mark.
    var isPlain: Bool
    /// The text that the user is typing into a field, shown instead of the loop's.
    var draft: (ElementID) -> String? = { _ in nil }

    /// The columns between neighbours of a row.
    private let gap = 2

    func lines(of tree: ViewTree) -> [TextLine] { lines(tree.root, .root, columns) }

    private func lines(_ element: Element, _ id: ElementID, _ columns: Int) -> [TextLine] {
        func span(_ text: String, _ role: TextSpan.Role, _ isOwned: Bool) -> TextSpan {
            TextSpan(
                text: text, role: role, style: element.style, isDisabled: element.isDisabled,
                owner: isOwned ? id : nil)
        }
        switch element.kind {
        case .text(let text):
            return DisplayText.lines(text).flatMap { DisplayText.wrapped($0, columns: columns) }
                .map { TextLine([span($0, .plain, false)]) }
        case .heading(let text, let level):
            let mark = isPlain ? String(repeating: "#", count: level) + " " : ""
            return DisplayText.wrapped(mark + DisplayText.sanitized(text), columns: columns)
                .map { TextLine([span($0, .heading, false)]) }
        case .button(let label):
            let text = DisplayText.prefix(DisplayText.sanitized(label), columns: columns - 4)
            return [TextLine([span(element.isDisabled ? "( \(text) )" : "[ \(text) ]", .control, true)])]
        case .toggle(let label, let isOn):
            let text = DisplayText.prefix(DisplayText.sanitized(label), columns: columns - 4)
            return [TextLine([span("[\(isOn ? "x" : " ")] \(text)", .control, true)])]
        case .link(let text, let address):
            let shown = DisplayText.wrapped(DisplayText.sanitized(text), columns: columns)
            var lines = shown.map { TextLine([span($0, .link, false)]) }
            let target = " <\(DisplayText.sanitized(address))>"
            if let last = lines.indices.last, lines[last].width + DisplayText.width(target) <= columns {
                lines[last].append(span(target, .prompt, false))
            }
            return lines
        case .field(let entry): return [field(entry, id, columns, span)]
        case .progress(let label, let fraction): return [progress(label, fraction, span)]
        case .divider:
            return [TextLine([span(String(repeating: isPlain ? "-" : "─", count: columns), .prompt, false)])]
        case .column, .group: return column(element, id, columns)
        case .list, .window: return list(element, id, columns)
        case .address: return []
        case .row: return row(element, id, columns)
        }
    }

    // MARK: Containers

    private func column(_ element: Element, _ id: ElementID, _ columns: Int) -> [TextLine] {
        var all: [TextLine] = []
        for child in element.children {
            let lines = lines(child, id.child(child.key), columns)
            if case .heading = child.kind, !all.isEmpty { all.append(TextLine()) }
            all += lines
        }
        return all
    }

    private func list(_ element: Element, _ id: ElementID, _ columns: Int) -> [TextLine] {
        var all: [TextLine] = []
        for child in element.children {
            for (number, line) in lines(child, id.child(child.key), max(columns - 2, 1)).enumerated() {
                var entry = TextLine([
                    TextSpan(text: number > 0 ? "  " : isPlain ? "- " : "• ", style: Style(tone: .secondary))
                ])
                entry.append(line)
                all.append(entry)
            }
        }
        return all
    }

    private func row(_ element: Element, _ id: ElementID, _ columns: Int) -> [TextLine] {
        var all: [TextLine] = []
        var shelf: [TextLine] = []
        var used = 0
        for child in element.children {
            let lines = lines(child, id.child(child.key), columns)
            let width = lines.map(\.width).max() ?? 0
            if lines.isEmpty { continue }
            if used > 0, used + gap + width > columns {
                all += shelf
                (shelf, used) = ([], 0)
            }
            let start = used > 0 ? used + gap : 0
            while shelf.count < lines.count { shelf.append(TextLine()) }
            for (number, line) in lines.enumerated() {
                shelf[number].pad(to: start)
                shelf[number].append(line)
            }
            used = start + width
        }
        return all + shelf
    }

    // MARK: Lines

    private func field(
        _ entry: TextEntry, _ id: ElementID, _ columns: Int, _ span: (String, TextSpan.Role, Bool) -> TextSpan
    ) -> TextLine {
        let label = entry.label.isEmpty ? "" : DisplayText.sanitized(entry.label) + ": "
        var line = TextLine([span(label, .plain, false)])
        let room = max(columns - line.width - 2, 1)
        var text = DisplayText.sanitized(draft(id) ?? entry.text)
        if entry.isSecret { text = String(repeating: "•", count: text.count) }
        let isPrompt = text.isEmpty
        if isPrompt { text = DisplayText.sanitized(entry.prompt) }
        // The user types at the end of a long text, so show its end.
        text = DisplayText.suffix(text, columns: room)
        line.append(span("[", .control, true))
        line.append(span(text, isPrompt ? .prompt : .entry, true))
        let blanks = isPlain ? 0 : min(room, 24) - DisplayText.width(text)
        if blanks > 0 { line.append(span(String(repeating: " ", count: blanks), .entry, true)) }
        line.append(span("]", .control, true))
        return line
    }

    private func progress(
        _ label: String, _ fraction: Double?, _ span: (String, TextSpan.Role, Bool) -> TextSpan
    ) -> TextLine {
        let length = 20
        var line = TextLine([span(label.isEmpty ? "" : DisplayText.sanitized(label) + " ", .plain, false)])
        guard let fraction else {
            line.append(span("…", .bar, false))
            return line
        }
        let full = Int((fraction * Double(length)).rounded())
        line.append(span("[", .bar, false))
        line.append(span(String(repeating: isPlain ? "#" : "█", count: full), .bar, false))
        line.append(span(String(repeating: isPlain ? "." : "░", count: length - full), .prompt, false))
        line.append(span("] \(Int((fraction * 100).rounded())) %", .bar, false))
        return line
    }
}

/// A piece of a line with a single look.
struct TextSpan: Equatable, Sendable {
    /// The kind of a span, for renderers that show more than text.
    enum Role: Equatable, Sendable {
        case plain
        case heading
        /// A button or a toggle.
        case control
        /// The editable part of a field.
        case entry
        /// A placeholder for an empty text.
        case prompt
        case link
        case bar
    }

    var text: String
    var role = Role.plain
    var style = Style()
    var isDisabled = false
    /// The element to which the span belongs, if that is interactive.
    var owner: ElementID?

    var width: Int { DisplayText.width(text) }
}

/// One line of a layout.
struct TextLine: Equatable, Sendable {
    var spans: [TextSpan] = []
    private(set) var width = 0

    init(_ spans: [TextSpan] = []) {
        for span in spans { append(span) }
    }

    mutating func append(_ span: TextSpan) {
        if span.text.isEmpty { return }
        width += span.width
        spans.append(span)
    }

    mutating func append(_ line: TextLine) {
        spans += line.spans
        width += line.width
    }

    /// Adds blanks up to a number of columns.
    mutating func pad(to columns: Int) {
        if width < columns { append(TextSpan(text: String(repeating: " ", count: columns - width))) }
    }

    var text: String { spans.map(\.text).joined() }
}

extension ViewTree {
    /// The tree as text without colours, for tests and logs. Blanks at the end of a line are removed, and control characters in the
    /// state are replaced.
    ///
    /// ```text
    /// # Movies
    /// - The Third Man  [ Favourite ]
    /// - Charade  [ Favourite ]
    /// Search: [ha]
    /// ```
    /// - Parameter columns: the width at which lines are broken; at least 8.
    public func plainText(columns: Int = 80) -> String {
        let lines = TextLayout(columns: max(columns, 8), isPlain: true).lines(of: self)
        return lines.map { line in
            var text = line.text
            while text.last == " " { text.removeLast() }
            return text
        }.joined(separator: "\n")
    }
}

extension View {
    /// The view as it is now, as text. See `ViewTree.plainText(columns:)`.
    public func plainText(columns: Int = 80) -> String { ViewTree(self).plainText(columns: columns) }
}
