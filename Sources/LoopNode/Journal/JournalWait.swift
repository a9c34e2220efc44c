import LoopCluster
import LoopCollections

/// Opens a journal that another process may have, on a separate thread, so that a database that does not respond keeps
/// no peer waiting.
final class JournalWait: Sendable {
    private struct State {
        var owner: JournalOwner?
        var result: Result<Exclusive<any Journal>, JournalError>?
        var isGivenUp = false
    }

    private let state: Monitor<State>
    private let wakeup: Wakeup

    /// - Parameters:
    ///   - place: the location of the journal.
    ///   - opening: how to open it, and whether to wait. While it waits, `owner` says which process has the journal.
    init(_ place: JournalPlace, _ opening: JournalPlace.Opening) throws(SystemError) {
        let (state, wakeup) = (Monitor(State()), try Wakeup())
        (self.state, self.wakeup) = (state, wakeup)
        var opening = opening
        let isStopping = opening.isStopping
        opening.waitsForFile = true
        opening.isStopping = { isStopping() || state.withLock { $0.isGivenUp } }
        opening.whileWaiting = { owner in
            let isNew = state.withLock { state in
                defer { state.owner = owner }
                return state.owner != owner
            }
            if isNew { wakeup.signal() }
            return true
        }
        let asked = opening
        _ = try NodeThread("loop-takeover") {
            let result: Result<Exclusive<any Journal>, JournalError>
            do throws(JournalError) {
                result = .success(Exclusive(try place.open(asked)))
            } catch {
                result = .failure(error)
            }
            state.withLock { $0.result = result }
            state.broadcast()
            wakeup.signal()
        }
    }

    /// Becomes readable when there may be something new.
    var descriptor: Int32 { wakeup.descriptor }

    /// The process that has the journal, as far as that is known, or nil before the first look.
    var owner: JournalOwner? { state.withLock { $0.owner } }

    /// Hands over the journal, which is the caller's from now on, or returns nil while the wait goes on.
    func take() throws(JournalError) -> (any Journal)? {
        wakeup.drain()
        guard let result = state.withLock({ $0.result }) else { return nil }
        return try result.get().withValue { $0 }
    }

    /// Stops waiting, and returns when the thread is done. A journal that was opened meanwhile is closed.
    func giveUp() {
        state.withLock { $0.isGivenUp = true }
        let result = state.wait(until: { $0.result != nil }) { $0.result }
        if case .success(let journal)? = result { journal.withValue { $0.close() } }
    }
}
