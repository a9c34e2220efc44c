import CBOR
import LoopCore
import LoopWire

/// Encodes the few types of the simulator's loop by hand, and any other type as CBOR. It is deterministic, and fast enough for
/// millions of events.
package struct SlotCoder: ValueCoder {
    package init() {}

    package func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        var writer = ByteWriter(capacity: 88)
        // The usual types come first, because a look-up of a conformance at run time costs more than the coding.
        if let event = value as? SlotEvent {
            event.write(to: &writer)
        } else if let number = value as? UInt64 {
            number.write(to: &writer)
        } else if let value = value as? any SlotCodable {
            value.write(to: &writer)
        } else {
            return try CBOR.encode(value)
        }
        return writer.bytes
    }

    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        if type == SlotEvent.self, let event = try SlotEvent.read(bytes) as? Value { return event }
        if type == SlotState.self, let state = try SlotState.read(bytes) as? Value { return state }
        guard let codable = type as? any SlotCodable.Type else { return try CBOR.decode(type, from: bytes) }
        guard let value = try codable.read(bytes) as? Value else {
            throw WireError.refused(path: "", why: "not a \(Value.self)")
        }
        return value
    }
}

/// A type that ``SlotCoder`` encodes by hand.
protocol SlotCodable {
    func write(to writer: inout ByteWriter)
    init(from reader: inout ByteReader) throws(WireError)
}

extension SlotCodable {
    fileprivate static func read(_ bytes: [UInt8]) throws(WireError) -> Self {
        var reader = ByteReader(bytes)
        let value = try Self(from: &reader)
        try reader.end()
        return value
    }
}

extension UInt64: SlotCodable {
    func write(to writer: inout ByteWriter) { writer.u64(self) }
    init(from reader: inout ByteReader) throws(WireError) { self = try reader.u64() }
}

extension SlotEvent: SlotCodable {
    func write(to writer: inout ByteWriter) {
        writer.u8(kind.rawValue)
        writer.u8(UInt8(truncatingIfNeeded: slot))
        writer.u64(id)
    }

    init(from reader: inout ByteReader) throws(WireError) {
        guard let kind = Kind(rawValue: try reader.u8()) else { throw .malformed(what: "a slot event", offset: 0) }
        let slot = Int(try reader.u8())
        self.init(kind: kind, slot: slot, id: try reader.u64())
    }
}

extension SlotState: SlotCodable {
    func write(to writer: inout ByteWriter) {
        for slot in slots {
            writer.u8(slot.isWanted ? 1 : 0)
            writer.u64(slot.version)
        }
        writer.u8(UInt8(truncatingIfNeeded: marks.count))
        for (slot, id) in marks {
            writer.u64(slot)
            writer.u64(id)
        }
        writer.u64(digest)
        if let deadlines {
            writer.u8(UInt8(truncatingIfNeeded: deadlines.count))
            for (key, time) in deadlines {
                writer.u64(key)
                writer.u64(UInt64(bitPattern: time.milliseconds))
            }
        }
        if let endedBy { writer.u64(endedBy) }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        self.init()
        for index in slots.indices {
            let isWanted = try reader.u8() == 1
            set(Slot(isWanted: isWanted, version: try reader.u64()), at: index)
        }
        for _ in 0..<(try reader.u8()) { marks[try reader.u64()] = try reader.u64() }
        digest = try reader.u64()
        // Without deadlines, at most one number follows. Deadlines have another number of bytes.
        if reader.remaining != 0, reader.remaining != 8 {
            var deadlines = TrackedDictionary<UInt64, WallTime>()
            for _ in 0..<(try reader.u8()) {
                let key = try reader.u64()
                deadlines[key] = WallTime(milliseconds: Int64(bitPattern: try reader.u64()))
            }
            self.deadlines = deadlines
        }
        if !reader.isAtEnd { endedBy = try reader.u64() }
    }
}
