import LoopCluster
import LoopCore
import LoopLock

/// The log of one node: hands events to its handler, and of some kinds no more than one a second for each peer (G11).
struct NodeLog: Sendable {
    private struct Key: Hashable {
        let kind: LogKind
        let peer: String
    }

    private struct Seen {
        var lastAt: [Key: MonotonicTime] = [:]
        var suppressed: [Key: Int] = [:]
    }

    let name: String
    private let handler: LogHandler
    private let seen = Locked(Seen())

    init(name: String, _ handler: LogHandler) {
        self.name = name
        self.handler = handler
    }

    /// An event, which is made only where the handler wants events of its level.
    /// - Parameter level: nil: that of its kind.
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

    /// The event, unless one of its kind and peer was written within the last second; then it is counted.
    func once(
        _ kind: LogKind, of peer: String = "", _ text: @autoclosure () -> String,
        _ fields: @autoclosure () -> [LogField] = [], level: LogLevel? = nil
    ) {
        guard level ?? kind.level >= handler.level else { return }
        let (key, now) = (Key(kind: kind, peer: peer), SystemClock.monotonic)
        let suppressed: Int? = seen.withLock { seen in
            if let last = seen.lastAt[key], now - last < .seconds(1) {
                seen.suppressed[key, default: 0] += 1
                return nil
            }
            if seen.lastAt.count > 1024 {
                seen.lastAt.removeAll()
                seen.suppressed.removeAll()
            }
            seen.lastAt[key] = now
            return seen.suppressed.removeValue(forKey: key) ?? 0
        }
        guard let suppressed else { return }
        note(
            kind, text() + Self.more(suppressed), fields() + (suppressed > 0 ? [.suppressed(suppressed)] : []),
            level: level)
    }

    /// For people: how many events were left out.
    static func more(_ count: Int) -> String { count > 0 ? " (and \(count) more like it)" : "" }
}
