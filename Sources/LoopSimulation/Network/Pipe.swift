import LoopCore

/// One direction of one connection. Messages arrive in the order in which they were sent, each with a delay.
struct Pipe<Message> {
    private struct Item {
        var message: Message
        /// The time of arrival, in virtual nanoseconds.
        var arrival: UInt64
    }

    private var items: [Item] = []
    private var head = 0
    /// The time before which nothing can be read.
    var stalledUntil: UInt64 = 0

    var count: Int { items.count - head }
    var isEmpty: Bool { head == items.count }

    mutating func append(_ message: Message, arrival: UInt64) {
        items.append(Item(message: message, arrival: max(arrival, items.last?.arrival ?? 0)))
    }

    /// The time at which the next message can be read, or `.max` for never.
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

    /// The connection is lost. Messages at the front stay readable, the middle is lost, and the rest continues over the new
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

/// The newest few messages of one direction.
struct Recent<Message> {
    private var messages: [Message] = []
    private var next = 0
    private static var countMax: Int { 64 }

    mutating func note(_ message: Message) {
        if messages.count < Self.countMax {
            messages.append(message)
        } else {
            messages[next] = message
            next = (next + 1) % messages.count
        }
    }

    /// All messages, the oldest first.
    var inOrder: [Message] { Array(messages[next...] + messages[..<next]) }

    /// Up to four of the messages, in any order.
    func some(_ dice: inout SeededRandom) -> [Message] {
        guard !messages.isEmpty else { return [] }
        return (0..<Int.random(in: 0...4, using: &dice)).map { _ in
            messages[Int.random(in: 0..<messages.count, using: &dice)]
        }
    }
}
