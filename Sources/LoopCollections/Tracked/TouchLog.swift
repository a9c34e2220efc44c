import Synchronization

// Unsafe: touches are in the log's own memory, and its header counts them. A log with other owners is not changed.

/// A changed key of a `TrackedDictionary`, with the present or last ordinal of its entry.
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

/// The last changes of a `TrackedDictionary`: their keys, in order.
///
/// A remembered stamp is enough to find later changes. A copy of the dictionary is not needed, and would make the next change copy
/// nodes. A copy shares the log. The first change of either continues in a new log, on a new *line*. No line has two logs that
/// continue it. So a line and a number identify a change, and a log that reaches back to a stamp has every change after it.
///
/// The log has at most an eighth as many changes as the dictionary has keys. If it no longer reaches back, a comparison of
/// everything is in proportion to the changes. Changes after a ``TrackedAnchor`` are kept longer: the newest one of each entry,
/// until they belong to half as many entries as the dictionary has.
@usableFromInline
final class TouchLog<Key>: ManagedBuffer<TouchLogHeader, Touch<Key>> {
    @inlinable
    deinit {
        _ = unsafe withUnsafeMutablePointers { header, touches in
            unsafe touches.deinitialize(count: header.pointee.count)
        }
    }

    /// Valid while the log is retained.
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

    /// The last change, or nil if there was none.
    @inlinable
    var stamp: TrackedStamp? {
        let header = unsafe parts.header
        return unsafe header.pointee.next == 0
            ? nil : TrackedStamp(line: header.pointee.line, number: header.pointee.next - 1)
    }

    /// The position of the first change after a stamp, or nil if it is not known.
    @inlinable
    func position(after stamp: TrackedStamp) -> Int? {
        let (header, touches) = unsafe parts
        // This holds unless changes between them were left out.
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

    /// Makes space in a log that has no other owner: allocates a larger one, or removes the least useful changes.
    /// - Parameter entries: the number of entries in the dictionary.
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

    /// Removes the oldest changes.
    private func forget(_ forgotten: Int) {
        guard forgotten > 0 else { return }
        let (header, touches) = unsafe parts
        unsafe header.pointee.complete = unsafe touches[forgotten - 1].number + 1
        unsafe touches.deinitialize(count: forgotten)
        unsafe touches.moveInitialize(from: touches + forgotten, count: header.pointee.count - forgotten)
        unsafe header.pointee.count -= forgotten
    }

    /// Removes changes of entries that have a later change.
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
            // Before the dictionary was empty, the ordinals belonged to other entries.
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

    /// A log that continues this one on a new line. It has the changes on this line, a few earlier ones, and those after an anchor.
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
    /// The line on which this log continues.
    @usableFromInline var line: UInt64
    /// The number of the first change on this line.
    @usableFromInline var begin = 0
    /// The earlier lines, and the numbers of their first changes.
    @usableFromInline var earlier: [TrackedStamp] = []
    /// The number of the next change.
    @usableFromInline var next = 0
    /// The log has the changes from this number on, except for those of entries that were changed again.
    @usableFromInline var complete = 0
    /// The dictionary was empty before the change with this number. From here on each ordinal belongs to one entry.
    @usableFromInline var emptied = 0
    @usableFromInline var count = 0
    @usableFromInline var capacity = 0

    /// How many changes of the earlier lines are kept.
    @usableFromInline static let tail = 8

    @usableFromInline
    init(line: UInt64) { self.line = line }

    /// The line of a change that is not older than `complete`.
    func line(of number: Int) -> UInt64? {
        if number >= begin { return line }
        return earlier.last { $0.number <= number }?.line
    }

    /// Continues on a new line.
    mutating func beginLine() {
        earlier.append(TrackedStamp(line: line, number: begin))
        // Lines before the oldest known change are not needed.
        let oldest = complete - 1
        if let first = earlier.lastIndex(where: { $0.number <= oldest }) { earlier.removeFirst(first) }
        line = TouchLines.next()
        begin = next
    }
}

/// Numbers for lines, each used once in a process. They are only compared, and whatever they help to find is also found without
/// them.
@usableFromInline
enum TouchLines {
    private static let last = Atomic<UInt64>(0)

    @usableFromInline
    static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

extension TrackedDictionary {
    /// Notes that the entry of an ordinal is about to be changed, inserted or removed.
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

    /// Notes that an entry was removed. If it was the last one, ordinals start again from zero. Its touch was noted before.
    @inlinable @inline(__always)
    mutating func noteRemoval() {
        if order.count == 0, let header = unsafe log?.parts.header {
            unsafe header.pointee.emptied = unsafe header.pointee.next
        }
    }
}
