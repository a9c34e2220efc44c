import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `Records as bytes` {
    @Test(arguments: Examples.records.indices)
    func `come back as they were`(index: Int) throws {
        let record = Examples.records[index]
        var reader = ByteReader(Examples.bytes(record))
        #expect(try Record(from: &reader) == record)
        try reader.end()
    }

    @Test func `follow each other without anything between`() throws {
        let bytes = Examples.records.flatMap(Examples.bytes)
        var records: [Record] = []
        try Record.read(bytes[...], into: &records)
        #expect(records == Examples.records)
    }

    @Test func `have an example of every kind`() {
        #expect(Set(Examples.records.map { Examples.bytes($0)[0] }) == Set(1...20))
    }

    @Test(arguments: Examples.records.indices)
    func `that are cut at any byte are an error`(index: Int) {
        let bytes = Examples.bytes(Examples.records[index])
        for count in 0..<bytes.count {
            var reader = ByteReader(bytes[..<count])
            #expect(throws: WireError.self) { try Record(from: &reader) }
        }
    }

    /// A record has one spelling: whatever is read without an error is written with the same bytes.
    @Test(arguments: Examples.records.indices)
    func `with any bit changed are an error or another record`(index: Int) {
        let record = Examples.records[index]
        let bytes = Examples.bytes(record)
        for bit in 0..<bytes.count * 8 {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            var reader = ByteReader(changed)
            guard let other = try? Record(from: &reader) else { continue }
            #expect(other != record || !reader.isAtEnd)
            #expect(Examples.bytes(other) == Array(changed[..<reader.position]))
        }
    }

    /// A number that a field cannot hold is an error; it is not made smaller.
    @Test(arguments: Examples.records.indices)
    func `with the largest number in place of any bytes are an error or keep it`(index: Int) {
        let bytes = Examples.bytes(Examples.records[index])
        let largest = [UInt8](repeating: 0xff, count: 9) + [1]
        for start in 1..<bytes.count {
            for end in start...min(start + 7, bytes.count) {
                let changed = bytes[..<start] + largest + bytes[end...]
                var reader = ByteReader(changed)
                guard let other = try? Record(from: &reader) else { continue }
                #expect(Examples.bytes(other) == Array(changed[..<reader.position]))
            }
        }
    }

    @Test func `of random bytes never trap`() {
        var random = SeededRandom(seed: 1)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            bytes[0] = UInt8.random(in: 1...20, using: &random)
            var reader = ByteReader(bytes)
            guard let record = try? Record(from: &reader) else { continue }
            #expect(Examples.bytes(record) == Array(bytes[..<reader.position]))
        }
    }

    @Test func `refuse numbers in another than their shortest form`() {
        for bytes: [UInt8] in [[7, 0x80, 0x00], [7, 0x81, 0x80, 0x00], [7] + [UInt8](repeating: 0xff, count: 10)] {
            var reader = ByteReader(bytes)
            #expect(throws: WireError.self) { try Record(from: &reader) }
        }
    }

    @Test func `lend an event's bytes from the array that was read`() throws {
        let bytes = Examples.bytes(Examples.records[1])
        var reader = ByteReader(bytes)
        guard case .event(let event) = try Record(from: &reader) else {
            Issue.record("no event")
            return
        }
        let whole = bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let part = event.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(part == whole + UInt(bytes.count - event.bytes.count))
    }
}
