import Synchronization

/// A key that was changed in a `TrackedDictionary`, and its hash there.
@usableFromInline
struct Touch<Key> {
    @usableFromInline let key: Key
    @usableFromInline let hash: UInt64
    /// The line of changes that this one belongs to.
    @usableFromInline let line: UInt64

    @inlinable
    init(key: Key, hash: UInt64, line: UInt64) {
        self.key = key
        self.hash = hash
        self.line = line
    }
}

/// Names one value that a `TrackedDictionary` had: the last change that made it. Two dictionaries of one stamp are the same.
@usableFromInline
struct TrackedStamp: Equatable, Sendable {
    @usableFromInline let line: UInt64
    @usableFromInline let number: Int

    @inlinable
    init(line: UInt64, number: Int) {
        self.line = line
        self.number = number
    }
}

/// The last changes of a `TrackedDictionary`: which keys, in which order.
///
/// Whoever remembers a stamp finds what was changed since, and holds no copy for it, which would make the next change copy
/// what it changes. A copy of the dictionary shares its log; who changes one of them first goes on in a log of its own, on a
/// new *line*. No line ever has two logs that go on, so a change is named by its line and its number, and a log that holds
/// the change of a stamp says all that came after it. It holds an eighth as many changes as the dictionary has keys:
/// when it no longer reaches back, comparing everything is in proportion to what has changed.
@usableFromInline
final class TouchLog<Key>: ManagedBuffer<TouchLogHeader, Touch<Key>> {
    @inlinable
    deinit {
        _ = withUnsafeMutablePointers { header, touches in touches.deinitialize(count: header.pointee.count) }
    }

    /// Valid while the log is held.
    @inlinable @inline(__always)
    var parts: (header: UnsafeMutablePointer<TouchLogHeader>, touches: UnsafeMutablePointer<Touch<Key>>) {
        withUnsafeMutablePointers { ($0, $1) }
    }

    @usableFromInline
    static func make(capacity: Int, line: UInt64, first: Int) -> TouchLog {
        unsafeDowncast(
            create(minimumCapacity: capacity) { _ in TouchLogHeader(line: line, first: first, capacity: capacity) },
            to: TouchLog.self)
    }

    /// The last change; nil: there was none.
    @inlinable
    var stamp: TrackedStamp? {
        let (header, touches) = parts
        let count = header.pointee.count
        return count == 0
            ? nil : TrackedStamp(line: touches[count - 1].line, number: header.pointee.first + count - 1)
    }

    /// The position of the first change after that of a stamp; nil: it is not known.
    @inlinable
    func position(after stamp: TrackedStamp) -> Int? {
        let (header, touches) = parts
        let position = stamp.number - header.pointee.first
        guard position >= 0, position < header.pointee.count, touches[position].line == stamp.line else { return nil }
        return position + 1
    }

    /// Makes room in a log that nobody else holds: a larger one, or the older half is forgotten.
    /// - Parameter most: how many changes are worth keeping.
    @usableFromInline
    func withRoom(most: Int) -> TouchLog {
        let (header, touches) = parts
        let count = header.pointee.count
        if count < most {
            let log = TouchLog.make(capacity: count * 2, line: header.pointee.line, first: header.pointee.first)
            log.parts.touches.moveInitialize(from: touches, count: count)
            log.parts.header.pointee.count = count
            log.parts.header.pointee.begin = header.pointee.begin
            header.pointee.count = 0
            return log
        }
        let forgotten = count / 2
        touches.deinitialize(count: forgotten)
        touches.moveInitialize(from: touches + forgotten, count: count - forgotten)
        header.pointee.count -= forgotten
        header.pointee.first += forgotten
        return self
    }

    /// A log that goes on from here, on a line of its own, with what is new on this line and a few changes before.
    @usableFromInline
    func forked() -> TouchLog {
        let (header, touches) = parts
        let own = header.pointee.first + header.pointee.count - header.pointee.begin
        let kept = Swift.min(header.pointee.count, own + TouchLogHeader.tail)
        let first = header.pointee.first + header.pointee.count - kept
        let log = TouchLog.make(capacity: kept + TouchLogHeader.tail, line: TouchLines.next(), first: first)
        log.parts.touches.initialize(from: touches + (header.pointee.count - kept), count: kept)
        log.parts.header.pointee.count = kept
        log.parts.header.pointee.begin = first + kept
        return log
    }
}

@usableFromInline
struct TouchLogHeader {
    /// The line on which this log goes on.
    @usableFromInline let line: UInt64
    /// The number of the first change that is kept.
    @usableFromInline var first: Int
    @usableFromInline var count = 0
    @usableFromInline let capacity: Int
    /// The number of the first change on this line.
    @usableFromInline var begin: Int

    /// How many changes of the lines before are kept.
    @usableFromInline static let tail = 8

    @inlinable
    init(line: UInt64, first: Int, capacity: Int) {
        self.line = line
        self.first = first
        self.capacity = capacity
        begin = first
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
    /// Notes that a key is about to have another value, to come or to go.
    @inlinable @inline(__always)
    mutating func touch(_ key: Key, _ hash: UInt64) {
        if !isKnownUniquelyReferenced(&log) || isLogFull { makeRoomInLog() }
        guard let log else { return }
        let (header, touches) = log.parts
        (touches + header.pointee.count).initialize(to: Touch(key: key, hash: hash, line: header.pointee.line))
        header.pointee.count += 1
    }

    @inlinable @inline(__always)
    var isLogFull: Bool {
        guard let header = log?.parts.header else { return true }
        return header.pointee.count == header.pointee.capacity
    }

    @usableFromInline
    mutating func makeRoomInLog() {
        if log == nil {
            log = TouchLog.make(capacity: 4, line: TouchLines.next(), first: 0)
        } else if isKnownUniquelyReferenced(&log) {
            log = log?.withRoom(most: Swift.max(4 * TouchLogHeader.tail, count / 8))
        } else {
            log = log?.forked()
        }
    }
}
