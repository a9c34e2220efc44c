import CBOR
import Testing

@Suite struct `G8 the same value has the same bytes` {
    @Test func `the order of insertion does not show`() throws {
        var random = SeededGenerator(seed: 11)
        var keys = (0..<200).map { "key \($0 * $0)" }
        var dictionaries: Set<[UInt8]> = []
        var sets: Set<[UInt8]> = []
        for capacity in [0, 100, 1000, 5000] {
            keys.shuffle(using: &random)
            var dictionary: [String: Int] = [:]
            var set: Set<String> = []
            dictionary.reserveCapacity(capacity)
            set.reserveCapacity(capacity)
            for key in keys {
                dictionary[key] = key.utf8.count
                set.insert(key)
            }
            dictionaries.insert(try CBOR.encode(dictionary))
            sets.insert(try CBOR.encode(set))
        }
        #expect(dictionaries.count == 1)
        #expect(sets.count == 1)
    }

    @Test func `keys ascend by their encoded bytes`() throws {
        struct Keyed: Encodable {
            var zz = 1
            var a = 2
            var thisKeyIsLongerThanTwentyThreeBytes = 3
            var b = 4
            var abcdefghij = 5
            var abcdefghii = 6
        }
        #expect(
            try CBOR.diagnose(CBOR.encode(Keyed()))
                == #"{"a": 2, "b": 4, "zz": 1, "abcdefghii": 6, "abcdefghij": 5, "thisKeyIsLongerThanTwentyThreeBytes": 3}"#
        )
        #expect(try CBOR.diagnose(CBOR.encode([true: 1, false: 2])) == "{false: 2, true: 1}")
        #expect(try CBOR.diagnose(CBOR.encode(Set([300, 2, -1, 24]))) == "[2, 24, 300, -1]")
        #expect(try CBOR.diagnose(CBOR.encode(Set(["bb", "c", "a"]))) == #"["a", "c", "bb"]"#)
    }

    @Test(arguments: [2, 3, 23, 24, 40, 300], [60_000, 70_000, 200_000])
    func `a map with one large value has its keys in order too, wherever that one was written`(
        count: Int, size: Int
    ) throws {
        let names = (0..<count).map { "name \($0 * 7919 % 1009)" }
        let inOrder = names.sorted { $0.utf8.count == $1.utf8.count ? $0 < $1 : $0.utf8.count < $1.utf8.count }
        for large in [0, count / 2, count - 1] {
            let fields = names.enumerated().map { Fields.Field($1, bytes: $0 == large ? size : $0 % 50) }
            let bytes = try CBOR.encode(["around": Fields(fields)])
            // Written in order, nothing has to be moved.
            let sorted = inOrder.compactMap { name in fields.first { $0.name == name } }
            #expect(bytes == (try CBOR.encode(["around": Fields(sorted)])))
            #expect(try CBOR.decode([String: [String: [UInt8]]].self, from: bytes)["around"]?.count == count)
        }
    }

    @Test func `of a large value that is written twice the last counts`() throws {
        let fields = [Fields.Field("b", bytes: 90_000), .init("a", bytes: 3), .init("b", bytes: 100_000)]
        #expect(try CBOR.encode(Fields(fields)) == CBOR.encode(Fields([fields[1], fields[2]])))
    }

    @Test func `keys with one encoding are refused, since none of them is the last`() throws {
        struct Blind: Codable, Hashable {
            var hidden: Int
            init(_ hidden: Int) { self.hidden = hidden }
            func encode(to encoder: any Encoder) throws {
                var single = encoder.singleValueContainer()
                try single.encode("same")
            }
        }
        #expect(throws: WireError.self) { try CBOR.encode([Blind(1): 1, Blind(2): 2]) }
        #expect(throws: WireError.self) { try CBOR.encode(["in": Set([Blind(1), Blind(2)])]) }
    }
}

/// A map whose keys are written in the order given.
private struct Fields: Encodable {
    struct Field {
        let name: String
        let content: [UInt8]

        init(_ name: String, bytes: Int) {
            self.name = name
            content = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ name.utf8.count) }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let fields: [Field]

    init(_ fields: [Field]) { self.fields = fields }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for field in fields { try container.encode(field.content, forKey: Name(stringValue: field.name)) }
    }
}
