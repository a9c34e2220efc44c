internal import LoopView

/// A view as a log of plain text, and the lines by which a user acts on it; a pure machine.
///
/// `More` presses the button or the toggle with that label, or submits the field; `New = milk` types into the field. A
/// line waits until its element exists and can be pressed, and until the effect of the previous line is shown.
struct TextSession {
    /// The work of a shell after an input.
    struct Reaction {
        /// A frame to print, or nil if it equals the last one.
        var text: String?
        /// An action on the view.
        var action: ViewAction?
    }

    private var tree = ViewTree.empty
    private var printed: String?
    private var lines: [String] = []
    /// The tree on which the last line was executed. Until it changes, the effect of that line is not shown.
    private var used: ViewTree?
    /// The last button that pressed itself when seen. Such buttons are pressed once each.
    private var pressed: ElementID?

    /// The lines that are not executed yet.
    var waiting: [String] { lines }

    /// What is shown now.
    var text: String { printed ?? "" }

    /// Handles a change of the view.
    mutating func show(_ tree: ViewTree) -> Reaction {
        self.tree = tree
        if used != tree { used = nil }
        let text = tree.plainText(columns: 100)
        defer { printed = text }
        return Reaction(text: text == printed ? nil : text, action: next())
    }

    /// Handles a line that the user has typed.
    mutating func take(_ line: String) -> Reaction {
        let line = line.trimmed
        if !line.isEmpty { lines.append(line) }
        return Reaction(text: nil, action: next())
    }

    private mutating func next() -> ViewAction? {
        guard used == nil, let line = lines.first, let action = action(of: line) else { return nil }
        lines.removeFirst()
        used = tree
        return action
    }

    private mutating func action(of line: String) -> ViewAction? {
        for (id, element) in tree.elements where !element.isDisabled {
            switch element.kind {
            case .button(line) where !(element.pressesWhenSeen && id == pressed):
                pressed = id
                return .press(id)
            case .toggle(line, _): return .press(id)
            case .field(let entry):
                if entry.label == line, element.submit != nil { return .submit(id) }
                if line.hasPrefix(entry.label), case let rest = line.dropFirst(entry.label.count).trimmed,
                    rest.hasPrefix("=")
                {
                    return .write(id, rest.dropFirst().trimmed)
                }
            default: continue
            }
        }
        return nil
    }
}

extension StringProtocol {
    /// The text without blanks at its ends.
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
