import LoopCollections

/// Waiting effects by their tickets, the smallest first. Most tickets come in ascending order and are in an array, at
/// almost no cost. A ticket that is out of order is in a heap.
struct TicketQueue: Sendable {
    struct Ticket: Comparable, Sendable {
        /// The time at which the effect began to wait, moved by its priority; 0 if there are no priorities.
        var rank: Int64 = 0
        /// A number that is given once, in ascending order.
        var number: UInt64
        /// The place of the effect in the table of all effects.
        var place: Int32
        static func < (a: Ticket, b: Ticket) -> Bool { a.rank != b.rank ? a.rank < b.rank : a.number < b.number }
    }

    private var line: [Ticket] = []
    /// The position of the first ticket in the line.
    private var head = 0
    private var late = BinaryHeap<Ticket>()

    var top: Ticket? {
        guard head < line.count else { return late.top }
        let first = line[head]
        guard let other = late.top, other < first else { return first }
        return other
    }

    mutating func push(_ ticket: Ticket) {
        if let last = line.last, ticket < last { late.push(ticket) } else { line.append(ticket) }
    }

    @discardableResult
    mutating func pop() -> Ticket? {
        guard head < line.count else { return late.pop() }
        let first = line[head]
        if let other = late.top, other < first { return late.pop() }
        head += 1
        if head == line.count {
            line.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 > line.count {
            line.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Whether more than half of the tickets are dead, if `live` of them are not.
    func isBloated(live: Int) -> Bool { line.count - head + late.count > 2 * live + 16 }

    /// Drops the tickets that are no longer live, in O(n).
    mutating func compact(where isLive: (Ticket) -> Bool) {
        line.removeFirst(head)
        head = 0
        line.removeAll { !isLive($0) }
        late.compact(where: isLive)
    }
}
