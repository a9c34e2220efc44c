import Synchronization

// Unsafe: touches lie in the log's own memory, as many as its header counts; a log that others share is not changed.

/// A key that was changed in a `TrackedDictionary`, and where its entry is or was.
@usableFromInline
struct Touch<Key> {
    @usableFromInline let key: Key
    /// The key's hash, and the ordinal of the entry: an `IndexWord`.
    @usableFromInline let word: UInt64
    @usableFromInline let number: Int

    @inlinable
    init(key: Key, word: UInt64, number: Int) {
        self.key = key
        self.word = word
        self.number = number
    }
}

/// The last changes of a `TrackedDictionary`: which keys, in which order.
///
/// A remembered stamp is enough to find later changes. It needs no copy of the dictionary, which would make the next change
/// copy what it changes. A copy of the dictionary shares its log; the first change of either continues in a log of its own,
/// on a new *line*. No line has two logs that continue it, so a line and a number identify a change, and a log that reaches
/// back to a stamp has every change after it.
///
/// It holds an eighth as many changes as the dictionary has keys: when it no longer reaches back, comparing everything is in
/// proportion to what has changed. What came after a ``TrackedAnchor`` is kept longer: of each entry the newest change,
/// until those are of half as many entries as there are.
@usableFromInline
final class TouchLog<Key>: ManagedBuffer<TouchLogHeader, Touch<Key>> {
    @inlinable
    deinit {
        _ = unsafe withUnsafeMutablePointers { header, touches in
            unsafe touches.deinitialize(count: header.pointee.count)
        }
    }

    /// Valid while the log is held.
    @inlinable @inline(__always)
    var parts: (header: UnsafeMutablePointer<TouchLogHeader>, touches: UnsafeMutablePointer<Touch<Key>>) {
        unsafe withUnsafeMutablePointers { unsafe ($0, $1) }
    }

    @usableFromInline
    static func make(capacity: Int, _ header: TouchLogHeader) -> TouchLog {
        unsafe unsafeDowncast(
            create(minimumCapacity: capacity) { _ in
                var header = header
                (header.count, header.capacity) = (0, capacity)
                return header
            },
            to: TouchLog.self)
    }

    /// The last change; nil: there was none.
    @inlinable
    var stamp: TrackedStamp? {
        let header = unsafe parts.header
        return unsafe header.pointee.next == 0
            ? nil : TrackedStamp(line: header.pointee.line, number: header.pointee.next - 1)
    }

    /// The position of the first change after that of a stamp; nil: it is not known.
    @inlinable
    func position(after stamp: TrackedStamp) -> Int? {
        let (header, touches) = unsafe parts
        // As long as nothing was left out between.
        let position = unsafe header.pointee.count - (header.pointee.next - stamp.number)
        if unsafe stamp.line == header.pointee.line, unsafe stamp.number >= header.pointee.begin, position >= 0,
            unsafe position < header.pointee.count, unsafe touches[position].number == stamp.number
        {
            return position + 1
        }
        return search(after: stamp)
    }

    @usableFromInline
    func search(after stamp: TrackedStamp) -> Int? {
        let header = unsafe parts.header
        guard unsafe stamp.number >= header.pointee.complete - 1, unsafe stamp.number < header.pointee.next,
            unsafe header.pointee.line(of: stamp.number) == stamp.line
        else { return nil }
        return position(from: stamp.number + 1)
    }

