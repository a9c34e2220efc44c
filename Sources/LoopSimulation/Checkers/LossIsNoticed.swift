import LoopCluster
import LoopWire

/// G3 across restarts of the reducer: a history whose journal lacks what a join request knows admits no peer. A peer knows only
/// what was durable. So records are missing, and the reducer must stop or begin another history.
struct LossIsNoticed: Checker {
    static let promise = Promise.nothingLost
    private(set) var checkCount = 0
    private var book = SessionBook()
    /// What is missing, by the peer that has shown it.
    private var shown: [PeerID: String] = [:]

    mutating func begin(_ history: History) { (book, shown) = (SessionBook(history: history), [:]) }

    /// A join request reaches the reducer.
    mutating func note(_ joinRequest: JoinRequest) {
        if let missing = book.missing(joinRequest) { shown[joinRequest.peer] = missing }
    }

    /// A frame leaves the reducer.
    mutating func check(_ message: Outbound) throws(Violation) {
        guard case .inbox(let peer, let frame) = message, case .joinAccepted = frame.message,
            frame.history == book.history
        else { return }
        checkCount += 1
        if let missing = shown[peer] {
            throw Violation(
                .nothingLost, "a peer that knows of \(missing), which the journal does not have, is welcomed in")
        }
    }

    mutating func follow(_ record: Record) {
        book.follow(record)
        switch record {
        // The peers must show it again to a new process.
        case .epochBegun, .historyBegun: shown = [:]
        case .event, .refused, .completed, .skipped, .granted, .attemptEnded, .sessionOpened, .sessionOwned,
            .sessionRetired, .definition, .stateHash, .stateMarked, .markHash, .quarantined, .operatorAction,
            .scheduled:
            break
        }
    }
}
