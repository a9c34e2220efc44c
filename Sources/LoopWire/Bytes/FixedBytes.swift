import CBOR
import LoopCore

// Fields of fixed places, written and read together: a message holds hundreds of commands.

extension ByteWriter {
    /// Appends so many bytes, all of which `fill` writes.
    mutating func fixed(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { room in
            fill(room)
            append(raw: UnsafeRawBufferPointer(room))
        }
    }
}

extension ByteReader {
    /// Reads so many bytes.
    mutating func fixed<Fields>(
        _ count: Int, _ what: String, _ read: (UnsafeRawBufferPointer) -> Fields
    ) throws(WireError) -> Fields {
        try need(count, what)
        let start = position
        next += count
        return source.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes both in the 32 bytes from an offset on.
    func store(_ effect: EffectID, _ attempt: Attempt, at offset: Int) {
        storeBytes(of: effect.feedback.littleEndian, toByteOffset: offset, as: UInt32.self)
        storeBytes(of: effect.seq.value.littleEndian, toByteOffset: offset + 4, as: UInt64.self)
        storeBytes(of: effect.index.littleEndian, toByteOffset: offset + 12, as: UInt32.self)
        storeBytes(of: attempt.epoch.littleEndian, toByteOffset: offset + 16, as: UInt64.self)
        storeBytes(of: attempt.count.littleEndian, toByteOffset: offset + 24, as: UInt64.self)
    }
}

extension UnsafeRawBufferPointer {
    func effect(at offset: Int) -> EffectID {
        EffectID(
            feedback: UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)),
            seq: Seq(UInt64(littleEndian: loadUnaligned(fromByteOffset: offset + 4, as: UInt64.self))),
            index: UInt32(littleEndian: loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self)))
    }

    func attempt(at offset: Int) -> Attempt {
        Attempt(
            epoch: UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
            count: UInt64(littleEndian: loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)))
    }
}
