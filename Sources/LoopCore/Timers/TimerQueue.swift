import LoopCollections

/// Timers in the order in which they are due: by time, and at one time by their effects. To set, move or clear one costs
/// O(log n), amortized.
///
/// Time is no argument here: whoever has a clock asks for the first.
package struct TimerQueue: Sendable {
    private struct Entry: Comparable, Sendable {
        let time: WallTime
        let id: EffectID

        static func < (a: Entry, b: Entry) -> Bool { a.time != b.time ? a.time < b.time : a.id < b.id }
    }

    private var times = HashTable<EffectID, WallTime>()
    /// With entries of timers that were moved or cleared; never at the top.
    private var heap = BinaryHeap<Entry>()

    package init() {}

    /// How many timers are set.
    package var count: Int { times.count }

    /// The timer that is due first; nil: there is none.
    package var first: (id: EffectID, time: WallTime)? { heap.top.map { ($0.id, $0.time) } }

    /// When a timer is due; nil: it is not set.
    package subscript(id: EffectID) -> WallTime? { times[id] }

    /// The timer is due at this time, and at no other.
    package mutating func set(_ id: EffectID, to time: WallTime) {
        if times[id] == time { return }
        times[id] = time
        heap.push(Entry(time: time, id: id))
        settle()
    }

    /// The timer is not set any more. An unknown one is ignored.
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
