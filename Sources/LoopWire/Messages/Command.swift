import CBOR
package import LoopCore

/// An order to one worker, inside a numbered inbox message.
///
/// | bytes | field |
/// |---|---|
/// | 1 | kind: 1 start, 2 update, 3 cancel |
/// | 16 | effect: feedback u32, seq u64, index u32 |
/// | 16 | attempt: epoch u64, count u64 |
/// | … | start: `Grant` without effect and attempt; update: version u64, request |
package enum Command: Equatable, Sendable {
    /// Starts a new attempt.
    case start(Grant)
    /// Replaces the request of an attempt that continues, if `version` is newer than its own. The version is the seq
    /// that made the request.
    case update(EffectID, Attempt, version: Seq, request: [UInt8])
    /// Ends an attempt, because the state no longer requests the effect, or because the attempt was taken away.
    case cancel(EffectID, Attempt)

    func write(to writer: inout ByteWriter) {
        switch self {
        case .start(let grant):
            writer.u8(1)
            grant.write(to: &writer)
        case .update(let effect, let attempt, let version, let request):
            writer.u8(2)
            writer.effect(effect)
            writer.attempt(attempt)
            writer.u64(version.value)
            writer.prefixed(request[...])
        case .cancel(let effect, let attempt):
            writer.fixed(33) { output in
                output.append(3)
                output.append(effect, attempt)
            }
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let kind = try reader.u8()
        switch kind {
        case 1: self = .start(try Grant(from: &reader))
        case 2:
            self = .update(
                try reader.effect(), try reader.attempt(), version: Seq(try reader.u64()),
                request: Array(try reader.prefixed()))
        case 3:
            let (effect, attempt) = try reader.fixed(32, "cancel") { ($0.effect(at: 0), $0.attempt(at: 16)) }
            self = .cancel(effect, attempt)
        default: throw .malformed(what: "command \(kind)", offset: reader.position)
        }
    }
}

/// The right to run one attempt of one effect, with its request.
///
/// | bytes | field |
/// |---|---|
/// | 16 | effect: feedback u32, seq u64, index u32 |
/// | 16 | attempt: epoch u64, count u64 |
/// | 8 | version u64: the seq that made the request |
/// | 4 | failures u32: how often the effect has failed before |
/// | 1 | flags: 1 = resumed: an earlier attempt may have had events applied, 2 = has a trace context |
/// | 25 | trace context: trace ID, span ID, flags u8 (only with flag 2) |
/// | 4 + n | request |
package struct Grant: Equatable, Sendable {
    /// The effect to run.
    package var effect: EffectID
    /// The attempt that this grant starts. Each entry that the worker sends for the effect names it.
    package var attempt: Attempt
    /// The seq of the transition that made the request. A newer version replaces an older one.
    package var version: Seq
    /// How many attempts of the effect have failed or timed out before.
    package var failures: UInt32
    /// Whether events of an earlier attempt may have been applied, so that the work may be partly done.
    package var isResumed: Bool
    /// The encoded request, at most ``Wire/requestBytesMax`` bytes.
    package var request: [UInt8]
    /// The place in a trace of the transition that asked for the effect, or nil if it is in none.
    package var trace: TraceContext?

    /// Creates a grant from its parts.
    package init(
        effect: EffectID, attempt: Attempt, version: Seq, failures: UInt32, isResumed: Bool, request: [UInt8],
        trace: TraceContext? = nil
    ) {
        self.effect = effect
        self.attempt = attempt
        self.version = version
        self.failures = failures
        self.isResumed = isResumed
        self.request = request
        self.trace = trace
    }

    /// The size of the grant in a message.
    package var byteCount: Int { headByteCount + request.count }

    /// The size of what precedes the request.
    private var headByteCount: Int { trace == nil ? 49 : 49 + TraceContext.byteCount }

    func write(to writer: inout ByteWriter) {
        writer.fixed(headByteCount) { writeHead(to: &$0) }
        writer.append(lent: request.span)
    }

    /// Writes what precedes the request.
    @inline(__always)
    func writeHead(to output: inout OutputSpan<UInt8>) {
        output.append(effect, attempt)
        output.append(number: version.value)
        output.append(number: failures)
        output.append((isResumed ? 1 : 0) | (trace == nil ? 0 : 2))
        if let trace { output.append(trace) }
        output.append(number: UInt32(request.count))
    }

    init(from reader: inout ByteReader) throws(WireError) {
        (effect, attempt, version, failures) = try reader.fixed(44, "grant") { bytes in
            (bytes.effect(at: 0), bytes.attempt(at: 16), Seq(bytes.number(at: 32)), bytes.number(at: 40))
        }
        let flags = try reader.u8("flags")
        guard flags <= 3 else { throw .malformed(what: "a grant with flags \(flags)", offset: reader.position) }
        isResumed = flags & 1 != 0
        trace = flags & 2 != 0 ? try reader.trace() : nil
        request = Array(try reader.prefixed())
    }
}

/// All effects that a worker should run at one moment. It repairs whatever was lost before.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64: of the newest inbox message that is included |
/// | 8 | watermark u64: of the session, when it was taken |
/// | 4 | part u32, from 0 |
/// | 4 | parts u32, at least 1 |
/// | 4 + … | grants: count u32, `Grant`… |
package struct Assignments: Equatable, Sendable {
    /// The number of the newest inbox message that is included. A worker that has applied a newer one requests the list again.
    package var number: UInt64
    /// The watermark of the session when the list was made. A worker that knows a newer one requests the list again.
    package var watermark: UInt64
    /// The index of this part in the list, from 0.
    package var part: UInt32
    /// How many parts the list has, at least 1. They arrive in order and are applied together.
    package var parts: UInt32
    /// The attempts that the worker should hold, as far as this part names them.
    package var grants: [Grant]

    /// Creates a part of a list, by default its only part; `part` is below `parts`.
    package init(number: UInt64, watermark: UInt64, part: UInt32 = 0, parts: UInt32 = 1, grants: [Grant]) {
        self.number = number
        self.watermark = watermark
        self.part = part
        self.parts = parts
        self.grants = grants
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(number)
        writer.u64(watermark)
        writer.u32(part)
        writer.u32(parts)
        writer.u32(UInt32(grants.count))
        for grant in grants { grant.write(to: &writer) }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        number = try reader.u64()
        watermark = try reader.u64()
        part = try reader.u32()
        parts = try reader.u32()
        guard part < parts else { throw .malformed(what: "part \(part) of \(parts)", offset: reader.position) }
        grants = []
        for _ in 0..<(try reader.count(bytesEach: 49)) { grants.append(try Grant(from: &reader)) }
    }
}
