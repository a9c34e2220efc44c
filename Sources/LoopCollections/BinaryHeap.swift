/// A binary heap with the smallest element on top. Copyable; `push` and `pop` cost O(log n).
@usableFromInline
package struct BinaryHeap<Element: Comparable & Sendable>: Sendable {
    @usableFromInline var elements: [Element] = []

    @inlinable
    package init() {}

    @inlinable
    package var count: Int { elements.count }
    @inlinable
    package var top: Element? { elements.first }

    @inlinable
    package mutating func push(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable
    @discardableResult
    package mutating func pop() -> Element? {
        guard let last = elements.popLast() else { return nil }
        guard let first = elements.first else { return last }
        elements[0] = last
        sink(from: 0)
        return first
    }

    /// Whether more than half of the elements are dead if `live` of them are not. Then the pushes of the dead elements pay for
    /// `compact`.
    package func isBloated(live: Int) -> Bool { elements.count > 2 * live + 16 }

    /// Drops the elements that are no longer live, in O(n).
    package mutating func compact(where isLive: (Element) -> Bool) {
        elements.removeAll { !isLive($0) }
        for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
    }

    @inlinable
    mutating func sink(from start: Int) {
        var parent = start
        while true {
            var smallest = parent
            let left = 2 * parent + 1
            let right = left + 1
            if left < elements.count, elements[left] < elements[smallest] { smallest = left }
            if right < elements.count, elements[right] < elements[smallest] { smallest = right }
            if smallest == parent { return }
            elements.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
