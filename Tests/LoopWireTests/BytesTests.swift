import CBOR
import LoopWire
import Testing

@Suite struct `Bytes` {
    @Test func `numbers are little-endian and come back`() throws {
        var writer = ByteWriter(capacity: 4)
        writer.u8(1)
        writer.u16(0x0203)
        writer.u32(0x0405_0607)
        writer.u64(.max - 1)
        writer.append(bytes: [9, 9])
        writer.u32(2)
        writer.append(bytes: [7, 8])
        #expect(writer.bytes.prefix(7) == [1, 3, 2, 7, 6, 5, 4])
        #expect(writer.count == 23)
        var reader = ByteReader(([0] + writer.bytes)[1...])
        #expect(try reader.u8() == 1)
        #expect(try reader.u16() == 0x0203)
        #expect(try reader.u32() == 0x0405_0607)
        #expect(try reader.u64() == .max - 1)
        #expect(try reader.bytes(2) == [9, 9])
        #expect(reader.rest == [2, 0, 0, 0, 7, 8])
        #expect(try reader.prefixed(max: 2) == [7, 8])
        #expect(reader.isAtEnd)
        #expect(throws: Never.self) { try reader.end() }
    }

    @Test func `the coder of values is CBOR`() throws {
        #expect(try CBORCoder().encode(["a": [1, 2]]) == CBOR.encode(["a": [1, 2]]))
        #expect(try CBORCoder().decode([String: [Int]].self, from: CBOR.encode(["a": [1, 2]])) == ["a": [1, 2]])
    }

    @Test func `a read beyond the end throws and stays where it was`() throws {
        var reader = ByteReader([5, 0, 0, 0, 1])
        #expect(throws: WireError.truncated(needed: 8, have: 5, what: "stamp")) { try reader.u64("stamp") }
        #expect(throws: WireError.truncated(needed: -1, have: 5, what: "bytes")) { try reader.bytes(-1) }
        #expect(throws: WireError.truncated(needed: .max, have: 5, what: "bytes")) { try reader.bytes(.max) }
        #expect(throws: WireError.truncated(needed: 5, have: 1, what: "body")) { try reader.prefixed(max: 10, "body") }
        #expect(throws: WireError.tooLarge(what: "body", size: 5, limit: 4)) { try reader.prefixed(max: 4, "body") }
        #expect(reader.position == 0)
        #expect(throws: WireError.trailingBytes(count: 5, offset: 0)) { try reader.end() }
    }
}
