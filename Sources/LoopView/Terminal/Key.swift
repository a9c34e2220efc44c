/// A key that was pressed in a terminal.
public enum Key: Hashable, Sendable {
    /// A key that types this character; also each character of a pasted text.
    case character(Character)
    /// With the control key held down: a letter in lower case.
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
