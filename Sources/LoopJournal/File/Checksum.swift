// Unsafe: zlib reads the bytes of a span during the call, and no more of them than it is told.

internal import CZLib
internal import LoopLock

/// CRC-32 as zlib computes it (ITU-T V.42, the reflected polynomial 0xedb88320).
struct Checksum {
    private(set) var value: UInt32

    init() { value = 0 }

    mutating func add(_ number: UInt32) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe add($0) }
    }

    mutating func add(_ number: UInt64) {
        unsafe withUnsafeBytes(of: number.littleEndian) { unsafe add($0) }
    }

    mutating func add(_ bytes: RawSpan) { unsafe bytes.withUnsafeBytes { unsafe add($0) } }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe BackgroundWork.steps(bytes) { step in
            guard let start = step.baseAddress else { return }
            value = unsafe UInt32(crc32_z(UInt(value), start.assumingMemoryBound(to: UInt8.self), step.count))
        }
    }
}
