import LoopCollections

/// The watchers of something, and the news for them.
///
///     post ──▶ the newest of each kind ── add ──▶ what waits for a watcher ── deliver ──▶ its body
///       └─────────────────────────────────────────────────▲
///
/// A watcher gets the newest news of each kind, and then all later news: in the order in which it was posted, one call at a
/// time, and with no lock held. If each thread called the body itself, a thread's older news could arrive last, after another
/// thread's newer news.
final class Watchers<News: Sendable>: Sendable {
    private struct Watcher {
        let body: @Sendable (News) -> Void
        var waiting: [News]
        /// Whether a thread is calling the body. It also delivers what waits.
        var isBeingTold = false
    }

    private struct State {
        /// What new watchers get first.
        var newest: [NewsKind: News] = [:]
        var watchers: [Int: Watcher] = [:]
        var lastID = 0

        /// Takes the next news for a watcher, or nil if there is none or another thread delivers it.
        mutating func next(for id: Int, goesOn: Bool) -> (body: @Sendable (News) -> Void, news: News)? {
            guard var watcher = watchers[id], goesOn || !watcher.isBeingTold else { return nil }
            defer { watchers[id] = watcher }
            watcher.isBeingTold = !watcher.waiting.isEmpty
            return watcher.isBeingTold ? (watcher.body, watcher.waiting.removeFirst()) : nil
        }
    }

    private let state = Locked(State())
    private let kind: @Sendable (News) -> NewsKind?

    /// - Parameter kind: the kind of a piece of news, or nil if watchers that come later do not get it.
    init(kind: @escaping @Sendable (News) -> NewsKind?) { self.kind = kind }

    var isEmpty: Bool { state.withLock { $0.watchers.isEmpty } }

    /// Adds news for all watchers. Calls none of them, so that it can be used under a lock that gives news its order.
    func post(_ news: News) {
        let kind = kind(news)
        state.withLock { state in
            if let kind { state.newest[kind] = news }
            for id in state.watchers.keys { state.watchers[id]?.waiting.append(news) }
        }
    }

    /// Delivers what was posted. A watcher that another thread is calling is left to that thread.
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
    /// - Returns: the watcher's ID for `remove`.
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

    /// Delivers nothing more to the watcher. A call that is running goes on to its end.
    func remove(_ id: Int) { state.withLock { $0.watchers[id] = nil } }
}

/// What new watchers get first: the newest of each kind, in this order.
enum NewsKind: CaseIterable, Sendable {
    case state
    case standing
    case ended
}