    /// The position of the first change with this number or a later one.
    private func position(from number: Int) -> Int {
        let (header, touches) = unsafe parts
        var (low, high) = unsafe (0, header.pointee.count)
        while low < high {
            let middle = (low + high) / 2
            if unsafe touches[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Room

    /// Makes room in a log that has no other owner: allocates a larger one, or forgets the least useful changes.
    /// - Parameter entries: how many there are in the dictionary.
    @usableFromInline
    func withSpace(entries: Int) -> TouchLog {
        let header = unsafe parts.header
        if unsafe header.pointee.count < Swift.max(4 * TouchLogHeader.tail, entries / 8) { return enlarged() }
        let count = unsafe header.pointee.count
        if let wanted = TouchAnchors.oldest(in: self), wanted < count / 2 {
            forget(wanted)
            leaveOutOlder()
            let left = unsafe header.pointee.count
            if left > count / 2, left < Swift.max(4 * TouchLogHeader.tail, entries / 2) { return enlarged() }
            if left <= count / 2 { return self }
        }
        unsafe forget(header.pointee.count / 2)
        return self
    }

    private func enlarged() -> TouchLog {
        let (header, touches) = unsafe parts
        let count = unsafe header.pointee.count
        let log = unsafe TouchLog.make(capacity: count * 2, header.pointee)
        unsafe log.parts.touches.moveInitialize(from: touches, count: count)
        unsafe log.parts.header.pointee.count = count
        unsafe header.pointee.count = 0
        return log
    }

    /// Forgets the oldest changes.
    private func forget(_ forgotten: Int) {
        guard forgotten > 0 else { return }
        let (header, touches) = unsafe parts
        unsafe header.pointee.complete = unsafe touches[forgotten - 1].number + 1
        unsafe touches.deinitialize(count: forgotten)
        unsafe touches.moveInitialize(from: touches + forgotten, count: header.pointee.count - forgotten)
        unsafe header.pointee.count -= forgotten
    }

    /// Leaves out the changes of entries that were changed again later.
    private func leaveOutOlder() {
        let (header, touches) = unsafe parts
        let count = unsafe header.pointee.count
        let size = 4 << (Int.bitWidth - count.leadingZeroBitCount)
        var seen = [UInt64](repeating: 0, count: size)
        var free = count
        var position = count
        while position > 0 {
            position -= 1
            let word = unsafe touches[position].word
            // Before the dictionary was empty the ordinals were other entries'.
            if unsafe touches[position].number >= header.pointee.emptied {
                var place = Int(truncatingIfNeeded: (word &* 0x9E37_79B9_7F4A_7C15) >> 24) & (size - 1)
                while seen[place] != 0, seen[place] != word { place = (place + 1) & (size - 1) }
                if seen[place] == word {
                    unsafe (touches + position).deinitialize(count: 1)
                    continue
                }
                seen[place] = word
            }
            free -= 1
            if free != position { unsafe (touches + free).moveInitialize(from: touches + position, count: 1) }
        }
        if free > 0 { unsafe touches.moveInitialize(from: touches + free, count: count - free) }
        unsafe header.pointee.count = count - free
    }

    /// A log that goes on from here, on a line of its own, with what is new on this line, a few changes before, and what
    /// came after an anchor.
    @usableFromInline
    func forked() -> TouchLog {
        let (header, touches) = unsafe parts
        let own = unsafe position(from: header.pointee.begin) - TouchLogHeader.tail
        let first = Swift.max(0, Swift.min(own, TouchAnchors.oldest(in: self) ?? own))
        let kept = unsafe header.pointee.count - first
        let log = unsafe TouchLog.make(capacity: kept + TouchLogHeader.tail, header.pointee)
        unsafe log.parts.touches.initialize(from: touches + first, count: kept)
        let new = unsafe log.parts.header
        unsafe new.pointee.count = kept
        if first > 0 { unsafe new.pointee.complete = unsafe touches[first - 1].number + 1 }
        unsafe new.pointee.beginLine()
        return log
    }
}

@usableFromInline
struct TouchLogHeader {
    /// The line on which this log goes on.
    @usableFromInline var line: UInt64
    /// The number of the first change on this line.
    @usableFromInline var begin = 0
    /// The lines before, and the numbers of their first changes.
    @usableFromInline var earlier: [TrackedStamp] = []
    /// The number of the next change.
    @usableFromInline var next = 0
    /// Changes from this number on are here, but for those of entries that were changed again.
    @usableFromInline var complete = 0
    /// The dictionary was empty before the change of this number: from here on each ordinal is one entry's.
    @usableFromInline var emptied = 0
    @usableFromInline var count = 0
    @usableFromInline var capacity = 0

    /// How many changes of the lines before are kept.
    @usableFromInline static let tail = 8

    @usableFromInline
    init(line: UInt64) { self.line = line }

    /// The line on which a change was made that is not older than `complete` says.
    func line(of number: Int) -> UInt64? {
        if number >= begin { return line }
        return earlier.last { $0.number <= number }?.line
    }

    /// Goes on on a line of its own.
    mutating func beginLine() {
        earlier.append(TrackedStamp(line: line, number: begin))
        // What is older than the oldest change that is known needs no line.
        let oldest = complete - 1
        if let first = earlier.lastIndex(where: { $0.number <= oldest }) { earlier.removeFirst(first) }
        line = TouchLines.next()
        begin = next
    }
}

/// Numbers for lines, each given once in a process. They are compared and nothing else, and what is found by them is found
/// without them too.
@usableFromInline
enum TouchLines {
    private static let last = Atomic<UInt64>(0)

    @usableFromInline
    static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension TrackedDictionary {
    /// Notes that the entry of an ordinal is about to have another value, to come or to go.
    @inlinable @inline(__always)
    mutating func touch(_ key: Key, _ hash: UInt64, _ ordinal: Int) {
        if !isKnownUniquelyReferenced(&log) || isLogFull { makeSpaceInLog() }
        guard let log else { return }
        let (header, touches) = unsafe log.parts
        let number = unsafe header.pointee.next
        unsafe (touches + header.pointee.count).initialize(
            to: Touch(key: key, word: IndexWord.word(hash, ordinal), number: number))
        unsafe header.pointee.count += 1
        unsafe header.pointee.next = number + 1
    }

    @inlinable @inline(__always)
    var isLogFull: Bool {
        guard let header = unsafe log?.parts.header else { return true }
        return unsafe header.pointee.count == header.pointee.capacity
    }

    @usableFromInline
    mutating func makeSpaceInLog() {
        if log == nil {
            log = TouchLog.make(capacity: 4, TouchLogHeader(line: TouchLines.next()))
        } else if isKnownUniquelyReferenced(&log) {
            log = log?.withSpace(entries: count)
        } else {
            log = log?.forked()
        }
    }

    /// An entry was removed, perhaps the last one; then ordinals start again from zero. Its touch was noted.
    @inlinable @inline(__always)
    mutating func noteRemoval() {
        if order.count == 0, let header = unsafe log?.parts.header {
            unsafe header.pointee.emptied = unsafe header.pointee.next
        }
    }
}
