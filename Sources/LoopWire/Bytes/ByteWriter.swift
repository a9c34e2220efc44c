import LoopCollections

/// A growing buffer to which numbers and bytes are appended. Integers are little-endian.
package struct ByteWriter: Sendable, Equatable {
    @usableFromInline
    var storage: [UInt8]

    /// Everything written so far.
    @inlinable
    package var bytes: [UInt8] { storage }

    /// Creates an empty buffer with capacity for `capacity` bytes.
    @inlinable
    package init(capacity: Int = 0) {
        storage = []
        storage.reserveCapacity(capacity)
    }

    /// How many bytes were written so far.
    @inlinable
    package var count: Int { storage.count }

    /// Reserves capacity for `count` more bytes, so that writing them allocates at most once.
    @inlinable
    package mutating func reserve(_ count: Int) {
        // An exact request per call would copy the whole buffer each time; doubling keeps appending linear.
        let needed = storage.count + count
        if needed > storage.capacity { storage.reserveCapacity(max(needed, storage.capacity * 2)) }
    }

    /// Appends one byte.
    @inlinable
    package mutating func u8(_ value: UInt8) { storage.append(value) }

    /// Appends 2 bytes, little-endian.
    @inlinable
    package mutating func u16(_ value: UInt16) { integer(value) }

    /// Appends 4 bytes, little-endian.
    @inlinable
    package mutating func u32(_ value: UInt32) { integer(value) }

    /// Appends 8 bytes, little-endian.
    @inlinable
    package mutating func u64(_ value: UInt64) { integer(value) }

    /// Overwrites the 8 bytes that begin at `offset`, little-endian.
    package mutating func replace(at offset: Int, with value: UInt64) {
        for index in 0..<8 { storage[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index)) }
    }

    /// Appends fields of bounded size, for which capacity is reserved once.
    /// - Parameter countMax: how many bytes `write` appends at most.
    @inline(__always)
    mutating func fields(_ countMax: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        storage.append(addingCapacity: countMax, initializingWith: write)
    }

    /// Appends bytes unchanged.
    @inlinable
    package mutating func append(bytes more: some Sequence<UInt8>) { storage.append(contentsOf: more) }

    /// Appends lent bytes unchanged.
    @inlinable
    package mutating func append(lent: Span<UInt8>) {
        if lent.count <= 1 << 20 { storage.append(lent) } else { append(large: lent) }
    }

    /// Appends many bytes in steps, because new memory takes long and background work must yield in between.
    @usableFromInline
    mutating func append(large bytes: Span<UInt8>) {
        reserve(bytes.count)
        BackgroundWork.steps(bytes) { storage.append($0) }
    }

    @inlinable
    mutating func integer(_ value: some FixedWidthInteger & BitwiseCopyable) { storage.append(number: value) }
}
