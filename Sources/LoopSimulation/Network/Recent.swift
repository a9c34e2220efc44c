import LoopCore

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
