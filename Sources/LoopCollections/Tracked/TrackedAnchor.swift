// Unsafe: the log and the tree are retained while they are read.

/// The stamps from which differences will start: those of dictionaries at the times when others received them.
///
/// The log finds an anchor by its stamp. The dictionary does not own it, because others may share the dictionary.
enum TouchAnchors {
    private struct Anchors {
        var next = 0
        var stamps: [Int: TrackedStamp] = [:]
    }

    private static let anchors = Locked(Anchors())

    /// - Returns: a number by which to remove it.
    static func add(_ stamp: TrackedStamp) -> Int {
        anchors.withLock { anchors in
            anchors.next += 1
            anchors.stamps[anchors.next] = stamp
            return anchors.next
        }
    }

    static func remove(_ number: Int) { anchors.withLock { $0.stamps[number] = nil } }

    /// The position of the first change in a log after any of the anchors, or nil if the log knows none of them.
    static func oldest<Key>(in log: TouchLog<Key>) -> Int? {
        anchors.withLock { anchors in anchors.stamps.values.lazy.compactMap { log.position(after: $0) }.min() }
    }
}

/// An earlier state of a `TrackedDictionary`, without its entries. It is enough to find the changes since then, as long as the log
/// reaches back.
final class TrackedAnchor<Key: Hashable, Value>: Sendable {
    private let stamp: TrackedStamp
    /// The ordinals of later entries are not below this.
    private let next: Int
    private let number: Int

    /// - Returns: nil for a dictionary that never had an entry.
    init?(_ dictionary: TrackedDictionary<Key, Value>) {
        guard let stamp = dictionary.log?.stamp else { return nil }
        self.stamp = stamp
        next = dictionary.order.next
        number = TouchAnchors.add(stamp)
    }

    deinit { TouchAnchors.remove(number) }

    /// The changes since then in a dictionary that has developed from this one, or nil if they are not known.
    func changes(in now: TrackedDictionary<Key, Value>) -> AnchoredChanges<Key>? {
        guard let log = now.log, let first = log.position(after: stamp) else { return nil }
        return withExtendedLifetime((log, now)) {
            let (header, touches) = unsafe log.parts
            guard unsafe stamp.number >= header.pointee.emptied - 1 else { return nil }
            // By ordinal; only the first touch of each counts.
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

/// The changes of a dictionary since an anchor: the removed keys, and the ordinals of updated and of new entries, in their order.
struct AnchoredChanges<Key> {
    var removed: [Key] = []
    var updated: [Int] = []
    var inserted: [Int] = []

    var count: Int { removed.count + updated.count + inserted.count }
}
