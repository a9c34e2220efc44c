import LoopWire

/// Which entries of a peer's outbox stand under which numbers, kept besides the machine: what the machine says of a number
/// is compared with it.
struct OutboxAccounts {
    /// The ids of the entries whose outcome is not known, the oldest first; 0: the peer has been told.
    private var ids: [Int] = []
    private var head = 0
    /// Every outcome up to this number is known.
    private(set) var settled: UInt64

    /// Up to where entries have left in a session.
    private var sentUpTo: (session: SessionID, number: UInt64) = (.none, 0)

    /// - Parameters:
    ///   - settled: where a stream goes on that another process has begun.
    ///   - ids: its entries whose outcome is not known.
    init(settled: UInt64 = 0, ids: [Int] = []) {
        self.settled = settled
        self.ids = ids
    }

    var last: UInt64 { settled + UInt64(ids.count - head) }

    /// The machine has numbered one more entry.
    mutating func accept(_ id: Int) { ids.append(id) }

    /// The id under a number that is under way; nil: there is none.
    func id(of number: UInt64) -> Int? {
        guard number > settled, number <= last else { return nil }
        let id = ids[head + Int(number - settled) - 1]
        return id == 0 ? nil : id
    }

    /// The ids under a run of numbers, as far as they are under way; 0: the peer has been told.
    func ids(from first: UInt64, count: Int) -> ArraySlice<Int> {
        guard first > settled, first <= last else { return [] }
        return ids[(head + Int(first - settled) - 1)...].prefix(count)
    }

    /// A batch is handed to a socket.
    /// - Returns: how many of its entries had left before.
    mutating func send(_ batch: Batch) -> Int {
        if batch.session != sentUpTo.session { sentUpTo = (batch.session, 0) }
        let last = batch.first + UInt64(batch.entries.count) - 1
        defer { sentUpTo.number = max(sentUpTo.number, last) }
        return batch.first <= sentUpTo.number ? Int(min(last, sentUpTo.number) - batch.first) + 1 : 0
    }

    /// Numbers begin again, after this one.
    mutating func restart(settled: UInt64) {
        ids = []
        head = 0
        self.settled = settled
    }

    /// The peer hears what became of a number.
    /// - Returns: the entry's id; nil: it is not under way.
    mutating func tell(_ number: UInt64) -> Int? {
        guard let id = id(of: number) else { return nil }
        ids[head + Int(number - settled) - 1] = 0
        return id
    }

    /// Everything up to a number is settled.
    /// - Returns: the ids that the peer has not heard of in particular.
    mutating func settle(upTo number: UInt64) -> [Int] {
        var untold: [Int] = []
        while settled < number, head < ids.count {
            if ids[head] != 0 { untold.append(ids[head]) }
            head += 1
            settled += 1
        }
        if head == ids.count {
            ids.removeAll(keepingCapacity: true)
            head = 0
        }
        return untold
    }
}
