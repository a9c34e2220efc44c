internal import LoopJournal
internal import LoopLock
internal import LoopNode

/// What a process remembers of a journal from one opening to the next.
package final class JournalMemory: Sendable {
    struct State {
        /// Whether an opening of this process has it.
        var isOpen = false
        var watch = LeaseWatch()
        /// The end of the newest row that has a receipt, and the number of its journal.
        var receipt: (journal: Int64, end: ChainLink)?
        /// Which standbys each host's commits waited for.
        var standbyNames: [Int: String] = [:]
    }

    /// Random: the same process may take the journal again at once, a copy of it may not.
    let holder = Int64(bitPattern: SystemRandom.uint64() | 1)
    /// Which of the database's hosts it comes to next.
    let hosts = HostChoice()
    /// The choice of hosts for reading while it does not hold the journal.
    package let sources = HostChoice()
    private let state = Locked(State())

    package init() {}

    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in body(&state) }
    }
}
