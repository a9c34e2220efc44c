import LoopCore
import LoopWire
import Testing

// A coder's answers to `allKeys` are taken past the standard library. They are the library's answers.

private enum Keys: String, CodingKey {
    case first, second
    case third = "a name of more than twenty-three bytes"
    case one = "1"
}

/// What a keyed container says of its keys: by the way of an enum's coding, and by the standard library's.
private struct Answers: Decodable, Equatable {
    var taken: [[Keys]] = []
    var librarys: [[Keys]] = []

    init(from decoder: any Decoder) throws {
        func librarys<C: KeyedDecodingContainerProtocol>(_ container: C) -> [C.Key] { container.allKeys }
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
            let container = try list.nestedContainer(keyedBy: Keys.self)
            taken.append(container.allKeys)
            self.librarys.append(librarys(container))
        }
    }
}

private enum Event: Codable, Equatable {
    case plain
    case moved(to: Int)
    case pair(Int, String)
}

/// A coder of somebody else, which has one map and keeps nothing.
private struct OtherDecoder: Decoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(OtherContainer<Key>())
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw WireError.refused(path: "", why: "no list") }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw WireError.refused(path: "", why: "no single value")
    }
}

private struct OtherContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { ["moved", "to"].compactMap(Key.init(stringValue:)) }
    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let value = 7 as? T else { throw WireError.refused(path: key.stringValue, why: "only integers are here") }
        return value
    }
    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Inner> { KeyedDecodingContainer<Inner>(OtherContainer<Inner>()) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw WireError.refused(path: key.stringValue, why: "no list")
    }
    func superDecoder() -> any Decoder { OtherDecoder() }
    func superDecoder(forKey key: Key) -> any Decoder { OtherDecoder() }
}

@Suite struct `G8 kept keys do not show` {
    @Test func `the keys of a map are those that the standard library gives`() throws {
        let maps: [[String: Int]] = [
            ["first": 1], ["second": 1], ["unknown": 1], ["1": 1], [Keys.third.rawValue: 1], [:],
            ["first": 1, "second": 2], ["unknown": 1, "second": 2],
        ]
        for _ in 0..<3 {
            let answers = try CBOR.decode(Answers.self, from: CBOR.encode(maps))
            #expect(answers.taken == answers.librarys)
            #expect(answers.taken.map(\.count) == [1, 1, 0, 1, 1, 0, 2, 1])
            #expect(answers.taken[0] + answers.taken[1] + answers.taken[3] == [.first, .second, .one])
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
            #expect(answers.taken == [[.first], [.first], [.first], [], [.first]])
            #expect(answers.librarys == answers.taken)
        }
    }

    @Test func `a map of one entry whose length is open has one key`() throws {
        for _ in 0..<3 {
            let answers = try CBOR.decode(Answers.self, from: [0x81, 0xBF, 0x61, 0x31, 0, 0xFF])
            #expect(answers.taken == [[.one]])
            #expect(answers.librarys == answers.taken)
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

    @Test func `coders of others are asked as always`() throws {
        _ = try CBOR.decode(Event.self, from: CBOR.encode(Event.plain))
        #expect(try Event(from: OtherDecoder()) == .moved(to: 7))
        #expect(OtherDecoder().container(keyedBy: Keys.self).allKeys == [])
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
