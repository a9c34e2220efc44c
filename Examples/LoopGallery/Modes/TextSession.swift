internal import LoopView

/// A view as a log of plain text, and the lines by which a user acts on it; a pure machine.
///
/// `More` presses the button or the toggle of that label, or submits the field; `Search = third` types into the field. A
/// line waits until what it names is there and can be pressed, and until what the line before it did shows.
struct TextSession {
    /// What a shell does after an input.
    struct Reaction {
        /// A frame to print; nil: it is the one that was printed last.
        var text: String?
        /// What to do to the view.
        var action: ViewAction?
    }

    private var tree = ViewTree.empty
    private var printed: String?
    private var lines: [String] = []
    /// The tree on which the line before was done; until there is another, it does not show.
    private var used: ViewTree?
    /// Buttons that press themselves when seen are pressed once each.
    private var pressed: ElementID?

    /// The lines that have not been done.
    var waiting: [String] { lines }

    /// What is shown now.
    var text: String { printed ?? "" }

    /// The view has changed.
    mutating func show(_ tree: ViewTree) -> Reaction {
        self.tree = tree
        if used != tree { used = nil }
        let text = tree.plainText(columns: 100)
        defer { printed = text }
        return Reaction(text: text == printed ? nil : text, action: next())
    }

    /// The user has typed a line.
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
    /// Without blanks at its ends.
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
