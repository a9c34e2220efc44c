import LoopCollections

/// Receives the events of a node's log, and says which of them matter.
///
///     configuration.log = .json(level: .notice)
///     configuration.log = LogHandler { event in collect(event) }
///
/// A handler is called on the node's own thread, between its turns: it must not block or wait for anything that a node does.
/// The ready-made handlers never block: they pass each line to a thread that writes it. Events below the level are not made.
public struct LogHandler: Sendable {
    /// The lowest level that is logged.
    public var level: LogLevel
    /// Takes an event. Any of the process's threads may call it, several at once.
    package var write: @Sendable (LogEvent) -> Void

    /// Creates a handler from a level and a closure.
    /// - Parameters:
    ///   - level: the lowest level that is logged.
    ///   - write: takes an event; it must not block.
    public init(level: LogLevel = .info, _ write: @escaping @Sendable (LogEvent) -> Void) {
        self.level = level
        self.write = write
    }

    /// Lines for people on standard error, from `info` on.
    public static let standardError = text()

    /// Nothing is logged.
    public static let silent = LogHandler(level: .error) { _ in }

    /// Lines for people on standard error: `node: text`.
    public static func text(level: LogLevel = .info) -> LogHandler { lines(level: level) { StandardError.line($0) } }

    /// JSON objects on standard error, one a line.
    public static func json(level: LogLevel = .info) -> LogHandler {
        LogHandler(level: level) { StandardError.line($0.json) }
    }

    /// Passes lines for people to `write`, without newlines.
    package static func lines(
        level: LogLevel = .info, _ write: @escaping @Sendable (String) -> Void
    ) -> LogHandler {
        LogHandler(level: level) { write($0.line) }
    }
}

/// Keeps the events of a log, for tests.
///
///     let collector = LogCollector()
///     let node = try EffectNode(Shop(), configuration: EffectNodeConfiguration(log: collector.handler))
///     …
///     #expect(collector.events.map(\.kind) == [.reconnected])
public final class LogCollector: Sendable {
    private let kept = Locked<[LogEvent]>([])
    private let level: LogLevel

    /// - Parameter level: the lowest level that is kept.
    public init(level: LogLevel = .debug) { self.level = level }

    /// A handler that passes events to this collector.
    public var handler: LogHandler {
        LogHandler(level: level) { event in self.kept.withLock { $0.append(event) } }
    }

    /// All events so far, in the order in which they came.
    public var events: [LogEvent] { kept.withLock { $0 } }

    /// All events so far, as lines for people.
    package var lines: [String] { events.map(\.line) }
}
