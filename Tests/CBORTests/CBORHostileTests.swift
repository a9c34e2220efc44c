import CBOR
import LoopFuzzing
import Testing

private struct Job: Codable, Equatable {
    var id: UInt64
    var urls: [String]
    var body: [UInt8]
    var headers: [String: String]
    var retry: Retry?
    var weights: [Double]
    var seen: Set<Int>
    enum Retry: Codable, Equatable {
        case never
        case after(seconds: Int, jitter: Float)
    }

    static let sample = Job(
        id: 1 << 40, urls: ["http://a/b#c", "ü"], body: [1, 2, 3], headers: ["Host": "a", "Accept": "*/*"],
        retry: .after(seconds: 30, jitter: 0.5), weights: [1, 2.5, 1e300], seen: [1, 2, 300])
}

/// Reads bytes in every way there is; whatever they are, the outcome is a value or a `WireError`.
private func digest(_ bytes: [UInt8]) {
    func attempt(_ body: () throws(WireError) -> Void) {
        do { try body() } catch { #expect(!error.description.isEmpty) }
    }
    attempt { () throws(WireError) in _ = try CBOR.decode(Job.self, from: bytes) }
    attempt { () throws(WireError) in _ = try CBOR.decode(CBORValue.self, from: bytes) }
    attempt { () throws(WireError) in _ = try CBOR.decode([String: [Int?]].self, from: bytes) }
    attempt { () throws(WireError) in _ = try CBOR.diagnose(bytes) }
    attempt { () throws(WireError) in _ = try CBOR.json(bytes) }
}

@Suite struct `G11 hostile CBOR is boring` {
    @Test func `a document cut at any byte is refused`() throws {
        let bytes = try CBOR.encode(Job.sample)
        #expect(try CBOR.decode(Job.self, from: bytes) == Job.sample)
        for count in bytes.indices {
            #expect(throws: WireError.self) { try CBOR.decode(Job.self, from: Array(bytes[..<count])) }
            digest(Array(bytes[..<count]))
        }
    }

    @Test func `a document with any bit flipped is a value or an error`() throws {
        var bytes = try CBOR.encode(Job.sample)
        for index in bytes.indices {
            for bit in 0..<8 {
                bytes[index] ^= 1 << bit
                digest(bytes)
                bytes[index] ^= 1 << bit
            }
        }
    }

    @Test func `random bytes are a value or an error`() throws {
        var random = SeededGenerator(seed: 42)
        for _ in 0..<4000 {
            let count = Int.random(in: 0..<60, using: &random)
            digest((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
        }
        // Bytes that are heads more often than not, so that the random walk goes deep.
        let heads: [UInt8] = [0x81, 0x82, 0x9F, 0xA1, 0xBF, 0xFF, 0xC1, 0x61, 0x41, 0x7F, 0x5F, 0x00, 0x20, 0xF6, 0xF9]
        for _ in 0..<8000 {
            let count = Int.random(in: 1..<40, using: &random)
            digest((0..<count).map { _ in heads.randomElement(using: &random) ?? 0 })
        }
    }

    @Test func `nesting ends at the limit`() throws {
        func nested(_ depth: Int, _ head: [UInt8]) -> [UInt8] {
            Array(repeating: head, count: depth).flatMap { $0 } + [0x00]
        }
        for head: [UInt8] in [[0x81], [0xA1, 0x00], [0xC1], [0x9F]] {
            let end = head == [0x9F] ? [UInt8](repeating: 0xFF, count: 64) : []
            #expect(throws: Never.self) { try CBOR.diagnose(nested(64, head) + end) }
            for depth in [65, 66, 100_000] {
                #expect(throws: WireError.tooDeep(limit: 64, offset: 64 * head.count)) {
                    try CBOR.diagnose(nested(depth, head))
                }
            }
        }
        #expect(throws: WireError.tooDeep(limit: 2, offset: 2)) {
            try CBOR.decode([[[Int]]].self, from: [0x81, 0x81, 0x81, 0x00], limits: CBORLimits(depthMax: 2))
        }
    }

    @Test func `encoding ends at the same depth as decoding`() throws {
        final class Link: Codable {
            var next: Link?
            init(_ depth: Int) { next = depth > 1 ? Link(depth - 1) : nil }
        }
        let bytes = try CBOR.encode(Link(64))
        #expect(throws: Never.self) { try CBOR.decode(Link.self, from: bytes) }
        #expect(throws: WireError.self) { try CBOR.encode(Link(65)) }
        #expect(throws: WireError.self) { try CBOR.encode([[[1]]], limits: CBORLimits(depthMax: 2)) }
        #expect(throws: Never.self) { try CBOR.encode([[[1]]], limits: CBORLimits(depthMax: 3)) }
    }

    @Test func `a length that is only announced is refused`() {
        for head: UInt8 in [0x5B, 0x7B, 0x9B, 0xBB] {
            for length: UInt64 in [2, 1 << 31, 1 << 62, 1 << 63, .max] {
                let bytes = [head] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) } + [0x00]
                #expect(throws: WireError.self) { try CBOR.decode([UInt8].self, from: bytes) }
                digest(bytes)
            }
        }
    }

    @Test func `a document above the size limit is not looked at`() {
        #expect(throws: WireError.tooLarge(what: "CBOR document", size: 3, limit: 2)) {
            try CBOR.decode([UInt8].self, from: [0x42, 0, 0], limits: CBORLimits(bytesMax: 2))
        }
    }

    @Test func `duplicate keys are found in any order and any encoding`() {
        let documents = [
            "a2 6161 01 6161 02", "a3 6161 01 6162 02 6161 03", "a2 6161 01 780161 02", "a2 6161 01 7f6161ff 02",
            "a2 01 01 1801 02", "bf 6162 01 6161 02 6162 03 ff", "a2 8101 01 8101 02", "81 a2 20 01 3800 02",
            "a2 6161 01 c06161 02",
        ]
        for document in documents {
            #expect(throws: WireError.self, "\(document)") { try CBOR.json(hex(document)) }
            #expect(throws: WireError.self, "\(document)") { try CBOR.decode(CBORValue.self, from: hex(document)) }
        }
    }

    @Test func `large maps in hostile order take time in proportion`() throws {
        // 20,000 keys descending; a struct that asks for keys that are not there; every look-up out of order.
        let count = 20_000
        var bytes: [UInt8] = [0xBA, 0, 0, 0x4E, 0x20]
        for index in (0..<count).reversed() {
            bytes += [0x64] + (0..<4).map { UInt8(97 + index >> (5 * (3 - $0)) & 31) & 0x7F } + [0x01]
        }
        struct Lookups: Decodable {
            var found = 0
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys.reversed() { found += try container.decode(Int.self, forKey: key) }
                for number in 0..<5_000 where container.contains(Key(stringValue: "absent \(number)")) { found = -1 }
            }
        }
        #expect(try CBOR.decode(Lookups.self, from: bytes).found == count)
    }

    @Test func `many failing elements take time in proportion`() throws {
        struct Lossy: Decodable {
            var failures = 0
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                while !container.isAtEnd {
                    if (try? container.decode(Int.self)) == nil {
                        failures += 1
                        _ = try container.superDecoder()
                    }
                }
            }
        }
        let count = 50_000
        let bytes = [0x9A, 0, 0, 0xC3, 0x50] + [UInt8](repeating: 0xF5, count: count)
        #expect(try CBOR.decode(Lossy.self, from: bytes).failures == count)
    }

    @Test func `an encoder that is kept beyond its value is refused and leaves no trace`() throws {
        final class Keeper {
            var kept: (any Encoder)?
        }
        struct Inner: Encodable {
            var keeper: Keeper
            func encode(to encoder: any Encoder) throws {
                keeper.kept = encoder
                var single = encoder.singleValueContainer()
                try single.encode(1)
                #expect(throws: (any Error).self) { try single.encode(2) }
            }
        }
        struct Outer: Encodable {
            func encode(to encoder: any Encoder) throws {
                let keeper = Keeper()
                var list = encoder.unkeyedContainer()
                try list.encode(Inner(keeper: keeper))
                let kept = try #require(keeper.kept)
                var single = kept.singleValueContainer()
                #expect(throws: (any Error).self) { try single.encode(2) }
                var late = kept.unkeyedContainer()
                #expect(throws: (any Error).self) { try late.encode(3) }
                var later = late.nestedUnkeyedContainer()
                #expect(throws: (any Error).self) { try later.encode(4) }
                #expect(kept.codingPath.isEmpty)
                try list.encode(5)
            }
        }
        #expect(try CBOR.encode(Outer()) == [0x82, 1, 5])
    }

    @Test func `a value that asks for containers of two kinds is refused`() {
        struct Both: Encodable {
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                try list.encode(1)
                _ = encoder.container(keyedBy: CodingKeyOfNothing.self)
            }
        }
        #expect(throws: WireError.refused(path: "a", why: "a value asked for containers of two kinds")) {
            try CBOR.encode(["a": Both()])
        }
    }
}

private enum CodingKeyOfNothing: CodingKey {}
