package import CBOR
import LoopCollections
package import LoopCore

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

    /// The context in 25 bytes, or nil if they are none.
    func trace(at offset: Int) -> TraceContext? {
        guard self[offset + 24] == TraceContext.sampled else { return nil }
        let (high, low): (UInt64, UInt64) = (number(at: offset), number(at: offset + 8))
        return TraceContext(
            high: high.byteSwapped, low: low.byteSwapped, span: number(at: offset + 16, as: UInt64.self).byteSwapped)
    }
}

// The context of a trace has its IDs in the order of their digits in `traceparent`, and then its flags, which are 1.

extension TraceContext {
    /// How many bytes a context has.
    package static var byteCount: Int { 25 }
    /// The flags of a sampled context. Others are not sent.
    fileprivate static var sampled: UInt8 { 1 }
}

extension OutputSpan<UInt8> {
    package mutating func append(_ trace: TraceContext) {
        append(number: trace.high.byteSwapped)
        append(number: trace.low.byteSwapped)
        append(number: trace.span.byteSwapped)
        append(TraceContext.sampled)
    }
}

extension ByteWriter {
    package mutating func trace(_ trace: TraceContext) { fixed(TraceContext.byteCount) { $0.append(trace) } }
}

extension ByteReader {
    package mutating func trace() throws(WireError) -> TraceContext {
        guard let trace = try fixed(TraceContext.byteCount, "trace context", { $0.trace(at: 0) }) else {
            throw .malformed(what: "a trace context that names nothing or is not sampled", offset: position)
        }
        return trace
    }
}
