import LoopCore
public import LoopWire

/// Records as bytes: a kind byte, then that kind's fields. The frame tables are in `docs/spec/2-JOURNAL.md`.
///
/// Numbers that are small in practice are *varints*: seven bits a byte, the lowest first, the top bit set on all but the
/// last. Only the shortest form is read, so that one record has one spelling. Random numbers and hashes are 8 bytes.
extension Record {
    /// The first byte of a record. A number is never used for another layout.
    enum Kind: UInt8 {
        case event = 1
        case refused = 2
        case completed = 3
        case skipped = 4
        case attemptEnded = 5
        case sessionOpened = 6
        case sessionRetired = 7
        case epochBegun = 8
        case definition = 9
        case stateHash = 10
        case quarantined = 11
        case operatorAction = 12
        case historyBegun = 13
    }

    /// Appends the record; the caller keeps the array, and so its room.
    public func write(to output: inout [UInt8]) {
        switch self {
        case .event(let event): event.write(to: &output)
        case .refused(let refusal): refusal.write(to: &output)
        case .completed(let session, let number, let effect, let attempt):
            output.fields(.completed) {
                $0.varint(session.value)
                $0.varint(number)
                $0.effect(effect)
                $0.attempt(attempt)
            }
        case .skipped(let session, let number):
            output.fields(.skipped) {
                $0.varint(session.value)
                $0.varint(number)
            }
        case .attemptEnded(let end): end.write(to: &output)
        case .sessionOpened(let session, let peer):
            output.fields(.sessionOpened) {
                $0.varint(session.value)
                $0.u64(peer.high)
                $0.u64(peer.low)
            }
        case .sessionRetired(let session): output.fields(.sessionRetired) { $0.varint(session.value) }
        case .epochBegun(let epoch, let time):
            output.fields(.epochBegun) {
                $0.varint(epoch.number)
                $0.u64(epoch.nonce)
                $0.time(time)
            }
        case .definition(let definition): definition.write(to: &output)
        case .stateHash(let seq, let hash):
            output.fields(.stateHash) {
                $0.varint(seq.value)
                $0.u64(hash)
            }
        case .quarantined(let quarantine): quarantine.write(to: &output)
        case .operatorAction(let action): action.write(to: &output)
        case .historyBegun(let history, let time):
            output.fields(.historyBegun) {
                $0.u64(history.value)
                $0.time(time)
            }
        }
    }

    /// Reads one record; the bytes of an event are a slice of the reader's array.
    public init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8("record kind")
        guard let kind = Kind(rawValue: code) else {
            throw .malformed(what: "record kind \(code)", offset: reader.position - 1)
        }
        switch kind {
        case .event: self = .event(try EventRecord(from: &reader))
        case .refused: self = .refused(try RefusalRecord(from: &reader))
        case .completed:
            self = .completed(
                try reader.session(), number: try reader.varint(), try reader.shortEffect(),
                try reader.shortAttempt())
        case .skipped: self = .skipped(try reader.session(), number: try reader.varint())
        case .attemptEnded: self = .attemptEnded(try AttemptEnd(from: &reader))
        case .sessionOpened:
            self = .sessionOpened(
                try reader.session(), PeerID(high: try reader.u64("peer"), low: try reader.u64("peer")))
        case .sessionRetired: self = .sessionRetired(try reader.session())
        case .epochBegun:
            self = .epochBegun(
                Epoch(number: try reader.varint(), nonce: try reader.u64("nonce")), try reader.time())
        case .definition: self = .definition(try DefinitionRecord(from: &reader))
        case .stateHash: self = .stateHash(Seq(try reader.varint()), try reader.u64("hash"))
        case .quarantined: self = .quarantined(try QuarantineRecord(from: &reader))
        case .operatorAction: self = .operatorAction(try OperatorAction(from: &reader))
        case .historyBegun: self = .historyBegun(History(try reader.u64("history")), try reader.time())
        }
    }

    /// Reads records to the end of the bytes, behind those that are there.
    public static func read(_ bytes: ArraySlice<UInt8>, into records: inout [Record]) throws(WireError) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd { records.append(try Record(from: &reader)) }
    }
}

/// Which of the fields that may be absent are there.
private struct RecordFlags {
    static let effect: UInt8 = 1
    static let attempt: UInt8 = 2
    static let wantsSeq: UInt8 = 4
    static let entry: UInt8 = 1
    static let parked: UInt8 = 2

