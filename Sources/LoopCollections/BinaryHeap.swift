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
        // Larger parents move down, so that each is written once.
        var places = elements.mutableSpan
        var place = places.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard element < places[parent] else { break }
            places[place] = places[parent]
            place = parent
        }
        places[place] = element
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
        var places = elements.mutableSpan
        let element = places[start]
        var place = start
        // Smaller children move up, so that each is written once.
        while 2 * place + 1 < places.count {
            var child = 2 * place + 1
            if child + 1 < places.count, places[child + 1] < places[child] { child += 1 }
            guard places[child] < element else { break }
            places[place] = places[child]
            place = child
        }
        places[place] = element
    }
}
