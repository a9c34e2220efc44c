import LoopCluster
import LoopCore
import LoopWire

/// Maps a session's numbers to entries. Several checkers need it to read a journal.
package struct EntryBook: Sendable {
    /// All entries, by their id.
    private var entries: [SentEntry] = []
    /// The ids of each session's entries, by their number. 0 is a number that was never seen.
    private var streams: [History: [SessionID: [Int]]] = [:]
    /// The entries that were handed to a socket.
    private var sent: Set<Int> = []

    package init() {}

    package var count: Int { entries.count }

    /// The entry of an id, or nil if the id was never given.
    package subscript(id: Int) -> SentEntry? {
        entries.indices.contains(id - 1) ? entries[id - 1] : nil
    }

    mutating func accept(_ entry: SentEntry) {
        precondition(entry.id == entries.count + 1, "entry \(entry.id) was accepted after \(entries.count)")
        entries.append(entry)
    }

    /// A process continues with an entry of a process that has ended.
    mutating func inherit(_ id: Int, by peer: Int) {
        if entries.indices.contains(id - 1) { entries[id - 1].peer = peer }
    }

    /// Entries are passed to a socket, perhaps again.
    mutating func send(
        _ history: History, _ session: SessionID, _ first: UInt64, _ ids: ArraySlice<Int>
    ) throws(Violation) {
        for (offset, id) in ids.enumerated() {
            try note(history, session, first + UInt64(offset), id)
            sent.insert(id)
        }
    }

    /// A session's entries after a number are lost with their process.
    mutating func forget(_ history: History, _ session: SessionID, after number: UInt64) {
        streams[history]?[session]?.forget(after: Int(number))
    }

    /// After an older copy of the journal was put back, the sessions that were opened since may be granted again.
    mutating func lose(_ records: [JournaledRecord]) {
        for journaled in records {
            guard case .sessionOpened(let session, _) = journaled.record else { continue }
            streams[journaled.history]?[session] = nil
        }
    }

    private mutating func note(
        _ history: History, _ session: SessionID, _ number: UInt64, _ id: Int
    ) throws(Violation) {
        let known = streams[history, default: [:]][session, default: []].noted(id, at: Int(number))
        if let known, known != id {
            throw Violation(
                .nothingLost, "number \(number) of session \(session) was given to #\(known), then to #\(id)")
        }
    }

    /// Whether an entry may have reached the reducer.
    func wasSent(_ id: Int) -> Bool { sent.contains(id) }

    func entry(_ history: History, _ session: SessionID, _ number: UInt64) -> SentEntry? {
        guard let ids = streams[history]?[session], number < UInt64(ids.count) else { return nil }
        return self[ids[Int(number)]]
    }
}

extension [Int] {
    /// Removes the entries that the journal does not have. They are lost with their process.
    fileprivate mutating func forget(after index: Int) {
        if count > index + 1 { removeLast(count - index - 1) }
    }

    /// Notes an id at an index that has none.
    /// - Returns: the id that was already there, or nil.
    fileprivate mutating func noted(_ id: Int, at index: Int) -> Int? {
        while count <= index { append(0) }
        if self[index] != 0 { return self[index] }
        self[index] = id
        return nil
    }
}

extension Record {
    /// The numbered entry that this record consumes.
    var entry: (session: SessionID, number: UInt64)? {
        switch self {
        // An event that an operator has retried is no longer an entry, and a timer's event never was.
        case .event(let record): record.session == .none ? nil : (record.session, record.number)
        case .refused(let record): (record.session, record.number)
        case .completed(let session, let number, _, _): (session, number)
        case .skipped(let session, let number): (session, number)
        case .quarantined(let record): record.session == .none ? nil : (record.session, record.number)
        case .attemptEnded(let end): end.entry.map { ($0.session, $0.number) }
        case .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun, .definition, .stateHash,
            .stateMarked, .markHash, .operatorAction, .historyBegun, .scheduled:
            nil
        }
    }

    /// The outcome that the sender of the consumed entry learns, or nil if the record consumes none.
    var outcome: EntryOutcome? {
        switch self {
        case .event(let event): .applied(event.seq)
        case .refused(let refusal): .refused(refusal.reason)
        case .quarantined: .refused(.quarantined)
        case .completed, .skipped, .attemptEnded: .applied(.initial)
        case .granted, .sessionOpened, .sessionOwned, .sessionRetired, .epochBegun, .definition, .stateHash,
            .stateMarked, .markHash, .operatorAction, .historyBegun, .scheduled:
            nil
        }
    }
}
