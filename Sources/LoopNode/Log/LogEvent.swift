public import LoopCore

/// One event of a node's log.
///
///     {"time":"2026-01-31T13:05:09.120Z","level":"info","kind":"joined","node":"reducer shop","text":"…","peer":"w1","session":3}
public struct LogEvent: Equatable, Sendable {
    /// When it was written, by the system's wall clock.
    public var time: WallTime
    /// How much it matters.
    public var level: LogLevel
    /// What it is about.
    package var kind: LogKind
    /// The node, such as `reducer shop` or `worker w1`.
    public var node: String
    /// A line for people. It may contain anything that a peer has sent: print it escaped, as ``line`` and ``json`` do.
    public var text: String
    /// The values that the text is about, in a fixed order for each kind. Unknown ones are left out.
    package var fields: [LogField]

    /// Creates an event from its parts.
    package init(
        time: WallTime, level: LogLevel, kind: LogKind, node: String, text: String, fields: [LogField] = []
    ) {
        self.time = time
        self.level = level
        self.kind = kind
        self.node = node
        self.text = text
        self.fields = fields
    }

    /// The values of the fields by their names, as text.
    public var metadata: [String: String] {
        Dictionary(fields.map { ($0.name, "\($0.value)") }, uniquingKeysWith: { $1 })
    }

    /// `node: text`, on one line, with control characters escaped.
    public var line: String { PrintableText.line("\(node): \(text)") }

    /// A JSON object on one line: `time` (RFC 3339), `level`, `kind`, `node`, `text`, and the fields. Control characters are
    /// escaped.
    public var json: String {
        var members = [
            ("time", time.text), ("level", level.rawValue), ("kind", kind.rawValue), ("node", node), ("text", text),
        ].map { (name: $0, value: Optional(JSONText.quoted($1))) }
        members += fields.map { field in
            switch field.value {
            case .text(let text): (field.name, JSONText.quoted(text))
            case .number(let number): (field.name, "\(number)")
            }
        }
        return JSONText.object(members)
    }
}

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
