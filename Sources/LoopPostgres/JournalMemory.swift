internal import LoopCluster
internal import LoopJournal
internal import LoopCollections
internal import LoopNode

/// What a process knows to be committed of one journal. A server that lacks it is an old copy, or has lost it.
struct KnownJournal {
    let journal: Int64
    /// The newest term that this process has led or followed.
    var term: Int64
    /// The end of the newest row for which this process has a receipt.
    var end: ChainLink?
}

/// What a process remembers of a journal from one opening to the next.
package final class JournalMemory: Sendable {
    struct State {
        /// Whether this process has it open for writing.
        var isOpen = false
        var watch = HolderWatch()
        /// What was committed of the journal that this process has last led or followed.
        var known: KnownJournal?
        /// The standbys for which each host's commits waited.
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

    /// A random number of this process. With it, the process may take the journal again at once, but a copy of the process may not.
    let holder = Int64(bitPattern: SystemRandom.uint64() | 1)
    /// The choice of the database's host for the next connection.
    let hosts = HostChoice()
    /// The choice of the host for reading while this process does not own the journal.
    package let sources = HostChoice()
    private let state = Locked(State())

    package init() {}

    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in body(&state) }
    }
}
