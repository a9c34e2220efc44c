import LoopCore

/// The connections of one socket, with the present one last. Earlier ones may still have messages.
struct Connections<Message> {
    var pipes: [Pipe<Message>] = []

    /// Whether no message is under way.
    var isEmpty: Bool { pipes.allSatisfy(\.isEmpty) }

    /// The time at which the next message can be read, or `.max` for never.
    var readableAt: UInt64 {
        var earliest = UInt64.max
        for pipe in pipes { earliest = min(earliest, pipe.readableAt) }
        return earliest
    }

    /// The number of connections with a message that can be read.
    func readableCount(at now: UInt64) -> Int {
        var count = 0
        for pipe in pipes where pipe.readableAt <= now { count += 1 }
        return count
    }

    /// Takes a message from one of the connections that have one.
    /// - Parameter choice: the number of the connection among these, from 0.
    mutating func popFirst(_ choice: Int, at now: UInt64) -> Message? {
        var choice = choice
        let index = pipes.firstIndex { pipe in
            guard pipe.readableAt <= now else { return false }
            choice -= 1
            return choice < 0
        }
        return index.flatMap { pipes[$0].popFirst() }
    }

    /// The position of the present connection, or nil if there is none.
    var present: Int? { pipes.indices.last }

    /// Sends a message over one connection.
    /// - Returns: the time at which it can be read.
    mutating func append(_ message: Message, arrival: UInt64, over connection: Int) -> UInt64 {
        pipes[connection].append(message, arrival: arrival)
        return max(arrival, pipes[connection].stalledUntil)
    }

    /// Sends a message over the present connection.
    /// - Returns: the time at which it can be read, or nil if there is no connection.
    @discardableResult
    mutating func append(_ message: Message, arrival: UInt64) -> UInt64? {
        present.map { append(message, arrival: arrival, over: $0) }
    }

    var hasPresent: Bool { !pipes.isEmpty }

    /// Whether the present connection has at least this many messages, or there is none.
    func isFull(_ countMax: Int) -> Bool { pipes.last.map { $0.count >= countMax } ?? true }

    /// The present connection is lost. Messages at its front stay readable, and the middle is lost.
    /// - Returns: a connection with the rest, or nil if there was none to lose.
    mutating func cutPresent(_ random: inout SeededRandom) -> Pipe<Message>? {
        present.map { pipes[$0].cut(&random) }
    }

    /// Nothing can be read over the present connection before this time.
    mutating func stallPresent(until time: UInt64) {
        if let present { pipes[present].stalledUntil = time }
    }

    /// Messages arrive over an earlier connection, if there is a present one.
    mutating func insertEarlier(_ pipe: Pipe<Message>) {
        if !pipe.isEmpty, !pipes.isEmpty { pipes.insert(pipe, at: 0) }
    }

    /// Nothing can be read before this time.
    mutating func stall(until time: UInt64) {
        for index in pipes.indices { pipes[index].stalledUntil = time }
    }

    /// Removes earlier connections without messages.
    mutating func dropEmpty() {
        guard pipes.count > 1 else { return }
        let last = pipes.removeLast()
        pipes.removeAll(where: \.isEmpty)
        pipes.append(last)
    }
}

/// One direction of one connection. Messages arrive in the order in which they were sent, each with a delay.
struct Pipe<Message> {
    private struct Item {
        var message: Message
        /// The time of arrival, in virtual nanoseconds.
        var arrival: UInt64
    }

    private var items: [Item] = []
    /// The time before which nothing can be read.
    var stalledUntil: UInt64 = 0

    var count: Int { items.count }
    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ message: Message, arrival: UInt64) {
        items.append(Item(message: message, arrival: max(arrival, items.last?.arrival ?? 0)))
    }

    /// The time at which the next message can be read, or `.max` for never.
    var readableAt: UInt64 { isEmpty ? .max : max(items[0].arrival, stalledUntil) }

    mutating func popFirst() -> Message? { isEmpty ? nil : items.removeFirst().message }

    mutating func removeAll() { items.removeAll() }

    /// The connection is lost. Messages at the front stay readable, the middle is lost, and the rest continues over the new
    /// connection, which is returned.
    mutating func cut(_ random: inout SeededRandom) -> Pipe {
        let kept = Int.random(in: 0...count, using: &random)
        let moved = Int.random(in: kept...count, using: &random)
        var new = Pipe()
        new.items = Array(items[moved...])
        items = Array(items[..<kept])
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
