// Unsafe: the log is retained while its touches are visited.

/// Names one value of a `TrackedDictionary` by the last change that made it. Two dictionaries with one stamp are equal.
@usableFromInline
package struct TrackedStamp: Equatable, Sendable {
    /// The line to which the change belongs.
    @usableFromInline let line: UInt64
    @usableFromInline let number: Int

    @inlinable
    init(line: UInt64, number: Int) {
        self.line = line
        self.number = number
    }
}

/// For code that follows a dictionary by its stamps, and has a table of its own with these hashes.
extension TrackedDictionary {
    /// The stamp of this value, or nil if the dictionary never had an entry.
    @inlinable package var stamp: TrackedStamp? { log?.stamp }

    /// The hash by which the dictionary finds a key.
    @inlinable
    package static func hash(_ key: Key) -> UInt64 { IndexWord.hash(key) }

    /// The value of a key with a known hash.
    @inlinable
    package func value(of key: Key, _ hash: UInt64) -> Value? {
        find(key, hash).map { unsafe order.entry(at: $0).pointee.value }
    }

    /// Visits each key that was changed after a stamp, with its hash, once for each change.
    ///
    /// - Returns: the stamp of this value. If the changes are no longer known, it visits nothing and returns nil.
    @inlinable
    package func forEachChange(after stamp: TrackedStamp, _ body: (Key, UInt64) -> Void) -> TrackedStamp? {
        guard let log, let first = log.position(after: stamp) else { return nil }
        return withExtendedLifetime(log) {
            let (header, touches) = unsafe log.parts
            for position in unsafe first..<header.pointee.count {
                unsafe body(touches[position].key, touches[position].word & IndexWord.hashMask)
            }
            return log.stamp
        }
    }
}
