internal import LoopCollections
internal import LoopNode

/// The pages of a server by session: one for all browsers, or one for each.
final class PageCache: Sendable {
    private struct State {
        var pages: [String: LivePage] = [:]
        var isClosed = false
    }

    private let state = Locked(State())
    private let make: @Sendable () -> LivePage
    private let isShared: Bool
    private let pagesMax: Int
    private let idleLimit: Duration

    init(
        isShared: Bool, pagesMax: Int, idleLimit: Duration, make: @escaping @Sendable () -> LivePage
    ) {
        self.isShared = isShared
        self.pagesMax = max(pagesMax, 1)
        self.idleLimit = idleLimit
        self.make = make
        if isShared { state.withLock { [page = make()] in $0.pages[""] = page } }
    }

    /// The page of a browser that was here before, or nil if it has none any more.
    func page(_ session: String?) -> LivePage? {
        state.withLock { $0.pages[isShared ? "" : session ?? "-"] }
    }

    /// The page of a browser, or a new page with the session name to send to the browser. Returns nil if the cache is closed, or if
    /// the limit of pages is reached and all are in use.
    func pageOrNew(_ session: String?, newSession: () -> String) -> (page: LivePage, session: String?)? {
        if let page = page(session) { return (page, nil) }
        // If the shared page is missing, it has been closed.
        if isShared { return nil }
        let old = clear(room: true)
        for page in old { page.close() }
        let new = (page: make(), session: newSession())
        let isTaken = state.withLock { state in
            if state.isClosed || state.pages.count >= pagesMax { return false }
            state.pages[new.session] = new.page
            return true
        }
        if !isTaken { new.page.close() }
        return isTaken ? (new.page, new.session) : nil
    }

    /// Ends the pages that have been idle for too long, with their stores.
    func endIdle() {
        if isShared { return }
        for page in clear(room: false) { page.close() }
    }

    /// Removes the pages that have been idle for too long. If there is no room, it also removes those that have been idle longest.
    private func clear(room: Bool) -> [LivePage] {
        let now = ContinuousClock.now
        return state.withLock { state in
            let idle = state.pages.compactMap { session, page in page.idleSince.map { (session, since: $0) } }
                .sorted { $0.since < $1.since }
            let surplus = room ? state.pages.count - pagesMax + 1 : 0
            var old: [LivePage] = []
            for (number, one) in idle.enumerated() where number < surplus || one.since.duration(to: now) > idleLimit {
                if let page = state.pages.removeValue(forKey: one.0) { old.append(page) }
            }
            return old
        }
    }

    var all: [LivePage] { state.withLock { Array($0.pages.values) } }

    func close() {
        let pages = state.withLock { state in
            state.isClosed = true
            defer { state.pages = [:] }
            return Array(state.pages.values)
        }
        for page in pages { page.close() }
    }
}

/// Names of sessions that cannot be guessed.
enum SessionName {
    /// 128 bits of the system's generator, in hexadecimal digits.
    static func new() -> String { JSONText.hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) }) }
}
