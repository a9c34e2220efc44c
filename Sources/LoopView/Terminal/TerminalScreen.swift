/// A view in a terminal, as a machine. Trees and keys go in; bytes for the terminal and actions for the tree come out.
///
/// Only lines that have changed are written. Keys move the focus and scroll. Enter presses. Typing edits the field that has the
/// focus, and every change is an action. Typed text is shown at once, however long the loop takes to answer.
///
///     begin ──▶ show, press, resize … ──▶ end
package struct TerminalScreen: Sendable {
    /// The size of a terminal.
    package struct Size: Equatable, Sendable {
        /// The width in characters; at least 8.
        package var columns: Int
        /// The height in lines; at least 2.
        package var rows: Int

        /// Creates a size. Smaller numbers are raised to 8 columns and 2 rows.
        package init(columns: Int, rows: Int) {
            self.columns = max(columns, 8)
            self.rows = max(rows, 2)
        }
    }

    /// The result of an input.
    package struct Reaction: Equatable, Sendable {
        /// The bytes to write to the terminal.
        package var text = ""
        /// The actions that the newest tree must perform.
        package var actions: [ViewAction] = []
        /// The user wants to leave.
        package var isEnd = false
    }

    /// The tree that was shown last.
    package private(set) var tree = ViewTree.empty
    /// The element with the focus.
    package private(set) var focus: ElementID?
    private var size: Size
    private let style: TerminalStyle
    private var draft: FieldDraft?
    /// The rows as the terminal shows them, each nil if unknown.
    private var rows: [String?] = []
    private var cursor: Cursor?
    /// The first line that is shown.
    private var scroll = 0
    /// Whether to scroll to the focus. It is false after the user has paged away from it.
    private var followsFocus = true
    /// The elements that can have the focus, from top to bottom.
    private var focusable: [ElementID] = []
    /// The buttons that press themselves when they become visible.
    private var waiting: Set<ElementID> = []
    /// Those of `waiting` that have pressed themselves.
    private var pressed: Set<ElementID> = []

    private struct Cursor: Equatable {
        var row: Int
        var column: Int
    }

    /// - Parameters:
    ///   - size: the size of the screen, in cells.
    ///   - hasColours: whether tones are shown by colours.
    package init(size: Size, hasColours: Bool = true) {
        self.size = size
        style = TerminalStyle(hasColours: hasColours)
    }

    // MARK: Life

    /// Takes the whole terminal: the alternate screen, without wrapping or cursor, with bracketed paste.
    package func begin() -> String { "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?25l\u{1B}[?2004h\u{1B}[2J" }

    /// The bytes that restore a terminal, whatever was shown.
    package static var restoring: String { "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l" }

    /// Shows a newer tree.
    package mutating func show(_ new: ViewTree) -> Reaction {
        let before = focusable
        tree = new
        let elements = new.elements
        // A terminal cannot follow links.
        focusable = elements.filter { if case .link = $0.element.kind { false } else { $0.element.isInteractive } }
            .map(\.id)
        waiting = Set(elements.filter { $0.element.pressesWhenSeen && !$0.element.isDisabled }.map(\.id))
        pressed.formIntersection(waiting)
        let after = focusable
        if let focus, !after.contains(focus) {
            // The next element takes its position.
            let place = before.firstIndex(of: focus) ?? 0
            self.focus = after.isEmpty ? nil : after[min(place, after.count - 1)]
            draft = nil
        } else if focus == nil {
            focus = after.first
        }
        syncDraft()
        return draw()
    }

    /// Draws everything again in a new size.
    package mutating func resize(_ new: Size) -> Reaction {
        size = new
        rows = []
        var reaction = draw()
        reaction.text = "\u{1B}[2J" + reaction.text
        return reaction
    }

    // MARK: Keys

    /// Takes one key.
    package mutating func press(_ key: Key) -> Reaction {
        switch key {
        case .control("c"), .control("d"): return Reaction(isEnd: true)
        case .control("l"):
            rows = []
            return draw()
        case .tab: move(by: 1)
        case .backTab: move(by: -1)
        case .down: moveOrScroll(by: 1)
        case .up: moveOrScroll(by: -1)
        case .pageDown: page(by: 1)
        case .pageUp: page(by: -1)
        default: return act(key)
        }
        return draw()
    }

    private mutating func act(_ key: Key) -> Reaction {
        guard let focus, let element = tree.element(focus) else {
            return Reaction(isEnd: key == .character("q"))
        }
        if draft != nil {
            if key == .enter {
                followsFocus = true
                if element.submit == nil { move(by: 1) }
                var reaction = draw()
                if element.submit != nil { reaction.actions.append(.submit(focus)) }
                return reaction
            }
            guard let isChanged = draft?.press(key) ?? nil else { return Reaction() }
            followsFocus = true
            var reaction = draw()
            if isChanged, let text = draft?.text { reaction.actions.append(.write(focus, text)) }
            return reaction
        }
        switch key {
        case .enter, .character(" "):
            followsFocus = true
            var reaction = draw()
            reaction.actions.append(.press(focus))
            return reaction
        case .character("q"): return Reaction(isEnd: true)
        case .home, .end:
            scroll = key == .home ? 0 : .max
            followsFocus = false
            return draw()
        default: return Reaction()
        }
    }

    // MARK: Focus

    private mutating func move(by step: Int) {
        let all = focusable
        followsFocus = true
        guard let focus, let place = all.firstIndex(of: focus) else { return }
        self.focus = all[(place + step + all.count) % all.count]
        if self.focus != focus { draft = nil }
        syncDraft()
    }

    private mutating func moveOrScroll(by step: Int) {
        let all = focusable
        if let focus, let place = all.firstIndex(of: focus), all.indices.contains(place + step) {
            return move(by: step)
        }
        scroll += step
        followsFocus = false
    }

    private mutating func page(by step: Int) {
        scroll += step * max(contentRows - 1, 1)
        followsFocus = false
    }

    /// Starts to edit the field that has the focus, or gives its draft the loop's latest text.
    private mutating func syncDraft() {
        guard let focus, case .field(let entry) = tree.element(focus)?.kind else {
            draft = nil
            return
        }
        if draft == nil { draft = FieldDraft(text: entry.text) }
        draft?.loopShows(entry.text)
    }

    // MARK: Drawing

    /// The rows for the view. The last row of the screen lists the keys.
    private var contentRows: Int { size.rows - 1 }

    private mutating func draw() -> Reaction {
        let (focus, draft) = (focus, draft)
        let layout = TextLayout(
            columns: size.columns, isPlain: false, draft: { $0 == focus ? draft?.text : nil })
        let lines = layout.lines(of: tree)
        settleScroll(lines)
        let visible = lines.dropFirst(scroll).prefix(contentRows)

        let blank = style.row(TextLine(), columns: size.columns, focus: nil)
        var new = visible.map { style.row($0, columns: size.columns, focus: focus) }
        new += Array(repeating: blank, count: contentRows - new.count)
        new.append(style.row(footer(lines.count), columns: size.columns, focus: nil))
        var text = ""
        for (number, row) in new.enumerated() where number >= rows.count || rows[number] != row {
            text += "\u{1B}[\(number + 1);1H\(row)"
        }
        let newCursor = cursor(in: visible)
        if !text.isEmpty || newCursor != cursor {
            text = "\u{1B}[?25l\(text)"
            if let newCursor { text += "\u{1B}[\(newCursor.row + 1);\(newCursor.column + 1)H\u{1B}[?25h" }
        }
        rows = new
        cursor = newCursor
        return Reaction(text: text, actions: pressSeen(visible))
    }

    private mutating func settleScroll(_ lines: [TextLine]) {
        if followsFocus, let focus, let line = lines.firstIndex(where: { $0.spans.contains { $0.owner == focus } }) {
            if line < scroll { scroll = line }
            if line >= scroll + contentRows { scroll = line - contentRows + 1 }
            // Nothing above can have the focus, so show the beginning.
            if line < contentRows, focus == focusable.first { scroll = 0 }
        }
        scroll = max(0, min(scroll, lines.count - contentRows))
    }

    private func footer(_ lineCount: Int) -> TextLine {
        var hints = focusable.isEmpty ? [] : ["Tab next", "Enter press"]
        hints.append(draft == nil ? "q quit" : "Ctrl-C quit")
        var place = ""
        if lineCount > contentRows {
            place = "\(scroll + 1)–\(min(scroll + contentRows, lineCount)) of \(lineCount)"
        }
        let room = size.columns - (place.isEmpty ? 0 : DisplayText.width(place) + 2)
        var text = hints.joined(separator: " · ")
        while DisplayText.width(text) > room, !hints.isEmpty {
            hints.removeFirst()
            text = hints.joined(separator: " · ")
        }
        var line = TextLine([TextSpan(text: text, role: .prompt)])
        line.pad(to: size.columns - DisplayText.width(place))
        line.append(TextSpan(text: place, role: .prompt))
        return line
    }

    private func cursor(in visible: ArraySlice<TextLine>) -> Cursor? {
        guard let draft, let focus else { return nil }
        for (row, line) in visible.enumerated() {
            var column = 0
            for span in line.spans {
                if span.owner == focus, span.role == .entry || span.role == .prompt {
                    let isSecret =
                        if case .field(let entry) = tree.element(focus)?.kind { entry.isSecret } else { false }
                    let after =
                        isSecret
                        ? draft.afterCursor.count : DisplayText.width(DisplayText.sanitized(String(draft.afterCursor)))
                    let width = draft.text.isEmpty ? 0 : span.width
                    return Cursor(row: row, column: min(column + max(0, width - after), size.columns - 1))
                }
                column += span.width
            }
        }
        return nil
    }

    /// Presses the visible buttons that press themselves and have not yet.
    private mutating func pressSeen(_ visible: ArraySlice<TextLine>) -> [ViewAction] {
        guard pressed.count < waiting.count else { return [] }
        var actions: [ViewAction] = []
        for span in visible.flatMap(\.spans) {
            if let owner = span.owner, waiting.contains(owner), pressed.insert(owner).inserted {
                actions.append(.press(owner))
            }
        }
        return actions
    }
}
