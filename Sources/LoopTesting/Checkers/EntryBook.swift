import LoopCluster
import LoopCore
import LoopWire

/// Which entry stands behind a session's number: what several checkers need to read a journal.
struct EntryBook: Sendable {
    struct Key: Hashable, Sendable {
        let history: History
        let session: SessionID
        let number: UInt64
    }

    private(set) var entries: [UInt64: SentEntry] = [:]
    private var ids: [Key: UInt64] = [:]

    /// - Returns: false if the number already stands for another entry.
    mutating func note(_ observation: Observation) -> Bool {
        switch observation {
        case .accepted(let entry): entries[entry.id] = entry
        case .sent(let history, let session, let number, let id):
            let key = Key(history: history, session: session, number: number)
            if let known = ids[key], known != id { return false }
            ids[key] = id
        default: break
        }
        return true
    }

    func entry(_ history: History, _ session: SessionID, _ number: UInt64) -> SentEntry? {
        ids[Key(history: history, session: session, number: number)].flatMap { entries[$0] }
    }
}
