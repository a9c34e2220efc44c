import CBOR
package import LoopCore

/// The outcomes of a session's entries in `base + 1 ... watermark`: all are applied except the notable ones.
///
/// | bytes | field |
/// |---|---|
/// | 8 | base u64 |
/// | 8 | watermark u64 |
/// | 4 + … | notable: count u32, (number u64, 0 = applied or the reason u8, seq u64)… |
/// | 4 + … | answers, only if there are any: count u32, (number u64, 0 = answered or why not u8, 4 + n)… |
///
/// It settles an outbox only if `base` is at most the sender's own settled number. Otherwise the sender asks for
/// outcomes.
package struct Acknowledgement: Equatable, Sendable {
    /// The number at which the acknowledgement begins: it has the outcomes of `base + 1 ... watermark`.
    package var base: UInt64
    /// Every entry up to this number is consumed, and the records of that are durable.
    package var watermark: UInt64
    /// The outcomes that the sender must know individually, in the order of their numbers. Every other entry was applied.
    package var notable: [NotableOutcome]
    /// The answers to the notable entries that requested one, in the order of their numbers. If an applied entry that
    /// requested an answer has none here, the reducer no longer keeps it.
    package var answers: [NumberedAnswer]

    /// Creates an acknowledgement from its parts.
    package init(base: UInt64, watermark: UInt64, notable: [NotableOutcome], answers: [NumberedAnswer] = []) {
        self.base = base
        self.watermark = watermark
        self.notable = notable
        self.answers = answers
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(base)
        writer.u64(watermark)
        writer.outcomes(notable)
        if !answers.isEmpty { writer.answers(answers) }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        base = try reader.u64()
        watermark = try reader.u64()
        notable = try reader.outcomes()
        answers = reader.remaining > 0 ? try reader.answers() : []
    }
}

/// The reducer's sign of life to one peer.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64: of the newest inbox message sent; a larger one than the peer has applied shows a gap at the tail |
/// | 8 | watermark u64: durable |
/// | 8 | received u64: every entry up to this number was read; 2⁶⁴ − 1 while batches wait to be read |
/// | 8 | stamp u64: the reducer's steady clock in nanoseconds when it was made; echoed by heartbeats |
/// | 1 | resend: 1 = entries after `received` are missing |
package struct Tick: Equatable, Sendable {
    /// The number of the newest inbox message sent to this peer; 0 before the first.
    package var number: UInt64
    /// Every entry of the session up to this number is consumed, and the records of that are durable.
    package var watermark: UInt64
    /// Every entry up to this number was read without a gap. `UInt64.max` while unread batches are in the reducer's
    /// sockets, because no entry is known to be missing then.
    package var received: UInt64
    /// The reducer's monotonic clock in nanoseconds when the tick was made. A heartbeat echoes it and so renews the lease.
    package var stamp: UInt64
    /// Whether the reducer detected a gap after `received`, so that the sender must resend those entries at once.
    package var resend: Bool

    /// Creates a tick from its parts.
    package init(number: UInt64, watermark: UInt64, received: UInt64, stamp: UInt64, resend: Bool) {
        self.number = number
        self.watermark = watermark
        self.received = received
        self.stamp = stamp
        self.resend = resend
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(number)
        writer.u64(watermark)
        writer.u64(received)
        writer.u64(stamp)
        writer.u8(resend ? 1 : 0)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        number = try reader.u64()
        watermark = try reader.u64()
        received = try reader.u64()
        stamp = try reader.u64()
        resend = try reader.flag()
    }
}

