import LoopCollections

/// Waiting effects by their tickets, the smallest first. Most come in ascending order and stand in a line, where to come and
/// to go costs next to nothing; one that comes later than its ticket says stands in a heap.
struct TicketQueue: Sendable {
    struct Ticket: Comparable, Sendable {
        /// What priority makes of the time of its coming; 0 where there is no priority.
        var rank: Int64 = 0
        /// Given once, in the order of coming.
        var number: UInt64
        /// Where the effect stands among all.
        var place: Int32
        static func < (a: Ticket, b: Ticket) -> Bool { a.rank != b.rank ? a.rank < b.rank : a.number < b.number }
    }

    private var line: [Ticket] = []
    /// The first in line.
    private var head = 0
    private var late = BinaryHeap<Ticket>()

    var top: Ticket? {
        guard head < line.count else { return late.top }
        let first = line[head]
        guard let other = late.top, other < first else { return first }
        return other
    }

    /// Where the effect stands that is so far behind the first in line; nil: none is.
    func place(after distance: Int) -> Int32? { head + distance < line.count ? line[head + distance].place : nil }

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

    /// Whether more than half of the tickets are dead when `live` of them are not.
    func isBloated(live: Int) -> Bool { line.count - head + late.count > 2 * live + 16 }

    /// Drops the tickets that are no longer live, in O(n).
    mutating func compact(where isLive: (Ticket) -> Bool) {
        line.removeFirst(head)
        head = 0
        line.removeAll { !isLive($0) }
        late.compact(where: isLive)
    }
}
