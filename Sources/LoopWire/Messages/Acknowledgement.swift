import CBOR
public import LoopCore

/// What became of a session's entries in `base + 1 ... watermark`: applied, but for the notable ones.
///
/// | bytes | field |
/// |---|---|
/// | 8 | base u64 |
/// | 8 | watermark u64 |
/// | 4 + … | notable: count u32, (number u64, 0 = applied or the reason u8, seq u64)… |
///
/// It settles an outbox only if `base` is at most the sender's own watermark; otherwise the sender asks for outcomes.
public struct Acknowledgement: Equatable, Sendable {
    public var base: UInt64
    public var watermark: UInt64
    public var notable: [NotableOutcome]

    public init(base: UInt64, watermark: UInt64, notable: [NotableOutcome]) {
        self.base = base
        self.watermark = watermark
        self.notable = notable
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(base)
        writer.u64(watermark)
        writer.outcomes(notable)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        base = try reader.u64()
        watermark = try reader.u64()
        notable = try reader.outcomes()
    }
}

/// The reducer's sign of life to one peer.
///
/// | bytes | field |
/// |---|---|
/// | 8 | number u64: of the newest inbox message sent; a larger one than the peer has applied shows a gap at the tail |
/// | 8 | watermark u64: durable |
/// | 8 | received u64: every entry up to this number has arrived |
/// | 8 | stamp u64: the reducer's steady clock when it was made; echoed by heartbeats |
/// | 1 | resend: 1 = entries after `received` are missing |
public struct Tick: Equatable, Sendable {
    public var number: UInt64
    public var watermark: UInt64
    public var received: UInt64
    public var stamp: UInt64
    public var resend: Bool

    public init(number: UInt64, watermark: UInt64, received: UInt64, stamp: UInt64, resend: Bool) {
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
/// | 1 | end u8: 0 the chunk goes on, 1 it ends, 2 it ends and so does the state |
/// | 4 + n | bytes of the chunk |
public struct StatePart: Equatable, Sendable {
    /// What ends with a part.
    public enum End: UInt8, Sendable {
        case nothing = 0
        case chunk = 1
        case state = 2
    }

    public var transfer: UInt64
    public var seq: Seq
    /// Its place among all parts of the transfer, from 0.
    public var part: UInt64
    public var end: End
    public var bytes: [UInt8]

    public init(transfer: UInt64, seq: Seq, part: UInt64, end: End, bytes: [UInt8]) {
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

/// One transition, for those who watch.
///
/// | bytes | field |
/// |---|---|
/// | 8 | seq u64 |
/// | 8 | wall time i64: milliseconds since 1970 |
/// | 8 | session u64 of the sender |
/// | 1 | has an effect |
/// | 16 | effect (only then) |
/// | 4 + n | event: CBOR |
public struct TransitionNote: Equatable, Sendable {
    public var seq: Seq
    public var time: WallTime
    public var session: SessionID
    public var effect: EffectID?
    public var event: [UInt8]

    public init(seq: Seq, time: WallTime, session: SessionID, effect: EffectID?, event: [UInt8]) {
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