/// A part of the state at one seq, which is encoded in one chunk or in several.
///
/// | bytes | field |
/// |---|---|
/// | 8 | transfer u64: names the encoded state that the parts belong to |
/// | 8 | seq u64 |
/// | 8 | part u64: from 0 |
/// | 1 | end u8: 0 the chunk continues in the next part, 1 it ends, 2 it ends and so does the state |
/// | 4 + n | bytes of the chunk |
package struct StatePart: Equatable, Sendable {
    /// Whether a chunk or the whole state ends with a part. The raw values are on the wire.
    package enum End: UInt8, Sendable {
        /// The chunk continues in the next part.
        case nothing = 0
        /// The chunk ends with this part, and another one follows.
        case chunk = 1
        /// The chunk ends with this part, and so does the state.
        case state = 2
    }

    /// The number of the transfer within one epoch, from 1. All parts with one number belong to one encoded state.
    package var transfer: UInt64
    /// The seq of the state that is transferred.
    package var seq: Seq
    /// The index of the part in the transfer, from 0.
    package var part: UInt64
    /// Whether a chunk, or the whole state, ends with this part.
    package var end: End
    /// The bytes of the chunk in this part, at most 256 KiB. A chunk is CBOR once all its parts are joined.
    package var bytes: [UInt8]

    /// Creates a part of a state from its fields.
    package init(transfer: UInt64, seq: Seq, part: UInt64, end: End, bytes: [UInt8]) {
        self.transfer = transfer
        self.seq = seq
        self.part = part
        self.end = end
        self.bytes = bytes
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(transfer)
        writer.u64(seq.value)
        writer.u64(part)
        writer.u8(end.rawValue)
        writer.prefixed(bytes[...])
    }

    init(from reader: inout ByteReader) throws(WireError) {
        transfer = try reader.u64()
        seq = Seq(try reader.u64())
        part = try reader.u64()
        let code = try reader.u8()
        guard let end = End(rawValue: code) else {
            throw .malformed(what: "a part's end \(code)", offset: reader.position)
        }
        self.end = end
        bytes = Array(try reader.prefixed())
    }
}

/// One transition, for people.
///
/// | bytes | field |
/// |---|---|
/// | 8 | seq u64 |
/// | 8 | wall time i64: milliseconds since 1970 |
/// | 8 | session u64 of the sender |
/// | 1 | has an effect |
/// | 16 | effect (only then) |
/// | 4 + n | event: CBOR |
package struct TransitionNote: Equatable, Sendable {
    /// The seq of the transition, from 1. Consecutive notes have consecutive seqs.
    package var seq: Seq
    /// The wall time that the journal has for the event, in milliseconds since 1970.
    package var time: WallTime
    /// The session of the event's sender; `.none` for a quarantined event that an operator applied.
    package var session: SessionID
    /// The effect that sent the event, or nil for an event of a client.
    package var effect: EffectID?
    /// The encoded event.
    package var event: [UInt8]

    /// Creates a note from its parts.
    package init(seq: Seq, time: WallTime, session: SessionID, effect: EffectID?, event: [UInt8]) {
        self.seq = seq
        self.time = time
        self.session = session
        self.effect = effect
        self.event = event
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(seq.value)
        writer.u64(UInt64(bitPattern: time.milliseconds))
        writer.u64(session.value)
        writer.u8(effect == nil ? 0 : 1)
        if let effect { writer.effect(effect) }
        writer.prefixed(event[...])
    }

    init(from reader: inout ByteReader) throws(WireError) {
        seq = Seq(try reader.u64())
        time = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
        session = SessionID(try reader.u64())
        effect = try reader.flag() ? try reader.effect() : nil
        event = Array(try reader.prefixed())
    }
}

/// The reason for the refusal of an entry as text for people, in addition to the reason in the acknowledgement.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64 of the entry |
/// | 4 + n | the text, at most 512 bytes |
package struct RefusalDetail: Equatable, Sendable {
    /// The number of the entry in its session, from 1.
    package var number: UInt64
    /// The text of what is wrong with the entry. It may have any characters: print it escaped.
    package var text: String

    /// The largest size of a text in bytes of UTF-8.
    package static let bytesMax = 512

    /// Creates a detail from its parts. A text over the limit is truncated between two characters.
    package init(number: UInt64, text: String) {
        self.number = number
        self.text = Self.cut(text)
    }

    /// The longest prefix of whole characters that fits.
    package static func cut(_ text: String) -> String {
        guard text.utf8.count > bytesMax else { return text }
        var end = text.startIndex
        var count = 0
        while end < text.endIndex {
            count += text[end].utf8.count
            if count > bytesMax { break }
            end = text.index(after: end)
        }
        return String(text[..<end])
    }

    /// The smallest size of one in a message.
    fileprivate static var bytesMin: Int { 12 }
}

extension ByteWriter {
    mutating func details(_ details: [RefusalDetail]) {
        u32(UInt32(details.count))
        for detail in details {
            u64(detail.number)
            string(detail.text)
        }
    }
}

extension ByteReader {
    mutating func details() throws(WireError) -> [RefusalDetail] {
        let count = try count(bytesEach: RefusalDetail.bytesMin)
        var details: [RefusalDetail] = []
        details.reserveCapacity(count)
        for _ in 0..<count {
            details.append(
                RefusalDetail(number: try u64(), text: try string(bytesMax: RefusalDetail.bytesMax)))
        }
        return details
    }
}
