import CBOR
import LoopCollections
import LoopCore
import LoopWire

// The bytes of records that consume an entry, or grant or end attempts.

/// The flags that say which optional fields a record has.
struct RecordFlags {
    static let effect: UInt8 = 1
    static let attempt: UInt8 = 2
    static let wantsSeq: UInt8 = 4
    /// Only in an event record.
    static let isLastEvent: UInt8 = 8
    /// Only in an event record.
    static let wantsAnswer: UInt8 = 16
    /// Only in an event record.
    static let trace: UInt8 = 32
    /// Only in a quarantine record.
    static let isLast: UInt8 = 4
    static let entry: UInt8 = 1
    static let parked: UInt8 = 2

    static func of(_ effect: EffectID?, _ attempt: Attempt) -> UInt8 {
        (effect == nil ? 0 : Self.effect) | (attempt == .none ? 0 : Self.attempt)
    }
}

extension EventRecord {
    func write(to output: inout [UInt8]) {
        if session == .none {
            if isOfTimer, let effect { return writeOfTimer(effect, to: &output) }
            if let run { return ScheduleBytes.write(self, run, to: &output) }
        }
        output.fields(.event, and: bytes.count + (trace == nil ? 0 : TraceContext.byteCount)) {
            $0.append(
                RecordFlags.of(effect, attempt) | (wantsSeq ? RecordFlags.wantsSeq : 0)
                    | (isLast ? RecordFlags.isLastEvent : 0) | (wantsAnswer ? RecordFlags.wantsAnswer : 0)
                    | (trace == nil ? 0 : RecordFlags.trace))
            $0.varint(seq.value)
            $0.time(time)
            $0.varint(session.value)
            $0.varint(number)
            $0.owner(effect, attempt)
            if let trace { $0.append(trace) }
            $0.varint(UInt64(bytes.count))
            $0.append(bytes.span)
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 63)
        seq = Seq(try reader.varint())
        time = try reader.time()
        session = try reader.session()
        number = try reader.varint()
        (effect, attempt) = try reader.owner(flags)
        wantsSeq = flags & RecordFlags.wantsSeq != 0
        isLast = flags & RecordFlags.isLastEvent != 0
        wantsAnswer = flags & RecordFlags.wantsAnswer != 0
        trace = flags & RecordFlags.trace != 0 ? try reader.trace() : nil
        bytes = try reader.shortPrefixed()
        if isOfTimer { throw .malformed(what: "a last event of no session", offset: reader.position) }
    }

    private func writeOfTimer(_ timer: EffectID, to output: inout [UInt8]) {
        output.fields(.timerFired, and: bytes.count) {
            $0.varint(seq.value)
            $0.time(time)
            $0.effect(timer)
            $0.varint(UInt64(bytes.count))
            $0.append(bytes.span)
        }
    }

    init(ofTimerFrom reader: inout ByteReader) throws(WireError) {
        let (seq, time) = (Seq(try reader.varint()), try reader.time())
        let timer = try reader.shortEffect()
        self.init(timer: timer, seq: seq, time: time, bytes: try reader.shortPrefixed())
    }
}

extension RefusalRecord {
    func write(to output: inout [UInt8]) {
        output.fields(detail.isEmpty ? .refused : .refusedInDetail) {
            $0.append(RecordFlags.of(effect, attempt))
            $0.append(reason.rawValue)
            $0.varint(session.value)
            $0.varint(number)
            $0.owner(effect, attempt)
        }
        if !detail.isEmpty { output.string(detail) }
    }

    init(inDetailFrom reader: inout ByteReader) throws(WireError) {
        try self.init(from: &reader)
        let text = try reader.shortString()
        guard !text.isEmpty, text.utf8.count <= RefusalDetail.bytesMax else {
            throw .malformed(what: "a detail of \(text.utf8.count) bytes", offset: reader.position)
        }
        detail = text
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 3)
        let code = try reader.u8("reason")
        guard let reason = SendRefusal.Reason(rawValue: code) else {
            throw .malformed(what: "reason \(code)", offset: reader.position - 1)
        }
        self.reason = reason
        session = try reader.session()
        number = try reader.varint()
        (effect, attempt) = try reader.owner(flags)
        detail = ""
    }
}

extension RetryTime {
    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        let time = try reader.time()
        try self.init(notBefore: time, milliseconds: try reader.varint(), offset: reader.position)
    }

    /// Creates a time from numbers that were read. A wait that has no `Int64` is malformed: it could not be written again.
    init(notBefore: WallTime, milliseconds: UInt64, offset: Int) throws(WireError) {
        guard let wait = Int64(exactly: milliseconds) else {
            throw .malformed(what: "a wait of \(milliseconds) ms", offset: offset)
        }
        self.init(notBefore: notBefore, wait: wait)
    }
}

extension GrantRecord {
    func write(to output: inout [UInt8]) {
        // An effect takes at most 20 bytes.
        output.fields(.granted, and: 20 * effects.count) {
            $0.attempt(first)
            $0.varint(UInt64(effects.count))
            for effect in effects { $0.effect(effect) }
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        first = try reader.shortAttempt()
        let count = try reader.varint()
        guard count > 0, count <= UInt64(reader.remaining / 3) else {
            throw .malformed(what: "\(count) grants", offset: reader.position)
        }
        effects = []
        effects.reserveCapacity(Int(count))
        for _ in 0..<count { effects.append(try reader.shortEffect()) }
    }
}

extension AttemptEnd {
    func write(to output: inout [UInt8]) {
        output.fields(.attemptEnded) {
            $0.append((entry == nil ? 0 : RecordFlags.entry) | (next == .parked ? RecordFlags.parked : 0))
            $0.append(cause.rawValue)
            $0.effect(effect)
            $0.attempt(upTo)
            if case .retry(let retry) = next {
                $0.time(retry.notBefore)
                $0.varint(UInt64(retry.wait))
            }
            if let entry {
                $0.varint(entry.session.value)
                $0.varint(entry.number)
            }
        }
        output.string(message)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 3)
        let code = try reader.u8("cause")
        guard let cause = Cause(rawValue: code) else {
            throw .malformed(what: "cause \(code)", offset: reader.position - 1)
        }
        self.cause = cause
        effect = try reader.shortEffect()
        upTo = try reader.shortAttempt()
        next = flags & RecordFlags.parked != 0 ? .parked : .retry(try RetryTime(from: &reader))
        entry =
            flags & RecordFlags.entry != 0
            ? EntryNumber(session: try reader.session(), number: try reader.varint()) : nil
        message = try reader.shortString()
    }
}

extension QuarantineRecord {
    func write(to output: inout [UInt8]) {
        output.fields(.quarantined) {
            $0.append(RecordFlags.of(effect, attempt) | (isLast ? RecordFlags.isLast : 0))
            $0.append(phase.rawValue)
            $0.varint(id)
            $0.time(time)
            $0.varint(session.value)
            $0.varint(number)
            $0.owner(effect, attempt)
            $0.varint(UInt64(crashes))
            $0.varint(UInt64(bytes.count))
        }
        output.append(contentsOf: bytes)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 7)
        isLast = flags & RecordFlags.isLast != 0
        let code = try reader.u8("phase")
        guard let phase = Phase(rawValue: code) else {
            throw .malformed(what: "phase \(code)", offset: reader.position - 1)
        }
        self.phase = phase
        id = try reader.varint()
        time = try reader.time()
        session = try reader.session()
        number = try reader.varint()
        (effect, attempt) = try reader.owner(flags)
        crashes = try reader.varint32()
        bytes = try reader.shortPrefixed()
    }
}
