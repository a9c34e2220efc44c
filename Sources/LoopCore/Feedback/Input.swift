internal import LoopCollections

/// A handle through which code outside of a loop sends events into it.
///
/// Events that are sent before a first loop is connected wait for that loop. From then on an event goes to every loop that
/// is connected at that moment, and is dropped if there is none.
public struct Input<Event: Sendable>: Sendable {
    private struct Lines: Sendable {
        /// Events sent before the first loop was connected, or while such events are being delivered to it.
        var waiting: [Event] = []
        var isHandingOver = false
        var tokens: [UInt64] = []
        /// The `post` function of each token.
        var posts: [@Sendable (Event) -> Void] = []
        var nextToken: UInt64 = 0
    }

    private let lines = Locked(Lines())

    /// Creates an input without a loop. Events wait until the first loop is connected.
    public init() {}

    /// Sends one event. Without contention it is reduced before the return, as with `Loop.send`. From inside a reducer, an
    /// effect or a delivery, it is reduced after the current event.
    public func send(_ event: Event) {
        let posts = lines.withLock { lines in
            if lines.nextToken == 0 || lines.isHandingOver {
                lines.waiting.append(event)
                return [] as [@Sendable (Event) -> Void]
            }
            return lines.posts
        }
        for post in posts { post(event) }
    }

    /// Connects a loop. The caller must then call `handOver` without a lock.
    func connect(_ post: @escaping @Sendable (Event) -> Void) -> UInt64 {
        lines.withLock { lines in
            lines.nextToken += 1
            lines.tokens.append(lines.nextToken)
            lines.posts.append(post)
            return lines.nextToken
        }
    }

    /// Delivers the events that have waited. New events meanwhile queue behind them, so that none overtakes another.
    func handOver() {
        let isFirst = lines.withLock { lines in
            if lines.isHandingOver || lines.waiting.isEmpty { return false }
            lines.isHandingOver = true
            return true
        }
        guard isFirst else { return }
        while let (events, posts) = nextToHandOver() {
            for event in events { for post in posts { post(event) } }
        }
    }

    private func nextToHandOver() -> (events: [Event], posts: [@Sendable (Event) -> Void])? {
        lines.withLock { lines in
            if lines.waiting.isEmpty {
                lines.isHandingOver = false
                return nil
            }
            defer { lines.waiting = [] }
            return (lines.waiting, lines.posts)
        }
    }

    func disconnect(_ token: UInt64) {
        lines.withLock { lines in
            guard let index = lines.tokens.firstIndex(of: token) else { return }
            lines.tokens.remove(at: index)
            lines.posts.remove(at: index)
        }
    }
}

/// The connection of an input to one attachment of its feedback.
final class InputLine<Event: Sendable>: Sendable {
    private enum Stage: Sendable {
        case idle
        case open(UInt64)
        case closed
    }

    private let input: Input<Event>
    private let post: @Sendable (Event) -> Void
    private let stage = Locked(Stage.idle)

    init(_ input: Input<Event>, post: @escaping @Sendable (Event) -> Void) {
        self.input = input
        self.post = post
    }

    /// Opens the connection. It does nothing after `close`, which another thread may have called first.
    func open() {
        let isOpen = stage.withLock { stage in
            guard case .idle = stage else { return false }
            stage = .open(input.connect(post))
            return true
        }
        if isOpen { input.handOver() }
    }

    func close() {
        stage.withLock { stage in
            if case .open(let token) = stage { input.disconnect(token) }
            stage = .closed
        }
    }
}
