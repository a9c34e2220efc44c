import CBOR

/// What an operator's tool asks of a running reducer; a CBOR document in the body of one message.
public enum AdministrationRequest: Codable, Equatable, Sendable {
    /// The effects that failed for good.
    case parked
    /// Runs a parked effect again. `effect` as it is listed; `who` asks, for the journal.
    case retryParked(effect: String, who: String)
    /// The events that were set aside.
    case quarantine
    /// One of them, with its bytes.
    case quarantined(id: UInt64)
    /// Applies one after all.
    case retryQuarantined(id: UInt64, who: String)
    case dropQuarantined(id: UInt64, who: String)
    /// The journal's records of a range of seqs, a page at a time.
    /// - `after`: the position behind which the page begins; nil: at the seq `from`.
    case history(from: UInt64, through: UInt64?, after: UInt64?)
    /// The state after a transition; nil: the newest.
    case state(at: UInt64?)
    /// Replays the journal, and compares it with its snapshots and state hashes.
    case verify
    /// Forgets records below a seq, as far as snapshots cover them.
    case trim(before: UInt64)
}

/// What the reducer answers; a CBOR document, in as many messages as it needs.
public enum AdministrationAnswer: Codable, Equatable, Sendable {
    /// It was done, and what came of it, for people.
    case done(String)
    /// It was not done, and why.
    case refused(String)
    case parked([ParkedEffect])
    case quarantine([QuarantinedEvent])
    case history(HistoryPage)
    /// The state's encoding.
    case state(seq: UInt64, bytes: [UInt8])
    case verified(VerifyReport)
}

/// An effect that failed for good.
public struct ParkedEffect: Codable, Equatable, Sendable {
    /// Names it to `retryParked`: feedback number, seq and index.
    public var effect: String
    public var feedback: String
    public var failures: Int
    public var message: String
    /// The encoded request.
    public var request: [UInt8]

    public init(effect: String, feedback: String, failures: Int, message: String, request: [UInt8]) {
        self.effect = effect
        self.feedback = feedback
        self.failures = failures
        self.message = message
        self.request = request
    }
}

/// An event that ended the process more than once, and was set aside.
public struct QuarantinedEvent: Codable, Equatable, Sendable {
    public var id: UInt64
    /// Milliseconds since 1970.
    public var time: Int64
    public var session: UInt64
    public var number: UInt64
    /// The effect that sent it; nil: no effect did.
    public var effect: String?
    /// What was going on: "decoding the event", "reduce" or "a feedback's query".
    public var phase: String
    public var crashes: Int
    /// The encoded event; empty in a list.
    public var event: [UInt8]

    public init(
        id: UInt64, time: Int64, session: UInt64, number: UInt64, effect: String?, phase: String, crashes: Int,
        event: [UInt8]
    ) {
        self.id = id
        self.time = time
        self.session = session
        self.number = number
        self.effect = effect
        self.phase = phase
        self.crashes = crashes
        self.event = event
    }
}

/// Some records of a journal, in order.
public struct HistoryPage: Codable, Equatable, Sendable {
    public var records: [HistoryRecord]
    /// Where the next page begins; nil: this is the last.
    public var next: UInt64?

    public init(records: [HistoryRecord], next: UInt64?) {
        self.records = records
        self.next = next
    }
}

/// One record of a journal, for people and programs.
public struct HistoryRecord: Codable, Equatable, Sendable {
    public var position: UInt64
    /// The seq of the newest event at or before this record.
    public var seq: UInt64
    /// What kind of record it is: "event", "refused", "completed", …
    public var kind: String
    /// Milliseconds since 1970, where the record has a time.
    public var time: Int64?
    public var session: UInt64?
    public var number: UInt64?
    public var effect: String?
    public var attempt: String?
    /// What else there is to say, in words.
    public var note: String?
    /// The encoded event, of an event and of a quarantined one.
    public var event: [UInt8]?

    public init(position: UInt64, seq: UInt64, kind: String) {
        self.position = position
        self.seq = seq
        self.kind = kind
    }
}

/// What a replay of a whole journal found.
public struct VerifyReport: Codable, Equatable, Sendable {
    /// The replayed range of seqs, and how many records of all kinds.
    public var from: UInt64
    public var through: UInt64
    public var records: UInt64
    /// How many snapshots and state hashes were compared.
    public var snapshots: Int
    public var stateHashes: UInt64
    /// The first difference; nil: there is none.
    public var difference: String?

    public init(
        from: UInt64, through: UInt64, records: UInt64, snapshots: Int, stateHashes: UInt64, difference: String?
    ) {
        self.from = from
        self.through = through
        self.records = records
        self.snapshots = snapshots
        self.stateHashes = stateHashes
        self.difference = difference
    }
}

/// A part of an encoded `AdministrationAnswer`; the reducer sends all parts, in order.
///
/// | bytes | field |
/// |---|---|
/// | 8 | request u64: as asked |
/// | 4 | part u32, from 0 |
/// | 4 | parts u32 |
/// | 4 + n | bytes |
public struct AnswerPart: Equatable, Sendable {
    public var request: UInt64
    public var part: UInt32
    public var parts: UInt32
    public var bytes: ArraySlice<UInt8>

    public init(request: UInt64, part: UInt32, parts: UInt32, bytes: ArraySlice<UInt8>) {
        self.request = request
        self.part = part
        self.parts = parts
        self.bytes = bytes
    }

    func write(to writer: inout ByteWriter) {
        writer.u64(request)
        writer.u32(part)
        writer.u32(parts)
        writer.prefixed(bytes)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        request = try reader.u64()
        part = try reader.u32()
        parts = try reader.u32()
        guard part < parts else {
            throw .malformed(what: "part \(part) of \(parts) of an answer", offset: reader.position)
        }
        bytes = try reader.prefixed()
    }

    /// A whole answer, in parts that each fit into a message.
    public static func parts(of answer: [UInt8], request: UInt64) -> [AnswerPart] {
        let size = Wire.messageBytesMax / 2
        let count = max(1, (answer.count + size - 1) / size)
        return (0..<count).map { part in
            AnswerPart(
                request: request, part: UInt32(part), parts: UInt32(count),
                bytes: answer[min(part * size, answer.count)..<min((part + 1) * size, answer.count)])
        }
    }
}
