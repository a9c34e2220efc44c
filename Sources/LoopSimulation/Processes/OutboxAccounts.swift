import LoopWire

/// The entries of a peer's outbox by their numbers, stored separately from the machine. The machine's reports about a number are
/// compared with them.
struct OutboxAccounts {
    /// The ids of the entries without a known outcome, the oldest first. 0 if the peer has learned the outcome.
    private var ids: [Int] = []
    /// The number up to which every outcome is known.
    private(set) var settled: UInt64

    /// The session in which entries were last sent, and the largest number sent.
    private var sentUpTo: (session: SessionID, number: UInt64) = (.none, 0)

    /// - Parameters:
    ///   - settled: the number after which the stream of another process continues.
    ///   - ids: the stream's entries without a known outcome.
    init(settled: UInt64 = 0, ids: [Int] = []) {
        self.settled = settled
        self.ids = ids
    }

    var last: UInt64 { settled + UInt64(ids.count) }

    /// The machine has numbered one more entry.
    mutating func accept(_ id: Int) { ids.append(id) }

    /// The id of a number under way, or nil if there is none.
    func id(of number: UInt64) -> Int? {
        guard number > settled, number <= last else { return nil }
        let id = ids[Int(number - settled) - 1]
        return id == 0 ? nil : id
    }

    /// The ids of a run of numbers, as far as they are under way. 0 if the peer has learned the outcome.
    func ids(from first: UInt64, count: Int) -> ArraySlice<Int> {
        guard first > settled, first <= last else { return [] }
        return ids[(Int(first - settled) - 1)...].prefix(count)
    }

    /// Notes that a batch is passed to a socket.
    /// - Returns: how many of its entries were sent before.
    mutating func send(_ batch: Batch) -> Int {
        if batch.session != sentUpTo.session { sentUpTo = (batch.session, 0) }
        let last = batch.first + UInt64(batch.entries.count) - 1
        defer { sentUpTo.number = max(sentUpTo.number, last) }
        return batch.first <= sentUpTo.number ? Int(min(last, sentUpTo.number) - batch.first) + 1 : 0
    }

    /// Numbers begin again after this one.
    mutating func restart(settled: UInt64) {
        ids = []
        self.settled = settled
    }

    /// The peer learns the outcome of a number.
    /// - Returns: the entry's id, or nil if it is not under way.
    mutating func tell(_ number: UInt64) -> Int? {
        guard let id = id(of: number) else { return nil }
        ids[Int(number - settled) - 1] = 0
        return id
    }

    /// Everything up to a number is settled.
    /// - Returns: the ids of entries whose own outcome the peer has not learned.
    mutating func settle(upTo number: UInt64) -> [Int] {
        guard number > settled else { return [] }
        let count = min(Int(clamping: number - settled), ids.count)
        let untold = ids.prefix(count).filter { $0 != 0 }
        ids.removeFirst(count)
        settled += UInt64(count)
        return untold
    }
}
