import LoopCollections

/// The times for which groups wait, the earliest first.
///
/// A group may come and go while its time remains, so a time is noted only once. A time that is no longer needed remains
/// until it is the first, unless there are too many of these.
struct GroupTimes: Sendable {
    struct Item: Comparable, Sendable {
        var time: MonotonicTime
        /// The position of the group in its lane.
        var group: Int
        static func < (a: Item, b: Item) -> Bool { a.time < b.time }
    }

    private var heap = BinaryHeap<Item>()
    /// The newest noted time of each group in the heap, by the group's position.
    private var noted: [MonotonicTime?] = []

    var count: Int { heap.count }

    var top: Item? { heap.top }

    mutating func push(_ time: MonotonicTime, group: Int) {
        while noted.count <= group { noted.append(nil) }
        if noted[group] == time { return }
        noted[group] = time
        heap.push(Item(time: time, group: group))
        if heap.isBloated(live: noted.count) { compact() }
    }

    mutating func pop() {
        guard let item = heap.pop(), noted[item.group] == item.time else { return }
        noted[item.group] = nil
    }

    /// Keeps the newest time of each group, once.
    private mutating func compact() {
        var kept: Set<Int> = []
        heap.compact { noted[$0.group] == $0.time && kept.insert($0.group).inserted }
    }
}
