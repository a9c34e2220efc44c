import CBOR
import LoopCore
import LoopKeys
package import LoopWire

// The fields of records as bytes; see `Record`.

extension [UInt8] {
    /// Appends a record's kind and its fields of bounded size. Space is reserved once for all of them.
    /// - Parameter more: how many more bytes `write` appends.
    @inline(__always)
    mutating func fields(_ kind: Record.Kind, and more: Int = 0, _ write: (inout OutputSpan<UInt8>) -> Void) {
        // The largest fields, of a quarantined entry, take 3 bytes and 11 numbers of at most 10 bytes.
        append(addingCapacity: 113 + more) { (span: inout OutputSpan<UInt8>) in
            span.append(kind.rawValue)
            write(&span)
        }
    }

    mutating func number(_ value: Int) {
        append(addingCapacity: 10) { (span: inout OutputSpan<UInt8>) in span.varint(UInt64(value)) }
    }

    /// Appends the number of bytes in UTF-8, and the bytes.
    mutating func string(_ text: String) {
        number(text.utf8.count)
        append(contentsOf: text.utf8)
    }
}

extension OutputSpan<UInt8> {
    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func u64(_ value: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func key(_ key: PublicKey) { for byte in key.bytes { append(byte) } }

    mutating func time(_ time: WallTime) { varint(UInt64(bitPattern: time.milliseconds)) }

    mutating func effect(_ id: EffectID) {
        varint(UInt64(id.feedback))
        varint(id.seq.value)
        varint(UInt64(id.index))
    }

    mutating func attempt(_ attempt: Attempt) {
        varint(attempt.epoch)
        varint(attempt.count)
    }

    /// Appends the effect and the attempt, as far as `RecordFlags` says that they are present.
    mutating func owner(_ id: EffectID?, _ attempt: Attempt) {
        if let id { effect(id) }
        if attempt != .none { self.attempt(attempt) }
    }
}

extension ByteReader {
    mutating func varint() throws(WireError) -> UInt64 {
        let first = try u8("number")
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7f)
        var shift: UInt64 = 7
        while true {
            let byte = try u8("number")
            // The tenth byte has one bit. A last byte of zero would be a second spelling.
            guard shift < 63 || byte <= 1, byte != 0 else {
                throw .malformed(what: "a number that is not in its shortest form", offset: position - 1)
            }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    mutating func varint32() throws(WireError) -> UInt32 {
        let value = try varint()
        guard let small = UInt32(exactly: value) else {
            throw .malformed(what: "\(value) where a number of 32 bits belongs", offset: position)
        }
        return small
    }

    mutating func time() throws(WireError) -> WallTime {
        WallTime(milliseconds: Int64(bitPattern: try varint()))
    }

    /// Reads a key of 32 bytes, which are not all 0.
    mutating func publicKey() throws(WireError) -> PublicKey {
        guard let key = PublicKey(bytes: Array(try bytes(32, "key"))) else {
            throw .malformed(what: "a key of zeros", offset: position)
        }
        return key
    }

    mutating func session() throws(WireError) -> SessionID { SessionID(try varint()) }

    mutating func flags(max: UInt8) throws(WireError) -> UInt8 {
        let flags = try u8("flags")
        guard flags <= max else { throw .malformed(what: "flags \(flags)", offset: position - 1) }
        return flags
    }

    mutating func shortEffect() throws(WireError) -> EffectID {
        EffectID(feedback: try varint32(), seq: Seq(try varint()), index: try varint32())
    }

    mutating func shortAttempt() throws(WireError) -> Attempt {
        Attempt(epoch: try varint(), count: try varint())
    }

    mutating func owner(_ flags: UInt8) throws(WireError) -> (EffectID?, Attempt) {
        let effect = flags & RecordFlags.effect != 0 ? try shortEffect() : nil
        guard flags & RecordFlags.attempt != 0 else { return (effect, .none) }
        let attempt = try shortAttempt()
        guard attempt != .none else { throw .malformed(what: "an attempt that is none", offset: position) }
        return (effect, attempt)
    }

    mutating func shortPrefixed() throws(WireError) -> ArraySlice<UInt8> {
        let count = try varint()
        guard let size = Int(exactly: count) else {
            throw .truncated(needed: .max, have: remaining, what: "byte string")
        }
        return try bytes(size, "byte string")
    }

    mutating func shortString() throws(WireError) -> String {
        let bytes = try shortPrefixed()
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .malformed(what: "text that is not UTF-8", offset: position)
        }
        return text
    }
}

/// One entry of one session.
package struct EntryNumber: Equatable, Sendable {
    /// The session that granted the number.
    package var session: SessionID
    /// The entry's number in its session, from 1.
    package var number: UInt64

    /// Creates the name of an entry from its parts.
    package init(session: SessionID, number: UInt64) {
        self.session = session
        self.number = number
    }
}
