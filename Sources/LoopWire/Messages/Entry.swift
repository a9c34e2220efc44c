public import CBOR
public import LoopCore

/// One numbered entry of a session's stream; its number is its batch's first number plus its position.
///
/// | bytes | field |
/// |---|---|
/// | 1 | kind: 1 event, 2 completed, 3 failed, 4 released |
/// | 1 | flags: 1 = has an effect, 2 = the sender wants the seq, 4 = the effect's body has ended with this event |
/// | 16 | effect: feedback u32, seq u64, index u32 (only with flag 1) |
/// | 16 | attempt: epoch u64, count u64 (only with flag 1) |
/// | 4 + n | payload: count u32, bytes |
public struct Entry: Equatable, Sendable {
    public enum Kind: UInt8, Sendable {
        /// The payload is an encoded event.
        case event = 1
        /// The effect's body returned.
        case completed = 2
        /// The effect's body threw; the payload is a `Failure`.
        case failed = 3
        /// The worker gives the effect back unfinished.
        case released = 4
    }

    public var kind: Kind
    public var wantsSeq: Bool
    /// Whether the effect's body has ended with this event: it is an event and the `completed` behind it in one.
    public var isLast: Bool
    /// The effect on whose behalf the entry is sent, and its attempt; nil for events of clients.
    public var effect: EffectID?
    public var attempt: Attempt
    public var payload: ArraySlice<UInt8>

    public init(
        kind: Kind, effect: EffectID? = nil, attempt: Attempt = .none, payload: ArraySlice<UInt8> = [],
        wantsSeq: Bool = false, isLast: Bool = false
    ) {
        precondition(!isLast || kind == .event && effect != nil, "only an event of an effect can be its last")
        self.isLast = isLast
        self.kind = kind
        self.effect = effect
        self.attempt = attempt
        self.payload = payload
        self.wantsSeq = wantsSeq
    }

    /// The end of an effect's attempt.
    /// - Parameter failure: what its body threw; nil: the body returned.
    public init(endOf effect: EffectID, _ attempt: Attempt, _ failure: Failure?) {
        self.init(
            kind: failure == nil ? .completed : .failed, effect: effect, attempt: attempt,
            payload: (failure?.bytes ?? [])[...])
    }

    /// The bytes around a payload, at most.
    public static let overhead = 38

    package func write(to writer: inout ByteWriter) {
        writer.u8(kind.rawValue)
        writer.u8(EntryHead.flags(hasEffect: effect != nil, wantsSeq: wantsSeq, isLast: isLast))
        if let effect {
            writer.effect(effect)
            writer.attempt(attempt)
        }
        writer.prefixed(payload)
    }

    package init(from reader: inout ByteReader) throws(WireError) {
        let bytes = reader.rest
        let start = reader.position
        let head = try EntryHead(from: &reader)
        let payload =
            head.payload.lowerBound - start + bytes.startIndex..<head.payload.upperBound - start + bytes.startIndex
        self.init(head, bytes[payload])
    }
}

/// Why an effect's body threw, as it crosses the wire and is shown to people.
///
/// | bytes | field |
/// |---|---|
/// | 1 | flags: 1 = trying again cannot help, 2 = has a delay |
/// | 8 | the earliest next try, in milliseconds from now (0 without flag 2) |
/// | 4 + n | what went wrong: UTF-8 |
public struct Failure: Equatable, Sendable {
    public var message: String
    public var isFinal: Bool
    public var retryAfter: Duration?

    public init(message: String, isFinal: Bool = false, retryAfter: Duration? = nil) {
        self.message = message
        self.isFinal = isFinal
        self.retryAfter = retryAfter
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.u8((isFinal ? 1 : 0) | (retryAfter == nil ? 0 : 2))
        writer.u64(UInt64(max(0, (retryAfter ?? .zero).wholeNanoseconds / 1_000_000)))
        writer.string(message)
        return writer.bytes
    }

    public init(bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let flags = try reader.u8()
        let milliseconds = try reader.u64()
        isFinal = flags & 1 != 0
        retryAfter = flags & 2 != 0 ? .milliseconds(Int64(clamping: min(milliseconds, 86_400_000))) : nil
        message = try reader.string()
        try reader.end()
    }
}
