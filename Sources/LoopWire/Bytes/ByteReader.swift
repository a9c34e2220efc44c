public import CBOR
public import LoopCollections

/// Reads what ``ByteWriter`` wrote, from untrusted bytes: every read throws rather than traps.
///
/// A read that throws does not move the position.
@usableFromInline package struct ByteReader: Sendable {
    @usableFromInline
    let source: ArraySlice<UInt8>
    @usableFromInline
    var next: Int

    /// Reads the whole array.
    @inlinable
    package init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// Reads the slice; positions count from its start.
    @inlinable
    package init(_ bytes: ArraySlice<UInt8>) {
        source = bytes
        next = bytes.startIndex
    }

    /// How many bytes were read so far.
    @inlinable
    package var position: Int { next - source.startIndex }

    /// How many bytes remain.
    @inlinable
    package var remaining: Int { source.endIndex - next }

    /// Whether everything was read.
    @inlinable
    package var isAtEnd: Bool { next == source.endIndex }

    /// All unread bytes, without a change of the position.
    @inlinable
    package var rest: ArraySlice<UInt8> { source[next...] }

    /// Reads one byte. `what` names it in the error.
    /// - Throws: `WireError.truncated` if no byte remains.
    @inlinable
    package mutating func u8(_ what: String = "byte") throws(WireError) -> UInt8 {
        try need(1, what)
        defer { next += 1 }
        return source[next]
    }

    /// Reads 2 bytes, little-endian.
    /// - Throws: `WireError.truncated` if fewer remain.
    @inlinable
    package mutating func u16(_ what: String = "number") throws(WireError) -> UInt16 { try integer(what) }

    /// Reads 4 bytes, little-endian.
    /// - Throws: `WireError.truncated` if fewer remain.
    @inlinable
    package mutating func u32(_ what: String = "number") throws(WireError) -> UInt32 { try integer(what) }

    /// Reads 8 bytes, little-endian.
    /// - Throws: `WireError.truncated` if fewer remain.
    @inlinable
    package mutating func u64(_ what: String = "number") throws(WireError) -> UInt64 { try integer(what) }

    /// Reads `count` bytes.
    /// - Throws: `WireError.truncated` if fewer remain, or if `count` is negative.
    @inlinable
    package mutating func bytes(_ count: Int, _ what: String = "bytes") throws(WireError) -> ArraySlice<UInt8> {
        try need(count, what)
        defer { next += count }
        return source[next..<next + count]
    }

    /// Reads a count of 4 bytes, then as many bytes.
    ///
    /// - Throws: `WireError.tooLarge` if the count is above `max`, before anything else is read; `WireError.truncated` if
    ///   fewer bytes remain.
    @inlinable
    package mutating func prefixed(max: Int, _ what: String = "byte string") throws(WireError) -> ArraySlice<UInt8> {
        let start = next
        do throws(WireError) {
            let count = Int(try u32(what))
            guard count <= max else { throw .tooLarge(what: what, size: count, limit: max) }
            return try bytes(count, what)
        } catch {
            next = start
            throw error
        }
    }

    /// Skips `count` bytes.
    /// - Throws: `WireError.truncated` if fewer remain, or if `count` is negative.
    @inlinable
    package mutating func skip(_ count: Int, _ what: String = "bytes") throws(WireError) {
        try need(count, what)
        next += count
    }

    /// Checks that everything was read.
    /// - Throws: `WireError.trailingBytes` if bytes remain.
    @inlinable
    package func end() throws(WireError) {
        guard isAtEnd else { throw .trailingBytes(count: remaining, offset: position) }
    }

    @inlinable
    func need(_ count: Int, _ what: String) throws(WireError) {
        guard count >= 0, count <= remaining else { throw .truncated(needed: count, have: remaining, what: what) }
    }

    @inlinable
    mutating func integer<N: FixedWidthInteger & BitwiseCopyable>(_ what: String) throws(WireError) -> N {
        try need(MemoryLayout<N>.size, what)
        defer { next += MemoryLayout<N>.size }
        return source.span.number(at: position)
    }
}
