// Unsafe: the log is held while its touches are visited.

/// Names one value that a `TrackedDictionary` had: the last change that made it. Two dictionaries of one stamp are the same.
@usableFromInline
package struct TrackedStamp: Equatable, Sendable {
    /// The line of changes that it belongs to.
    @usableFromInline let line: UInt64
    @usableFromInline let number: Int

    @inlinable
    init(line: UInt64, number: Int) {
        self.line = line
        self.number = number
    }
}

/// For code that follows a dictionary by its stamps, and has a table of its own with the same hashes.
extension TrackedDictionary {
    /// The stamp of this value; nil where nothing was ever put in.
    @inlinable package var stamp: TrackedStamp? { log?.stamp }

    /// The hash by which the dictionary finds a key.
    @inlinable
    package static func hash(_ key: Key) -> UInt64 { IndexWord.hash(key) }

    /// The value of a key, whose hash is at hand.
    @inlinable
    package func value(of key: Key, _ hash: UInt64) -> Value? {
        find(key, hash).map { unsafe order.entry(at: $0).pointee.value }
    }

    /// Visits each key that was changed after a stamp, with its hash, as often as it was changed.
    ///
    /// - Returns: the stamp of this value; nil, and nothing is visited, if what was changed is no longer known.
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