    static func of(_ effect: EffectID?, _ attempt: Attempt) -> UInt8 {
        (effect == nil ? 0 : Self.effect) | (attempt == .none ? 0 : Self.attempt)
    }
}

extension EventRecord {
    fileprivate func write(to output: inout [UInt8]) {
        output.fields(.event) {
            $0.append(RecordFlags.of(effect, attempt) | (wantsSeq ? RecordFlags.wantsSeq : 0))
            $0.varint(seq.value)
            $0.time(time)
            $0.varint(session.value)
            $0.varint(number)
            $0.owner(effect, attempt)
            $0.varint(UInt64(bytes.count))
        }
        output.append(contentsOf: bytes)
    }

    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 7)
        seq = Seq(try reader.varint())
        time = try reader.time()
        session = try reader.session()
        number = try reader.varint()
        (effect, attempt) = try reader.owner(flags)
        wantsSeq = flags & RecordFlags.wantsSeq != 0
        bytes = try reader.shortPrefixed()
    }
}

extension RefusalRecord {
    fileprivate func write(to output: inout [UInt8]) {
        output.fields(.refused) {
            $0.append(RecordFlags.of(effect, attempt))
            $0.append(reason.rawValue)
            $0.varint(session.value)
            $0.varint(number)
            $0.owner(effect, attempt)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 3)
        let code = try reader.u8("reason")
        guard let reason = SendRefusal.Reason(rawValue: code) else {
            throw .malformed(what: "reason \(code)", offset: reader.position - 1)
        }
        self.reason = reason
        session = try reader.session()
        number = try reader.varint()
        (effect, attempt) = try reader.owner(flags)
    }
}

extension AttemptEnd {
    fileprivate func write(to output: inout [UInt8]) {
        output.fields(.attemptEnded) {
            $0.append((entry == nil ? 0 : RecordFlags.entry) | (next == .parked ? RecordFlags.parked : 0))
            $0.append(cause.rawValue)
            $0.effect(effect)
            $0.attempt(upTo)
            if case .retry(let time) = next { $0.time(time) }
            if let entry {
                $0.varint(entry.session.value)
                $0.varint(entry.number)
            }
        }
        output.string(message)
    }

    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 3)
        let code = try reader.u8("cause")
        guard let cause = Cause(rawValue: code) else {
            throw .malformed(what: "cause \(code)", offset: reader.position - 1)
        }
        self.cause = cause
        effect = try reader.shortEffect()
        upTo = try reader.shortAttempt()
        next = flags & RecordFlags.parked != 0 ? .parked : .retry(try reader.time())
        entry =
            flags & RecordFlags.entry != 0
            ? EntryNumber(session: try reader.session(), number: try reader.varint()) : nil
        message = try reader.shortString()
    }
}

extension DefinitionRecord {
    fileprivate func write(to output: inout [UInt8]) {
        output.fields(.definition) {
            $0.u64(fingerprint)
            $0.varint(schema)
            $0.u64(initial)
            $0.varint(UInt64(initialState.count))
        }
        output += initialState
        output.number(feedbacks.count)
        for name in feedbacks { output.string(name) }
    }

    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        fingerprint = try reader.u64("fingerprint")
        schema = try reader.varint()
        initial = try reader.u64("initial state's hash")
        initialState = Array(try reader.shortPrefixed())
        let count = try reader.varint()
        // Each name takes a byte at least: a count that is too large is known before anything is allocated.
        guard count <= reader.remaining else {
            throw .malformed(what: "\(count) names in \(reader.remaining) bytes", offset: reader.position)
        }
        feedbacks = []
        feedbacks.reserveCapacity(Int(count))
        for _ in 0..<count { feedbacks.append(try reader.shortString()) }
    }
}

