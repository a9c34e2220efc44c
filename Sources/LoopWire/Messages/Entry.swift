package import CBOR
package import LoopCore

/// One numbered entry of a session's stream; its number is its batch's first number plus its position.
///
/// | bytes | field |
/// |---|---|
/// | 1 | kind: 1 event, 2 completed, 3 failed, 4 released |
/// | 1 | flags: 1 = has an effect, 2 = the sender wants the seq, 4 = the effect's body has ended with this event, 8 = the sender wants an answer (only with 2), 16 = has a trace context (only of an event) |
/// | 16 | effect: feedback u32, seq u64, index u32 (only with flag 1) |
/// | 16 | attempt: epoch u64, count u64 (only with flag 1) |
/// | 25 | trace context: trace ID, span ID, flags u8 (only with flag 16) |
/// | 4 + n | payload: count u32, bytes |
package struct Entry: Equatable, Sendable {
    /// The kinds of entries: an event, or an end of an effect's attempt. The raw values are on the wire.
    package enum Kind: UInt8, Sendable {
        /// The payload is an encoded event.
        case event = 1
        /// The effect's body returned.
        case completed = 2
        /// The effect's body threw; the payload is a `Failure`.
        case failed = 3
        /// The worker gives the effect back unfinished.
        case released = 4
    }

    /// Whether the entry is an event or the end of an attempt.
    package var kind: Kind
    /// Whether the sender wants the seq of the transition in the acknowledgement.
    package var wantsSeq: Bool
    /// Whether the sender wants the definition's answer to the event, and the seq with it.
    package var wantsAnswer: Bool
    /// Whether the effect's body has ended with this event: the event and the `completed` that follows are one entry.
    package var isLast: Bool
    /// The effect that sends the entry, or nil for an event of a client.
    package var effect: EffectID?
    /// The attempt of the effect that sends the entry; `.none` without an effect.
    package var attempt: Attempt
    /// The place of the event in a trace, or nil if it is in none. One that is not sampled is not sent.
    package var trace: TraceContext?
    var sentTrace: TraceContext? { trace.flatMap { $0.isSampled ? $0 : nil } }
    /// The encoded event, or the bytes of a ``Failure``; empty for `completed` and `released`.
    package var payload: ArraySlice<UInt8>

    /// Creates an entry from its parts.
    /// - Parameters:
    ///   - kind: the kind. Only an `event` may have no effect.
    ///   - effect: the effect that sends it, or nil for a client.
    ///   - attempt: the effect's attempt.
    ///   - payload: the encoded event or failure.
    ///   - wantsSeq: whether the sender requests the seq at which the event is applied.
    ///   - isLast: whether the effect's body has ended with this event; true only for an event of an effect.
    ///   - wantsAnswer: whether the sender requests an answer; true only for an event that is not the last.
    ///   - trace: the place of an event in a trace.
    package init(
        kind: Kind, effect: EffectID? = nil, attempt: Attempt = .none, payload: ArraySlice<UInt8> = [],
        wantsSeq: Bool = false, isLast: Bool = false, wantsAnswer: Bool = false, trace: TraceContext? = nil
    ) {
        precondition(!isLast || kind == .event && effect != nil, "only an event of an effect can be its last")
        precondition(trace == nil || kind == .event, "only an event can be in a trace")
        precondition(!wantsAnswer || kind == .event && !isLast, "only an event that is not the last can ask")
        self.isLast = isLast
        self.kind = kind
        self.effect = effect
        self.attempt = attempt
        self.payload = payload
        self.wantsSeq = wantsSeq || wantsAnswer
        self.wantsAnswer = wantsAnswer
        self.trace = trace
    }

    /// Creates the entry that ends an effect's attempt.
    /// - Parameters:
    ///   - effect: the effect that has ended.
    ///   - attempt: its attempt.
    ///   - failure: the error of its body, or nil if the body returned.
    package init(endOf effect: EffectID, _ attempt: Attempt, _ failure: Failure?) {
        self.init(
            kind: failure == nil ? .completed : .failed, effect: effect, attempt: attempt,
            payload: (failure?.bytes ?? [])[...])
    }

    package func write(to writer: inout ByteWriter) {
        writer.u8(kind.rawValue)
        writer.u8(
            EntryHead.flags(
                hasEffect: effect != nil, wantsSeq: wantsSeq, isLast: isLast, wantsAnswer: wantsAnswer,
                hasTrace: sentTrace != nil))
        if let effect {
            writer.effect(effect)
            writer.attempt(attempt)
        }
        if let sentTrace { writer.trace(sentTrace) }
        writer.prefixed(payload)
    }

    package init(from reader: inout ByteReader) throws(WireError) {
        let bytes = reader.rest
        let start = reader.position
        let head = try EntryHead(from: &reader)
        let payload =
            head.payload.lowerBound - start + bytes.startIndex..<head.payload.upperBound - start + bytes.startIndex
        let trace = head.hasTrace ? bytes.span.trace(at: head.tracePosition - start) : nil
        self.init(head, bytes[payload], trace)
    }
}

/// The error of an effect's body, on the wire and for people.
///
/// | bytes | field |
/// |---|---|
/// | 1 | flags: 1 = trying again cannot help, 2 = has a delay |
/// | 8 | the earliest next try, in milliseconds from now (0 without flag 2) |
/// | 4 + n | what went wrong: UTF-8 |
package struct Failure: Equatable, Sendable {
    /// The error message, for people.
    package var message: String
    /// Whether a retry cannot succeed, so that the failure is final.
    package var isFinal: Bool
    /// The shortest time until the next attempt, or nil for the feedback's policy. The longer of this and the policy's
    /// delay applies. On the wire in whole milliseconds, and read as one day at most.
    package var retryAfter: Duration?

    /// Creates a failure from its parts.
    package init(message: String, isFinal: Bool = false, retryAfter: Duration? = nil) {
        self.message = message
        self.isFinal = isFinal
        self.retryAfter = retryAfter
    }

    /// A worker's report of an error that a body has thrown. The reducer decides whether it is final.
    package init(_ error: any Error) {
        let advice = error as? any RetryAdvice
        self.init(
            message: EffectFailure(error).message, isFinal: advice?.isTransient == false,
            retryAfter: advice?.retryAfter)
    }

    /// The failure of an attempt whose event was refused for its own sake.
    package init(refused refusal: SendRefusal) { self.init(message: "its event was \(refusal)") }

    /// The bytes of a `failed` entry's payload.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.u8((isFinal ? 1 : 0) | (retryAfter == nil ? 0 : 2))
        writer.u64(UInt64(max(0, (retryAfter ?? .zero).wholeMilliseconds)))
        writer.string(message)
        return writer.bytes
    }

    /// Reads the payload of a `failed` entry.
    /// - Throws: `WireError` if the bytes are truncated or too long, or if the message is not UTF-8.
    package init(bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let flags = try reader.u8()
        let milliseconds = try reader.u64()
        isFinal = flags & 1 != 0
        retryAfter = flags & 2 != 0 ? .milliseconds(Int64(clamping: min(milliseconds, 86_400_000))) : nil
        message = try reader.string()
        try reader.end()
    }
}
