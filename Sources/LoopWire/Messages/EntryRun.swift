import CBOR
import LoopCollections
package import LoopCore

/// Consecutive entries in the bytes in which they are sent.
///
/// A sender encodes each entry once; outbox and batches share the bytes. A slice shares the bytes and keeps its indices. An
/// entry that is read from it shares its payload.
package struct EntryRun: RandomAccessCollection, Sendable {
    private var run = RunBytes()
    /// The size of the largest payload in bytes. For a slice it may be larger than its own largest.
    package private(set) var payloadBytesMax = 0
    /// Whether all entries are events without an effect whose seq is not requested. For a slice it may be false although all are.
    package private(set) var isPlain = true

    /// Creates an empty run.
    package init() {}

    /// Creates a run of these entries, and encodes them.
    package init(_ entries: some Sequence<Entry>) {
        for entry in entries { append(entry) }
    }

    /// Reads untrusted entries, which share these bytes. The reader counts from the first byte.
    init(_ count: Int, from reader: inout ByteReader, in bytes: [UInt8]) throws(WireError) {
        // The capacity is bounded by the bytes, not by the claimed count: an entry has at least 6 bytes.
        run = RunBytes(bytes, from: reader.position, capacity: Swift.min(count, reader.remaining / 6 + 1))
        for _ in 0..<count {
            let head = try EntryHead(from: &reader)
            note(head.flags, head.payload.count)
            run.accept(upTo: reader.position)
        }
    }

    /// The index of the first entry: 0 in a whole run, the lower bound in a slice.
    package var startIndex: Int { run.startIndex }
    /// The index after the last entry.
    package var endIndex: Int { run.endIndex }

    /// The size of the entries in bytes.
    package var byteCount: Int { run.byteCount }

    /// The bytes of the entries, as they are sent.
    package var bytes: ArraySlice<UInt8> { run.bytes }

    /// The entry at an index, decoded at each call. Its payload shares the run's bytes. The index must be in
    /// `startIndex..<endIndex`.
    package subscript(position: Int) -> Entry { entry(head(at: position)) }

    /// The fields of an entry before its payload.
    package func head(at position: Int) -> EntryHead {
        EntryHead(trusting: run.storage.span, at: run.start(of: position))
    }

    /// The entry of a head that was read from this run.
    package func entry(_ head: EntryHead) -> Entry { Entry(head, payload(of: head), trace(of: head)) }

    /// The place in a trace of the event of a head that was read from this run, or nil if it is in none.
    package func trace(of head: EntryHead) -> TraceContext? {
        head.hasTrace ? run.storage.span.trace(at: head.tracePosition) : nil
    }

    /// The payload of a head that was read from this run.
    package func payload(of head: EntryHead) -> ArraySlice<UInt8> { run.storage[head.payload] }

    /// The entries of a range, which share the bytes and keep their indices. The range must be within the run's.
    package subscript(range: Range<Int>) -> EntryRun {
        var slice = self
        slice.run.slice(range)
        return slice
    }

    /// The size of the entries of a range in bytes.
    package func byteCount(of range: Range<Int>) -> Int { run.byteCount(of: range) }

    /// How many entries from an index on fit into `bytesMax` bytes. At least 1, even if it is larger; 0 at the end.
    package func count(from start: Int, bytesMax: Int) -> Int { run.count(from: start, bytesMax: bytesMax) }

    // MARK: Writing

    /// Encodes an entry and appends it. The run must not be a slice.
    package mutating func append(_ entry: Entry) {
        append(
            entry.kind, of: entry.effect.map { ($0, entry.attempt) }, wantsSeq: entry.wantsSeq, isLast: entry.isLast,
            wantsAnswer: entry.wantsAnswer, trace: entry.sentTrace, payload: entry.payload.span)
    }

    /// Appends an entry from its parts, with a copy of the payload. The run must not be a slice.
    /// - Parameters:
    ///   - kind: the kind of the entry.
    ///   - effect: the effect, which only an `event` may lack.
    ///   - wantsSeq: whether the sender requests the seq at which the event is applied.
    ///   - isLast: true only for an event of an effect.
    ///   - wantsAnswer: true only for an event that is not the last, and whose seq is requested.
    ///   - trace: the place of an event in a trace.
    ///   - payload: the encoded event or failure.
    package mutating func append(
        _ kind: Entry.Kind, of effect: (id: EffectID, attempt: Attempt)?, wantsSeq: Bool, isLast: Bool = false,
        wantsAnswer: Bool = false, trace: TraceContext? = nil, payload: Span<UInt8>
    ) {
        let flags = EntryHead.flags(
            hasEffect: effect != nil, wantsSeq: wantsSeq, isLast: isLast, wantsAnswer: wantsAnswer,
            hasTrace: trace != nil)
        precondition(EntryHead.areSound(flags, of: kind), "a \(kind) entry with flags \(flags)")
        let head = (effect == nil ? 6 : 38) + (trace == nil ? 0 : TraceContext.byteCount)
        run.append(head + payload.count) { output in
            output.append(kind.rawValue)
            output.append(flags)
            if let effect { output.append(effect.id, effect.attempt) }
            if let trace { output.append(trace) }
            output.append(number: UInt32(payload.count))
            output.append(payload)
        }
        note(flags, payload.count)
    }

    /// Appends all entries of another run. This run must not be a slice; the other one may be.
    package mutating func append(_ other: EntryRun) {
        run.append(other.run)
        payloadBytesMax = Swift.max(payloadBytesMax, other.payloadBytesMax)
        isPlain = isPlain && other.isPlain
    }

    /// Removes all entries, and keeps the memory for further ones.
    package mutating func removeAll() {
        run.removeAll()
        (payloadBytesMax, isPlain) = (0, true)
    }

    private mutating func note(_ flags: UInt8, _ payloadBytes: Int) {
        payloadBytesMax = Swift.max(payloadBytesMax, payloadBytes)
        if flags != 0 { isPlain = false }
    }
}

