import LoopLock

// Unsafe: the log and the tree are held while they are read.

/// Where differences will begin: the stamps of dictionaries as they were when something was told of them.
///
/// An anchor is not held by the dictionary, which others may share, but found by its log, by its stamp.
enum TouchAnchors {
    private struct Anchors {
        var next = 0
        var stamps: [Int: TrackedStamp] = [:]
    }

    private static let anchors = Locked(Anchors())

    /// - Returns: a number by which to let go of it.
    static func add(_ stamp: TrackedStamp) -> Int {
        anchors.withLock { anchors in
            anchors.next += 1
            anchors.stamps[anchors.next] = stamp
            return anchors.next
        }
    }

    static func remove(_ number: Int) { anchors.withLock { $0.stamps[number] = nil } }

    /// The position of the first change in a log that came after one of the anchors; nil: it knows none of them.
    static func oldest<Key>(in log: TouchLog<Key>) -> Int? {
        anchors.withLock { anchors in anchors.stamps.values.lazy.compactMap { log.position(after: $0) }.min() }
    }
}

/// A `TrackedDictionary` as it was once, without its entries: enough to say later what has changed in it, as long as its log
/// reaches back.
final class TrackedAnchor<Key: Hashable, Value>: Sendable {
    private let stamp: TrackedStamp
    /// Ordinals of entries that have come since are not below this.
    private let next: Int
    private let number: Int

    /// - Returns: nil for a dictionary into which nothing was ever put.
    init?(_ dictionary: TrackedDictionary<Key, Value>) {
        guard let stamp = dictionary.log?.stamp else { return nil }
        self.stamp = stamp
        next = dictionary.order.next
        number = TouchAnchors.add(stamp)
    }

    deinit { TouchAnchors.remove(number) }

    /// What has changed since, in a dictionary that has come of this one; nil: it is not known.
    func changes(in now: TrackedDictionary<Key, Value>) -> AnchoredChanges<Key>? {
        guard let log = now.log, let first = log.position(after: stamp) else { return nil }
        return withExtendedLifetime((log, now)) {
            let (header, touches) = unsafe log.parts
            guard unsafe stamp.number >= header.pointee.emptied - 1 else { return nil }
            // By ordinal, and the first touch of each.
            var words: [(ordinal: Int, position: Int)] = []
            unsafe words.reserveCapacity(header.pointee.count - first)
            for position in unsafe first..<header.pointee.count {
                unsafe words.append((IndexWord.ordinal(touches[position].word), position))
            }
            words.sort { $0.ordinal < $1.ordinal }
            var changes = AnchoredChanges<Key>()
            let layout = LeafLayout(Key.self, Value.self)
            var last: Int?
            for (ordinal, position) in words where ordinal != last {
                last = ordinal
                if unsafe layout.entry(at: ordinal, in: now.order.root, height: now.order.height) != nil {
                    if ordinal < next { changes.updated.append(ordinal) } else { changes.inserted.append(ordinal) }
                } else if ordinal < next {
                    unsafe changes.removed.append(touches[position].key)
                }
            }
            return changes
        }
    }
}

/// What has changed in a dictionary since an anchor: which keys were removed, and the ordinals of the entries that have
/// another value or are new, in the order in which they stand.
struct AnchoredChanges<Key> {
    var removed: [Key] = []
    var updated: [Int] = []
    var inserted: [Int] = []

    var count: Int { removed.count + updated.count + inserted.count }
}
