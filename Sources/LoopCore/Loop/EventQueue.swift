/// A queue in a ring: both ends cost O(1), and the memory is used again.
struct EventQueue<Element: Sendable>: Sendable {
    private var slots: [Element?] = Array(repeating: nil, count: 16)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return element
    }

    /// Empties the queue and gives what was in it.
    mutating func takeAll() -> [Element] {
        var all: [Element] = []
        all.reserveCapacity(count)
        while let element = popFirst() { all.append(element) }
        return all
    }

    /// The number of slots stays a power of two.
    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(2 * slots.count)
        for offset in 0..<count { larger.append(slots[(head + offset) & (slots.count - 1)].take()) }
        larger.append(contentsOf: repeatElement(nil, count: 2 * slots.count - count))
        slots = larger
        head = 0
    }
}
