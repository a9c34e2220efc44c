/// A key that was pressed in a terminal.
public enum Key: Hashable, Sendable {
    /// A key that types this character. Each character of a pasted text is one too.
    case character(Character)
    /// A letter in lower case, with the control key held down.
    case control(Character)
    case enter
    case tab
    /// Tab with the shift key held down.
    case backTab
    /// Deletes the character before the cursor.
    case backspace
    /// Deletes the character after the cursor.
    case delete
    case escape
    case left
    case right
    case up
    case down
    case home
    case end
    case pageUp
    case pageDown
}
