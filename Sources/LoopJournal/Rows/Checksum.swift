// Unsafe: zlib reads the bytes of a span during the call, and no byte beyond the count.

internal import CZLib
internal import LoopCollections

/// CRC-32 as zlib computes it (ITU-T V.42, the reflected polynomial 0xedb88320).
package struct Checksum {
    /// The checksum of the bytes that were added so far.
    package private(set) var value: UInt32 = 0

    package init() {}

    /// Adds the bytes of a number, the lowest first.
    package mutating func add(_ number: some FixedWidthInteger & BitwiseCopyable) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe add($0.bindMemory(to: UInt8.self)) }
    }

    /// Adds bytes. Yields on a thread that does background work.
    package mutating func add(_ bytes: Span<UInt8>) {
        BackgroundWork.steps(bytes) { step in unsafe step.withUnsafeBufferPointer { unsafe add($0) } }
    }

    private mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        // Without an address, zlib would return the initial value.
        guard let start = bytes.baseAddress else { return }
        value = unsafe UInt32(crc32_z(UInt(value), start, bytes.count))
    }
}
