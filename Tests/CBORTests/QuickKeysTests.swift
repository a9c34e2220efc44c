import CBOR
import Testing

// The coder writes values of known keys in the order of the keys, without an entry for each. None of that may show.

private enum Keys: String, CodingKey, CaseIterable {
    case number, natural, small, half, float, text, long, flag, list, point, absent
    case nothing = "a key of more than twenty-three bytes"
}

private struct Point: Codable, Equatable {
    var y = 1.5
    var x = -2
}

/// A value of each kind, written in another order than that of the keys.
private struct Mixed: Codable, Equatable {
    var number: Int64 = -3
    var natural: UInt64 = .max
    var small: Int8 = -128
    var half: UInt16 = 65535
    var float: Float = 0.1
    var text = "kurz"
    var long = String(repeating: "länger als das, was in einen String passt; ", count: 9)
    var flag = true
    var list = [1, 2, 3]
    var point = Point()

    init() {}

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(number, forKey: .number)
        try container.encode(natural, forKey: .natural)
        try container.encode(small, forKey: .small)
        try container.encode(half, forKey: .half)
        try container.encode(float, forKey: .float)
        try container.encode(text, forKey: .text)
        try container.encode(long, forKey: .long)
        try container.encode(flag, forKey: .flag)
        try container.encode(list, forKey: .list)
        try container.encode(point, forKey: .point)
        try container.encodeNil(forKey: .absent)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        number = try container.decode(Int64.self, forKey: .number)
        natural = try container.decode(UInt64.self, forKey: .natural)
        small = try container.decode(Int8.self, forKey: .small)
        half = try container.decode(UInt16.self, forKey: .half)
        float = try container.decode(Float.self, forKey: .float)
        text = try container.decode(String.self, forKey: .text)
        long = try container.decode(String.self, forKey: .long)
        flag = try container.decode(Bool.self, forKey: .flag)
        list = try container.decode([Int].self, forKey: .list)
        point = try container.decode(Point.self, forKey: .point)
    }
}

private func text(_ value: some Encodable) throws -> String { try CBOR.diagnose(CBOR.encode(value)) }

@Suite struct `G8 values of known keys do not show` {
    @Test func `values of every type come back, in the order of their keys`() throws {
        let one =
            #"{"flag": true, "half": 65535, "list": [1, 2, 3], "long": "\#(Mixed().long)", "text": "kurz", "#
            + #""float": \#(Double(0.1 as Float)), "point": {"x": -2, "y": 1.5}, "small": -128, "absent": null, "number": -3, "natural": \#(UInt64.max)}"#
        for _ in 0..<3 {
            let bytes = try CBOR.encode([Mixed(), Mixed()])
            #expect(try CBOR.diagnose(bytes) == "[\(one), \(one)]")
            #expect(try CBOR.decode([Mixed].self, from: bytes) == [Mixed(), Mixed()])
        }
    }

    @Test func `the last of several values for a key counts, also after a container`() throws {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(1, forKey: .number)
                try container.encode("a", forKey: .text)
                var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .point)
                try inner.encode(true, forKey: .flag)
                try container.encode(2, forKey: .number)
                var more = container.nestedContainer(keyedBy: Keys.self, forKey: .point)
                try more.encode(3, forKey: .number)
                try inner.encode(4, forKey: .small)
                try container.encode(5, forKey: .nothing)
                try container.encode("b", forKey: .text)
            }
        }
        let one =
            #"{"text": "b", "point": {"flag": true, "small": 4, "number": 3}, "number": 2, "\#(Keys.nothing.rawValue)": 5}"#
        for _ in 0..<3 { #expect(try text([Twice(), Twice()]) == "[\(one), \(one)]") }
    }

    @Test func `one map is written through containers of two types of keys, and through one after the other`() throws {
        enum Others: CodingKey { case other, number }
        struct Two: Encodable {
            func encode(to encoder: any Encoder) throws {
                do {
                    var first = encoder.container(keyedBy: Keys.self)
                    try first.encode(1, forKey: .number)
                }
                var others = encoder.container(keyedBy: Others.self)
                try others.encode(2, forKey: .other)
                var again = encoder.container(keyedBy: Keys.self)
                try again.encode("c", forKey: .text)
                try others.encode(3, forKey: .number)
                try again.encode(Point(), forKey: .point)
            }
        }
        let one = #"{"text": "c", "other": 2, "point": {"x": -2, "y": 1.5}, "number": 3}"#
        for _ in 0..<3 { #expect(try text([Two(), Two()]) == "[\(one), \(one)]") }
    }

    @Test func `a value that throws leaves nothing in the encoding`() throws {
        struct Refused: Error {}
        struct Half: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode("half", forKey: .text)
                throw Refused()
            }
        }
        struct Whole: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(1, forKey: .number)
                #expect(throws: Refused.self) { try container.encode(Half(), forKey: .text) }
                #expect(throws: Refused.self) { try container.encode(Half(), forKey: .nothing) }
                #expect(throws: Refused.self) { try container.encode([Half()], forKey: .list) }
                try container.encode(true, forKey: .flag)
            }
        }
        for _ in 0..<3 { #expect(try text(Whole()) == #"{"flag": true, "number": 1}"#) }
    }

    @Test func `a write outside of the value that is being written is refused`() throws {
        final class Outer: @unchecked Sendable {
            var container: KeyedEncodingContainer<Keys>?
            var refusals = 0
            func write() {
                do { try container?.encode(1, forKey: .number) } catch { refusals += 1 }
            }
        }
        struct Plain: Encodable {
            let outer: Outer
            func encode(to encoder: any Encoder) throws {
                outer.write()
                var container = encoder.container(keyedBy: Keys.self)
                try container.encode(2, forKey: .number)
                outer.write()
            }
        }
        struct Around: Encodable {
            let outer: Outer
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                outer.container = container
                try container.encode(Plain(outer: outer), forKey: .point)
                try container.encode([Plain(outer: outer)], forKey: .list)
                try container.encode(["a": Plain(outer: outer)], forKey: .text)
                try container.encode(false, forKey: .flag)
                var list = container.nestedUnkeyedContainer(forKey: .long)
                var inner = list.nestedContainer(keyedBy: Keys.self)
                outer.container = inner
                try list.encode(Plain(outer: outer))
                try list.encode(Set([1]))
                try inner.encode(4, forKey: .number)
            }
        }
        let outer = Outer()
        for round in 1...3 {
            let bytes = try CBOR.encode(Around(outer: outer))
            #expect(
                try CBOR.diagnose(bytes)
                    == #"{"flag": false, "list": [{"number": 2}], "long": [{"number": 4}, {"number": 2}, [1]], "#
                    + #""text": {"a": {"number": 2}}, "point": {"number": 2}}"#)
            #expect(outer.refusals == 8 * round)
            // Nor is anything written when the value is done.
            outer.write()
            #expect(outer.refusals == 8 * round + 1)
            outer.refusals -= 1
        }
    }

    @Test func `large maps are put in order as small ones`() throws {
        struct Large: Codable, Equatable {
            var z = [UInt8](repeating: 7, count: 100_000)
            var middle = String(repeating: "m", count: 40_000)
            var a = 1
        }
        for _ in 0..<3 {
            let bytes = try CBOR.encode([Large(), Large()])
            #expect(try CBOR.decode([Large].self, from: bytes) == [Large(), Large()])
            #expect(Array(bytes[..<5]) == [0x82, 0xA3, 0x61, 0x61, 1])
        }
    }
}
