import LoopCollections

/// Times that groups wait for, the earliest first.
///
/// A group comes and goes while its time stays, however often: the time is noted once. One that nobody waits for any more
/// stays until its turn comes, unless there are too many of these.
struct GroupTimes: Sendable {
    struct Item: Comparable, Sendable {
        var time: MonotonicTime
        /// The position of the group in its lane.
        var group: Int
        static func < (a: Item, b: Item) -> Bool { a.time < b.time }
    }

    private var heap = BinaryHeap<Item>()
    /// By position: the newest time that was noted, as long as it is in the heap.
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
