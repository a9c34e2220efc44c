import LoopWire
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
