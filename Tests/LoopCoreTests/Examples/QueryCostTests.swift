import LoopCore
import Synchronization
import Testing

/// What docs/feedbacks.md says of the cost of a query, with 8,000 orders.
@Suite struct `A query of a stored tracked dictionary` {
    private struct Item: Equatable, Sendable {
        var number: Int
        var isPaid: Bool

        static let comparisonsCount = Atomic<Int>(0)

        static func == (a: Item, b: Item) -> Bool {
            comparisonsCount.add(1, ordering: .relaxed)
            return a.number == b.number && a.isPaid == b.isPaid
        }
    }

    /// One dictionary with a status, of which the query makes another one.
    private struct Filtered: Sendable {
        var items: [Int: Item]
        var unpaid: [Int: Item] { items.filter { !$0.value.isPaid } }
    }

    /// One dictionary for each kind of work, and the query is one of them.
    private struct Moved: Sendable {
        var unpaid: TrackedDictionary<Int, Item>
        var paid: TrackedDictionary<Int, Item>
    }

    private static let items = (0..<8000).map { ($0, Item(number: $0, isPaid: false)) }

    /// How many orders are compared when one of them is paid.
    private func comparisons<State: Sendable>(_ loop: Loop<State, Int>) -> Int {
        let before = Item.comparisonsCount.load(ordering: .relaxed)
        loop.send(17)
        loop.stop()
        return Item.comparisonsCount.load(ordering: .relaxed) - before
    }

    @Test func `looks at what an event has changed, and one that filters looks at every entry`() {
        let filtered = comparisons(
            Loop<Filtered, Int>(
                initial: Filtered(items: Dictionary(uniqueKeysWithValues: Self.items)),
                reducer: { $0.items[$1]?.isPaid = true },
                feedbacks: [.react("charge", requests: \.unpaid) { (_: Item) in .none }]))
        let moved = comparisons(
            Loop<Moved, Int>(
                initial: Moved(unpaid: TrackedDictionary(Self.items), paid: [:]),
                reducer: { state, number in state.paid[number] = state.unpaid.removeValue(forKey: number) },
                feedbacks: [.react("charge", requests: \.unpaid) { (_: Item) in .none }]))
        #expect(filtered >= 7999)
        #expect(moved < 10)
    }
}
