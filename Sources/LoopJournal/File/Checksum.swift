internal import CZLib
internal import LoopLock

/// CRC-32 as zlib computes it (ITU-T V.42, the reflected polynomial 0xedb88320).
struct Checksum {
    private(set) var value: UInt32

    init() { value = 0 }

    mutating func add(_ number: UInt32) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    mutating func add(_ number: UInt64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    mutating func add(_ bytes: RawSpan) { bytes.withUnsafeBytes { add($0) } }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        BackgroundWork.steps(bytes) { step in
            guard let start = step.baseAddress else { return }
            value = UInt32(crc32_z(UInt(value), start.assumingMemoryBound(to: UInt8.self), step.count))
        }
    }
}
