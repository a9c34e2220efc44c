import LoopCore
import LoopCollections

/// The log of one node. It passes events to its handler, and limits some kinds with a ``LogLimiter`` (G11).
struct NodeLog: Sendable {
    let name: String
    private let handler: LogHandler
    private let limiter = Locked(LogLimiter())

    init(name: String, _ handler: LogHandler) {
        self.name = name
        self.handler = handler
    }

    /// Returns a copy of the log that leaves out events below a level.
    func leavingOut(below level: LogLevel) -> NodeLog {
        NodeLog(name: name, LogHandler(level: max(level, handler.level), handler.write))
    }

    /// Logs an event, which is made only if the handler takes events of its level.
    /// - Parameter level: the event's level, or nil for that of its kind.
    func note(
        _ kind: LogKind, _ text: @autoclosure () -> String, _ fields: @autoclosure () -> [LogField] = [],
        level: LogLevel? = nil
    ) {
        let level = level ?? kind.level
        guard level >= handler.level else { return }
        handler.write(
            LogEvent(time: SystemClock.wall, level: level, kind: kind, node: name, text: text(), fields: fields()))
    }

    func malformed(_ peer: String, _ error: any Error) {
        once(.malformedFrame, of: peer, "dropped a frame from \(peer): \(error)", [.reason("\(error)")])
    }

    /// Logs an event, unless one of its kind and peer, or too many of its kind, were written within the last second. Then
    /// it is counted.
    func once(
        _ kind: LogKind, of peer: String = "", _ text: @autoclosure () -> String,
        _ fields: @autoclosure () -> [LogField] = [], level: LogLevel? = nil
    ) {
        let importance = level ?? kind.level
        guard importance >= handler.level else { return }
        let (key, now) = (LogLimiter.Key(kind: kind, peer: peer), SystemClock.monotonic)
        let (leftOut, suppressed) = limiter.withLock { limiter in
            (limiter.takeLeftOut(at: now), limiter.judge(key, importance, at: now))
        }
        tell(leftOut)
        guard let suppressed else { return }
        note(
            kind, text() + Self.more(suppressed), fields() + (suppressed > 0 ? [.suppressed(suppressed)] : []),
            level: level)
    }

    /// Logs how many events were left out in an earlier second because too many peers caused them. A node calls it in its turns.
    /// - Parameter now: the present time, or nil when the node ends.
    func tellLeftOut(at now: MonotonicTime?) {
        tell(limiter.withLock { $0.takeLeftOut(at: now) })
    }

    private func tell(_ leftOut: [LogLimiter.LeftOut]) {
        for some in leftOut { note(some.kind, some.text, [.suppressed(some.count)], level: some.level) }
    }

    /// Says how many events were left out, for people. They may have had other reasons.
    private static func more(_ count: Int) -> String { count > 0 ? " (and \(count) more of this kind)" : "" }
}
