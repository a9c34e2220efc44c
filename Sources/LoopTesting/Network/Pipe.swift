import LoopCore

/// One connection's one direction: messages arrive in the order in which they were sent, each with a delay.
struct Pipe<Message> {
    private struct Item {
        var message: Message
        /// Virtual nanoseconds.
        var arrival: UInt64
    }

    private var items: [Item] = []
    private var head = 0
    /// Nothing can be read before this time.
    var stalledUntil: UInt64 = 0

    var count: Int { items.count - head }
    var isEmpty: Bool { head == items.count }

    mutating func append(_ message: Message, arrival: UInt64) {
        items.append(Item(message: message, arrival: max(arrival, items.last?.arrival ?? 0)))
    }

    /// When the next message can be read; never: `.max`.
    var readableAt: UInt64 { head < items.count ? max(items[head].arrival, stalledUntil) : .max }

    mutating func popFirst() -> Message? {
        guard head < items.count else { return nil }
        let message = items[head].message
        head += 1
        if head == items.count {
            items.removeAll(keepingCapacity: true)
            head = 0
        } else if head > 256 {
            items.removeFirst(head)
            head = 0
        }
        return message
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
