import CBOR
import LoopCollections
import LoopCore

// Groups of fixed-width fields, written and read at once, because a message has hundreds of commands.

extension ByteWriter {
    /// Appends a fixed number of bytes with one check of the capacity.
    mutating func fixed(_ count: Int, _ fill: (inout OutputSpan<UInt8>) -> Void) {
        storage.append(addingCapacity: count, initializingWith: fill)
    }
}

extension ByteReader {
    /// Reads a fixed number of bytes.
    mutating func fixed<Fields>(
        _ count: Int, _ what: String, _ read: (Span<UInt8>) -> Fields
    ) throws(WireError) -> Fields {
        try need(count, what)
        defer { next += count }
        return read(source.span.extracting(position..<position + count))
    }
}

extension OutputSpan<UInt8> {
    /// Appends an effect and its attempt, in 32 bytes.
    @inline(__always)
    mutating func append(_ effect: EffectID, _ attempt: Attempt) {
        append(number: effect.feedback)
        append(number: effect.seq.value)
        append(number: effect.index)
        append(number: attempt.epoch)
        append(number: attempt.count)
    }
}

extension Span<UInt8> {
    @inline(__always)
    func effect(at offset: Int) -> EffectID {
        EffectID(feedback: number(at: offset), seq: Seq(number(at: offset + 4)), index: number(at: offset + 12))
    }

    @inline(__always)
    func attempt(at offset: Int) -> Attempt {
        Attempt(epoch: number(at: offset), count: number(at: offset + 8))
    }
}
