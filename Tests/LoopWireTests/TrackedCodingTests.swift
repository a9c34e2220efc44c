import CBOR
import LoopCore
import LoopWire
import Testing

@Suite struct `Large tracked dictionaries as bytes` {
    private typealias Titles = TrackedDictionary<Int, String>

    /// Larger than one bucket of the index, and than a branch of them.
    private static let titles = Titles((0..<20_000).map { ($0 * 7 % 20_011, "title \($0)") })

    @Test func `come back whole, in order, and every key is found`() throws {
        let bytes = try CBOR.encode(Self.titles)
        var decoded = try CBOR.decode(Titles.self, from: bytes)
        #expect(decoded == Self.titles)
        #expect(try CBOR.encode(decoded) == bytes)
        for (key, title) in Self.titles { #expect(decoded[key] == title) }
        #expect(decoded[-1] == nil)
        // What was made at once changes as what was made key by key.
        var model = Self.titles
        for key in 0..<20_011 where key % 3 == 0 {
            decoded[key] = nil
            model[key] = nil
        }
        for key in 0..<20_011 where key % 2 == 0 {
            decoded[key] = "again"
            model[key] = "again"
        }
        #expect(decoded == model)
        for key in 0..<20_011 { #expect(decoded[key] == model[key]) }
    }

    @Test func `are refused with a key that is there twice, wherever it is`() throws {
        for place in [0, 7, 8, 9999, 19_999] {
            let key = Self.titles[Self.titles.index(Self.titles.startIndex, offsetBy: place)].key
            let parts = Self.titles.map { ($0.key, $0.value) } + [(key, "twice")]
            let bytes = try CBOR.encode(Pairs(entries: parts))
            #expect(throws: WireError.self) { try CBOR.decode(Titles.self, from: bytes) }
        }
    }

    @Test func `are refused with a key that has no value, and with a value of another type`() throws {
        for count in [0, 3, 8, 1000] {
            let head = Self.titles.prefix(count).map { ($0.key, $0.value) }
            #expect(throws: WireError.self) {
                try CBOR.decode(Titles.self, from: try CBOR.encode(Pairs(entries: head, last: 30_000)))
            }
            #expect(throws: (any Error).self) {
                try CBOR.decode(
                    TrackedDictionary<Int, Int>.self, from: try CBOR.encode(Pairs(entries: head + [(1, "")])))
            }
        }
    }

    @Test func `say what has changed since they were read`() throws {
        var later = try CBOR.decode(Titles.self, from: try CBOR.encode(Self.titles))
        let base = try DeltaBase(of: later)
        later[7] = "changed"
        later[14] = nil
        later[50_000] = "new"
        #expect(
            try CBOR.diagnose(Delta.encode(since: base, to: later)) == #"[[], [14], [7, "changed"], [50000, "new"]]"#)
    }

    /// Keys and values in turn, as a dictionary is encoded, and a key after them.
    private struct Pairs: Encodable {
        let entries: [(Int, String)]
        var last: Int?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for (key, value) in entries {
                try container.encode(key)
                try container.encode(value)
            }
            if let last { try container.encode(last) }
        }
    }
}
