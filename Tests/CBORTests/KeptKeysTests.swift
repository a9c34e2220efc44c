import CBOR
import Testing

// The coder keeps its answers to `allKeys`. That may not show.

private enum Keys: String, CodingKey {
    case first, second
    case third = "a name of more than twenty-three bytes"
    case one = "1"
}

/// What keyed containers say of their keys, one for each map of a list.
private struct Answers: Decodable {
    var keys: [[Keys]] = []

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd { keys.append(try list.nestedContainer(keyedBy: Keys.self).allKeys) }
    }
}

private enum Event: Codable, Equatable {
    case plain
    case moved(to: Int)
    case pair(Int, String)
}

@Suite struct `G8 kept keys do not show` {
    @Test func `the keys of a map are those that its type of keys knows`() throws {
        let maps: [[String: Int]] = [
            ["first": 1], ["second": 1], ["unknown": 1], ["1": 1], [Keys.third.rawValue: 1], [:],
            ["first": 1, "second": 2], ["unknown": 1, "second": 2],
        ]
        for _ in 0..<3 {
            let answers = try CBOR.decode(Answers.self, from: CBOR.encode(maps))
            #expect(answers.keys.map(\.count) == [1, 1, 0, 1, 1, 0, 2, 1])
            #expect(answers.keys[0] + answers.keys[1] + answers.keys[3] == [.first, .second, .one])
        }
    }

    @Test func `keys in any form, and keys that are no text`() throws {
        // [{"first" in two chunks: 1}, {"first", its length in two bytes: 1}, {tagged "first": 1}, {1: 1}, {"first": 1}]
        let first = Array("first".utf8)
        let list: [[UInt8]] = [
            [0x85, 0xA1, 0x7F, 0x62], Array(first[..<2]), [0x63], Array(first[2...]), [0xFF, 1, 0xA1, 0x78, 5], first,
            [1, 0xA1, 0xC6, 0x65], first, [1, 0xA1, 1, 1, 0xA1, 0x65], first, [1],
        ]
        for _ in 0..<3 {
            let answers = try CBOR.decode(Answers.self, from: Array(list.joined()))
            #expect(answers.keys == [[.first], [.first], [.first], [], [.first]])
        }
    }

    @Test func `a map of one entry whose length is open has one key`() throws {
        for _ in 0..<3 {
            let answers = try CBOR.decode(Answers.self, from: [0x81, 0xBF, 0x61, 0x31, 0, 0xFF])
            #expect(answers.keys == [[.one]])
        }
    }

    @Test func `an enum is one of its cases, however often it was read`() throws {
        for _ in 0..<3 {
            for event in [Event.plain, .moved(to: -4), .pair(1, "two"), .plain] {
                #expect(try CBOR.decode(Event.self, from: CBOR.encode(event)) == event)
            }
            for map in [[:], ["unknown": [0: 0]], ["plain": [:], "moved": [0: 0]], ["plain ": [:]]] {
                #expect(throws: WireError.self) { try CBOR.decode(Event.self, from: CBOR.encode(map)) }
            }
        }
    }

    @Test func `a container of the standard library is one reference, or nothing is kept of it`() throws {
        struct Looked: Encodable {
            func encode(to encoder: any Encoder) throws {
                let container = encoder.container(keyedBy: Keys.self)
                #if PORTABLE
                    #expect(KeptObject.object(of: container) == nil)
                #else
                    #expect(KeptObject.object(of: container) != nil)
                #endif
            }
        }
        _ = try CBOR.encode(Looked())
        // As large as a reference, and made of two.
        #expect(KeptObject.object(of: (Int32(1), Int32(2))) == nil)
        #expect(KeptObject.object(of: "a text") == nil)
    }

    @Test func `threads do not meet`() async throws {
        let events: [Event] = (0..<40).map { $0 % 3 == 0 ? .plain : $0 % 3 == 1 ? .moved(to: $0) : .pair($0, "p") }
        let bytes = try CBOR.encode(events)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<50).allSatisfy { _ in (try? CBOR.decode([Event].self, from: bytes)) == events } }
            }
            for await isSame in group { #expect(isSame) }
        }
    }
}
