import LoopLock

/// Where the events of a node's log go.
///
///     configuration.log = .json(level: .notice)
///     configuration.log = LogHandler { event in collect(event) }
///
/// A handler is called on the node's own thread, between its turns: it must not block, and must not wait for what a node does. The
/// ready handlers never do: they hand a line over to a thread that writes it. Events below the level are not made.
public struct LogHandler: Sendable {
    /// Events that matter less are left out.
    public var level: LogLevel
    /// Takes an event. Any of the process's threads may call it, several at once.
    public var write: @Sendable (LogEvent) -> Void

    /// A handler of your own.
    /// - Parameters:
    ///   - level: events that matter less are left out.
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

    /// Lines for people, without their ends.
    public static func lines(
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

    /// - Parameter level: events that matter less are left out.
    public init(level: LogLevel = .debug) { self.level = level }

    /// Hands events to this collector.
    public var handler: LogHandler {
        LogHandler(level: level) { event in self.kept.withLock { $0.append(event) } }
    }

    /// All events so far, in the order in which they came.
    public var events: [LogEvent] { kept.withLock { $0 } }

    /// The same as lines for people.
    public var lines: [String] { events.map(\.line) }
}
