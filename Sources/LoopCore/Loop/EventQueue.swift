/// A queue in a ring buffer: both ends cost O(1), and the memory is reused. A queue that was never used allocates none.
@usableFromInline
struct EventQueue<Element: Sendable>: Sendable {
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var head = 0
    @usableFromInline var count = 0

    @usableFromInline
    init() {}

    @inlinable var isEmpty: Bool { count == 0 }

    @inlinable
    mutating func append(_ element: Element) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = element
        count += 1
    }

    @inlinable
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return element
    }

    /// Empties the queue and returns its elements.
    mutating func takeAll() -> [Element] {
        var all: [Element] = []
        all.reserveCapacity(count)
        while let element = popFirst() { all.append(element) }
        return all
    }

    /// Doubles the slots, whose number remains a power of two.
    @inlinable
    mutating func grow() {
        let size = Swift.max(16, 2 * slots.count)
        var larger: [Element?] = []
        larger.reserveCapacity(size)
        for offset in 0..<count { larger.append(slots[(head + offset) & (slots.count - 1)].take()) }
        larger.append(contentsOf: repeatElement(nil, count: size - count))
        slots = larger
        head = 0
    }
}
