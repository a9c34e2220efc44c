import LoopLock

/// Those who watch something, and the news that they are told.
///
///     post ──▶ the newest of each kind ── add ──▶ what waits for a watcher ── deliver ──▶ its body
///       └─────────────────────────────────────────────────▲
///
/// A watcher is told the newest of each kind of news, and then everything after it: in the order in which it was posted, one call
/// at a time, and with no lock held. Were a body called by each thread for itself, the news of one thread could overtake the
/// newer news of another, and be the last that the watcher hears.
final class Watchers<News: Sendable>: Sendable {
    private struct Watcher {
        let body: @Sendable (News) -> Void
        var waiting: [News]
        /// A thread is calling the body, and goes on with what waits.
        var isBeingTold = false
    }

    private struct State {
        /// What those are told first who come later.
        var newest: [NewsKind: News] = [:]
        var watchers: [Int: Watcher] = [:]
        var lastID = 0

        /// What is to be told next to a watcher; nil: nothing, or another thread does it.
        mutating func next(for id: Int, goesOn: Bool) -> (body: @Sendable (News) -> Void, news: News)? {
            guard var watcher = watchers[id], goesOn || !watcher.isBeingTold else { return nil }
            defer { watchers[id] = watcher }
            watcher.isBeingTold = !watcher.waiting.isEmpty
            return watcher.isBeingTold ? (watcher.body, watcher.waiting.removeFirst()) : nil
        }
    }

    private let state = Locked(State())
    private let kind: @Sendable (News) -> NewsKind?

    /// - Parameter kind: of which kind news is; nil: those who come later are not told it.
    init(kind: @escaping @Sendable (News) -> NewsKind?) { self.kind = kind }

    var isEmpty: Bool { state.withLock { $0.watchers.isEmpty } }

    /// Notes news for all who watch. Calls none of them, so that it can be done under a lock that gives news its order.
    func post(_ news: News) {
        let kind = kind(news)
        state.withLock { state in
            if let kind { state.newest[kind] = news }
            for id in state.watchers.keys { state.watchers[id]?.waiting.append(news) }
        }
    }

    /// Tells the watchers what was posted, but those that another thread is telling: that one goes on with it.
    func deliver() {
        for id in state.withLock({ $0.watchers.keys.sorted() }) { deliver(to: id) }
    }

    private func deliver(to id: Int) {
        var goesOn = false
        while let (body, news) = state.withLock({ $0.next(for: id, goesOn: goesOn) }) {
            goesOn = true
            body(news)
        }
    }

    /// Calls `body` with what is known, and then with everything that is posted, from any thread.
    /// - Returns: what ends it, for `remove`.
    func add(_ body: @escaping @Sendable (News) -> Void) -> Int {
        let id = state.withLock { state in
            let known = NewsKind.allCases.compactMap { state.newest[$0] }
            state.lastID += 1
            state.watchers[state.lastID] = Watcher(body: body, waiting: known)
            return state.lastID
        }
        deliver(to: id)
        return id
    }

    /// The watcher is told nothing more; what it is being told at this moment it is told to the end.
    func remove(_ id: Int) { state.withLock { $0.watchers[id] = nil } }
}

/// What those are told first who come later: the newest of each kind, in this order.
enum NewsKind: CaseIterable, Sendable {
    case state
    case standing
    case ended
}