extension QuarantineRecord {
    fileprivate func write(to output: inout [UInt8]) {
        output.fields(.quarantined) {
            $0.append(RecordFlags.of(effect, attempt))
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

    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        let flags = try reader.flags(max: 3)
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

extension OperatorAction {
    fileprivate func write(to output: inout [UInt8]) {
        output.fields(.operatorAction) {
            switch what {
            case .retryParked(let effect):
                $0.append(1)
                $0.effect(effect)
            case .retryQuarantined(let id):
                $0.append(2)
                $0.varint(id)
            case .dropQuarantined(let id):
                $0.append(3)
                $0.varint(id)
            }
            $0.time(time)
        }
        output.string(who)
    }

    fileprivate init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.u8("action")
        switch code {
        case 1: what = .retryParked(try reader.shortEffect())
        case 2: what = .retryQuarantined(try reader.varint())
        case 3: what = .dropQuarantined(try reader.varint())
        default: throw .malformed(what: "action \(code)", offset: reader.position - 1)
        }
        time = try reader.time()
        who = try reader.shortString()
    }
}

extension [UInt8] {
    /// Appends a record's kind and the fields of bounded size behind it: room is made once for all of them.
    @inline(__always)
    fileprivate mutating func fields(_ kind: Record.Kind, _ write: (inout OutputSpan<UInt8>) -> Void) {
        // The largest, a quarantined entry's, take 3 bytes and 11 numbers of at most 10.
        append(addingCapacity: 113) { (span: inout OutputSpan<UInt8>) in
            span.append(kind.rawValue)
            write(&span)
        }
    }

    fileprivate mutating func number(_ value: Int) {
        append(addingCapacity: 10) { (span: inout OutputSpan<UInt8>) in span.varint(UInt64(value)) }
    }

    /// Appends the count of the bytes, and the bytes.
    fileprivate mutating func string(_ text: String) {
        number(text.utf8.count)
        append(contentsOf: text.utf8)
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    fileprivate mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    fileprivate mutating func u64(_ value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    fileprivate mutating func time(_ time: WallTime) { varint(UInt64(bitPattern: time.milliseconds)) }

    fileprivate mutating func effect(_ id: EffectID) {
        varint(UInt64(id.feedback))
        varint(id.seq.value)
        varint(UInt64(id.index))
    }

    fileprivate mutating func attempt(_ attempt: Attempt) {
        varint(attempt.epoch)
        varint(attempt.count)
    }

    /// The effect and the attempt, as far as `RecordFlags` says that they are there.
    fileprivate mutating func owner(_ id: EffectID?, _ attempt: Attempt) {
        if let id { effect(id) }
        if attempt != .none { self.attempt(attempt) }
    }
}

extension ByteReader {
    fileprivate mutating func varint() throws(WireError) -> UInt64 {
        let first = try u8("number")
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7f)
        var shift: UInt64 = 7
        while true {
            let byte = try u8("number")
            // The tenth byte holds one bit; a last byte of zero would be a second spelling.
            guard shift < 63 || byte <= 1, byte != 0 else {
                throw .malformed(what: "a number that is not in its shortest form", offset: position - 1)
            }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    fileprivate mutating func varint32() throws(WireError) -> UInt32 {
        let value = try varint()
        guard let small = UInt32(exactly: value) else {
            throw .malformed(what: "\(value) where a number of 32 bits belongs", offset: position)
        }
        return small
    }

    fileprivate mutating func time() throws(WireError) -> WallTime {
        WallTime(milliseconds: Int64(bitPattern: try varint()))
    }

    fileprivate mutating func session() throws(WireError) -> SessionID { SessionID(try varint()) }

    fileprivate mutating func flags(max: UInt8) throws(WireError) -> UInt8 {
        let flags = try u8("flags")
        guard flags <= max else { throw .malformed(what: "flags \(flags)", offset: position - 1) }
        return flags
    }

    fileprivate mutating func shortEffect() throws(WireError) -> EffectID {
        EffectID(feedback: try varint32(), seq: Seq(try varint()), index: try varint32())
    }

    fileprivate mutating func shortAttempt() throws(WireError) -> Attempt {
        Attempt(epoch: try varint(), count: try varint())
    }

    fileprivate mutating func owner(_ flags: UInt8) throws(WireError) -> (EffectID?, Attempt) {
        let effect = flags & RecordFlags.effect != 0 ? try shortEffect() : nil
        guard flags & RecordFlags.attempt != 0 else { return (effect, .none) }
        let attempt = try shortAttempt()
        guard attempt != .none else { throw .malformed(what: "an attempt that is none", offset: position) }
        return (effect, attempt)
    }

    fileprivate mutating func shortPrefixed() throws(WireError) -> ArraySlice<UInt8> {
        let count = try varint()
        guard let size = Int(exactly: count) else {
            throw .truncated(needed: .max, have: remaining, what: "byte string")
        }
        return try bytes(size, "byte string")
    }

    fileprivate mutating func shortString() throws(WireError) -> String {
        let bytes = try shortPrefixed()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(what: "text that is not UTF-8", offset: position)
        }
        return text
    }
}