extension EntryRun: Equatable {
    /// Compares the entries, but not their indices.
    package static func == (a: EntryRun, b: EntryRun) -> Bool { a.run == b.run }
}

extension EntryRun: ExpressibleByArrayLiteral {
    /// Creates a run of the entries of a literal.
    package init(arrayLiteral entries: Entry...) { self.init(entries) }
}

/// The fields of an entry before its payload, and the range of the payload.
package struct EntryHead: Equatable, Sendable {
    package let kind: Entry.Kind
    /// Bits: 1 has an effect; 2 the sender requests the seq; 4 the effect's body has ended with this event; 8 the sender
    /// requests an answer; 16 has a trace context.
    let flags: UInt8
    /// The effect, valid only if the flags say that there is one.
    package let effect: EffectID
    package let attempt: Attempt
    /// The range of the payload in the bytes from which the head was read.
    let payload: Range<Int>

    package var hasEffect: Bool { flags & 1 != 0 }
    package var effectIfAny: EffectID? { hasEffect ? effect : nil }
    package var wantsSeq: Bool { flags & 2 != 0 }
    package var wantsAnswer: Bool { flags & 8 != 0 }
    @inline(__always) package var hasTrace: Bool { flags & 16 != 0 }
    /// Where the trace context begins, if there is one.
    var tracePosition: Int { payload.lowerBound - 4 - TraceContext.byteCount }
    /// Whether it is an event with which the effect's body has ended.
    package var isLast: Bool { flags & 4 != 0 }
    /// Whether its sender waits for its outcome.
    package var isHeard: Bool { !isLast && wantsSeq }
    /// Whether the effect's body has ended with this entry.
    package var endsTheBody: Bool { kind != .event || flags & 4 != 0 }

    @inline(__always)
    static func flags(hasEffect: Bool, wantsSeq: Bool, isLast: Bool, wantsAnswer: Bool, hasTrace: Bool) -> UInt8 {
        (hasEffect ? 1 : 0) | (wantsSeq ? 2 : 0) | (isLast ? 4 : 0) | (wantsAnswer ? 8 : 0) | (hasTrace ? 16 : 0)
    }

    /// Whether an entry of this kind may have these flags.
    @inline(__always)
    static func areSound(_ flags: UInt8, of kind: Entry.Kind) -> Bool {
        // Any event may have a trace context.
        let flags = kind == .event && flags < 32 ? flags & 15 : flags
        // An event that requests an answer requests its seq too, and is not its effect's last.
        if flags & 1 == 0 { return (flags <= 3 || flags == 10) && kind == .event }
        return flags <= 3 || (flags <= 7 || flags == 11) && kind == .event
    }

    /// Reads a whole entry, and skips its payload.
    init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8()
        guard let kind = Entry.Kind(rawValue: code) else {
            throw .malformed(what: "entry kind \(code)", offset: reader.position)
        }
        flags = try reader.u8()
        guard Self.areSound(flags, of: kind) else {
            throw .malformed(what: "a \(kind) entry with flags \(flags)", offset: reader.position)
        }
        self.kind = kind
        if flags & 1 != 0 {
            effect = try reader.effect()
            attempt = try reader.attempt()
        } else {
            (effect, attempt) = (EntryHead.noEffect, .none)
        }
        if flags & 16 != 0 { _ = try reader.trace() }
        let size = Int(try reader.u32())
        let start = reader.position
        try reader.skip(size)
        payload = start..<start + size
    }

    /// Reads an entry that is known to be valid.
    init(trusting bytes: Span<UInt8>, at offset: Int) {
        kind = Entry.Kind(rawValue: bytes[offset]) ?? .event
        flags = bytes[offset + 1]
        var start: Int
        if flags & 1 != 0 {
            (effect, attempt) = (bytes.effect(at: offset + 2), bytes.attempt(at: offset + 18))
            start = offset + 38
        } else {
            (effect, attempt) = (EntryHead.noEffect, .none)
            start = offset + 6
        }
        if flags & 16 != 0 { start += TraceContext.byteCount }
        payload = start..<start + Int(bytes.number(at: start - 4, as: UInt32.self))
    }

    private static var noEffect: EffectID { EffectID(feedback: 0, seq: .initial, index: 0) }
}

extension Entry {
    package init(_ head: EntryHead, _ payload: ArraySlice<UInt8>, _ trace: TraceContext? = nil) {
        self.init(
            kind: head.kind, effect: head.effectIfAny, attempt: head.attempt, payload: payload,
            wantsSeq: head.wantsSeq, isLast: head.isLast, wantsAnswer: head.wantsAnswer, trace: trace)
    }
}
