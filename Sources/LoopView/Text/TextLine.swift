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
