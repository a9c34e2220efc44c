/// Reads what ``ByteWriter`` wrote, from bytes that may be anything: every read throws rather than traps.
///
/// A read that throws leaves the position where it was.
public struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var next: Int

    /// Reads the whole array.
    public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// Reads the slice; positions count from its start.
    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        next = bytes.startIndex
    }

    /// How many bytes were read so far.
    public var position: Int { next - bytes.startIndex }

    /// How many bytes are left.
    public var remaining: Int { bytes.endIndex - next }

    /// True once everything was read.
    public var isAtEnd: Bool { next == bytes.endIndex }

    /// Everything that was not read yet; the position stays.
    public var rest: ArraySlice<UInt8> { bytes[next...] }

    /// Reads one byte. `what` names it in the error.
    public mutating func u8(_ what: String = "byte") throws(WireError) -> UInt8 {
        try need(1, what)
        defer { next += 1 }
        return bytes[next]
    }

    /// Reads 2 bytes, the lowest first.
    public mutating func u16(_ what: String = "number") throws(WireError) -> UInt16 { try integer(what) }

    /// Reads 4 bytes, the lowest first.
    public mutating func u32(_ what: String = "number") throws(WireError) -> UInt32 { try integer(what) }

    /// Reads 8 bytes, the lowest first.
    public mutating func u64(_ what: String = "number") throws(WireError) -> UInt64 { try integer(what) }

    /// Reads `count` bytes.
    public mutating func bytes(_ count: Int, _ what: String = "bytes") throws(WireError) -> ArraySlice<UInt8> {
        try need(count, what)
        defer { next += count }
        return bytes[next..<next + count]
    }

    /// Reads a count of 4 bytes, then as many bytes.
    ///
    /// - Throws: ``WireError/tooLarge(what:size:limit:)`` if the count is above `max`, before anything else is looked at.
    public mutating func prefixed(max: Int, _ what: String = "byte string") throws(WireError) -> ArraySlice<UInt8> {
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

    /// Throws unless everything was read.
    public func end() throws(WireError) {
        guard isAtEnd else { throw .trailingBytes(count: remaining, offset: position) }
    }

    private func need(_ count: Int, _ what: String) throws(WireError) {
        guard count >= 0, count <= remaining else { throw .truncated(needed: count, have: remaining, what: what) }
    }

    private mutating func integer<N: FixedWidthInteger>(_ what: String) throws(WireError) -> N {
        let size = N.bitWidth / 8
        try need(size, what)
        var value: N = 0
        for index in 0..<size { value |= N(truncatingIfNeeded: bytes[next + index]) << (8 * index) }
        next += size
        return value
    }
}
