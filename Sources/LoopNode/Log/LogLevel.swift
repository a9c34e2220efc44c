/// How much an event of the log matters, from the least to the most.
public enum LogLevel: String, CaseIterable, Comparable, Codable, Sendable {
    /// For finding errors in a program: short-lived senders come and go.
    case debug
    /// Normal operation: workers join, snapshots are written.
    case info
    /// Normal, and worth knowing when something else goes wrong: the node listens, a new definition takes over.
    case notice
    /// Something failed, and the node deals with it: an effect is tried again, a frame was dropped.
    case warning
    /// A person should look: an effect is parked, the journal cannot be written.
    case error

    /// Orders levels from the least to the most important.
    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .notice: 2
        case .warning: 3
        case .error: 4
        }
    }
}
