import LoopCore

/// One connection's one direction: messages arrive in the order in which they were sent, each with a delay.
struct Pipe {
    struct Item {
        var bytes: [UInt8]
        /// Virtual nanoseconds.
        var arrival: UInt64
    }

    private var items: [Item] = []
    private var head = 0
    /// Nothing can be read before this time.
    var stalledUntil: UInt64 = 0

    var count: Int { items.count - head }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ bytes: [UInt8], arrival: UInt64) {
        items.append(Item(bytes: bytes, arrival: max(arrival, items.last?.arrival ?? 0)))
    }

    func isReadable(at now: UInt64) -> Bool {
        head < items.count && stalledUntil <= now && items[head].arrival <= now
    }

    /// When the next message can be read; nil: there is none.
    var readableAt: UInt64? { head < items.count ? max(items[head].arrival, stalledUntil) : nil }

    mutating func popFirst() -> [UInt8]? {
        guard head < items.count else { return nil }
        defer {
            head += 1
            if head > 256 || head == items.count {
                items.removeFirst(head)
                head = 0
            }
        }
        return items[head].bytes
    }

    mutating func removeAll() {
        items.removeAll()
        head = 0
    }

    /// The connection is lost: what was at the front stays readable, the middle is gone, the rest goes on over the new
    /// connection, which is returned.
    mutating func cut(_ random: inout SeededRandom) -> Pipe {
        let kept = Int.random(in: 0...count, using: &random)
        let moved = Int.random(in: kept...count, using: &random)
        var new = Pipe()
        new.items = Array(items[(head + moved)...])
        items = Array(items[head..<head + kept])
        head = 0
        return new
    }
}
