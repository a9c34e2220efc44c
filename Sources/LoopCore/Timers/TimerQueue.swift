import LoopCollections

/// Timers in the order in which they are due: by time, then by their effects. To set, move or clear one costs O(log n), amortized.
///
/// Time is no argument here: a caller that has a clock compares it with the first timer.
package struct TimerQueue: Sendable {
    private struct Entry: Comparable, Sendable {
        let time: WallTime
        let id: EffectID

        static func < (a: Entry, b: Entry) -> Bool { a.time != b.time ? a.time < b.time : a.id < b.id }
    }

    private var times = HashTable<EffectID, WallTime>()
    /// The heap may contain entries of timers that were moved or cleared, but never at the top.
    private var heap = BinaryHeap<Entry>()

    package init() {}

    /// How many timers are set.
    package var count: Int { times.count }

    /// The timer that is due first, or nil if there is none.
    package var first: (id: EffectID, time: WallTime)? { heap.top.map { ($0.id, $0.time) } }

    /// When a timer is due, or nil if it is not set.
    package subscript(id: EffectID) -> WallTime? { times[id] }

    /// Sets or moves a timer to this time.
    package mutating func set(_ id: EffectID, to time: WallTime) {
        if times[id] == time { return }
        times[id] = time
        heap.push(Entry(time: time, id: id))
        settle()
    }

    /// Clears a timer. An unknown one is ignored.
    package mutating func clear(_ id: EffectID) {
        if times.removeValue(forKey: id) != nil { settle() }
    }

    package mutating func removeAll() { self = TimerQueue() }

    private mutating func settle() {
        while let top = heap.top, times[top.id] != top.time { heap.pop() }
        if heap.isBloated(live: times.count) {
            let times = times
            heap.compact { times[$0.id] == $0.time }
        }
    }
}
