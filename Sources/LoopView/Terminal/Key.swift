/// A key that was pressed in a terminal.
public enum Key: Hashable, Sendable {
    case character(Character)
    /// With the control key held down: a letter in lower case.
    case control(Character)
    case enter
    case tab
    case backTab
    case backspace
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
