internal import LoopJournal
internal import LoopLock
internal import LoopNode

/// What a process knows to be committed of one journal. A server that lacks it is an old copy, or has lost it.
struct KnownJournal {
    let journal: Int64
    /// The newest term that it has led or followed.
    var term: Int64
    /// The end of the newest row for which this process has a receipt.
    var end: ChainLink?
}

/// What a process remembers of a journal from one opening to the next.
package final class JournalMemory: Sendable {
    struct State {
        /// Whether an opening of this process has it.
        var isOpen = false
        var watch = LeaseWatch()
        /// What was committed of the journal that it has led or followed last.
        var known: KnownJournal?
        /// Which standbys each host's commits waited for.
        var standbyNames: [Int: String] = [:]

        /// Notes a term of a journal that this process leads or follows.
        mutating func note(term: Int64, of journal: Int64) {
            guard let known, known.journal == journal else {
                known = KnownJournal(journal: journal, term: term)
                return
            }
            self.known?.term = max(known.term, term)
        }
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
