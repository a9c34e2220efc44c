import CBOR
import Testing

@Suite struct `CBOR decoding` {
    private struct Person: Codable, Equatable {
        var name: String
        var age: UInt8?
        var height: Double
    }

    private func person(_ document: String) throws -> Person {
        try CBOR.decode(Person.self, from: CBOR.fromJSON(text: document))
    }

    @Test func `an unknown key is skipped`() throws {
        #expect(
            try person(#"{"extra": {"deep": [1, {"a": 2}]}, "name": "N", "more": [[]], "height": 2, "age": 3}"#)
                == Person(name: "N", age: 3, height: 2))
    }

    @Test func `an optional field is null or absent`() throws {
        #expect(try person(#"{"name": "N", "height": 1.5, "age": null}"#).age == nil)
        #expect(try person(#"{"name": "N", "height": 1.5}"#).age == nil)
    }

    @Test func `errors say where and what`() {
        #expect(throws: WireError.keyMissing(path: "the top level", key: "name")) { try person(#"{"height": 1}"#) }
        #expect(throws: WireError.outOfRange(path: "age", type: "UInt8", value: "256")) {
            try person(#"{"name": "N", "age": 256, "height": 1}"#)
        }
        #expect(throws: WireError.outOfRange(path: "age", type: "UInt8", value: "-1")) {
            try person(#"{"name": "N", "age": -1, "height": 1}"#)
        }
        #expect(throws: WireError.typeMismatch(path: "height", expected: "a number", found: #""tall""#)) {
            try person(#"{"name": "N", "height": "tall"}"#)
        }
        #expect(throws: WireError.typeMismatch(path: "[1].people[0].name", expected: "text", found: "[1, 2]")) {
            try CBOR.decode(
                [[String: [Person]]].self,
                from: CBOR.fromJSON(text: #"[{}, {"people": [{"height": 1, "name": [1, 2]}]}]"#))
        }
        #expect(throws: WireError.typeMismatch(path: "the top level", expected: "an integer", found: "1.0")) {
            try CBOR.decode(Int.self, from: [0xF9, 0x3C, 0x00])
        }
        #expect(throws: WireError.outOfRange(path: "the top level", type: "Int", value: "-18446744073709551616")) {
            try CBOR.decode(Int.self, from: hex("3bffffffffffffffff"))
        }
        #expect(throws: WireError.trailingBytes(count: 1, offset: 1)) { try CBOR.decode(Int.self, from: [1, 2]) }
        #expect(throws: WireError.truncated(needed: 1, have: 0, what: "CBOR item")) {
            try CBOR.decode(Int.self, from: [])
        }
        #expect(throws: WireError.malformed(what: "text that is not UTF-8", offset: 0)) {
            try CBOR.decode(String.self, from: [0x61, 0xFF])
        }
    }

    @Test func `a failing coding of a type keeps its place`() {
        enum Mode: String, Codable { case on }
        struct Two: Codable { var first: Int, mode: Mode }
        #expect {
            try CBOR.decode(Two.self, from: CBOR.fromJSON(text: #"{"first": 1, "mode": "off"}"#))
        } throws: { error in
            guard case .refused(let path, _)? = error as? WireError else { return false }
            return path == "mode"
        }
    }

    @Test func `integers stand for floats, arrays of numbers for bytes, text for integer keys`() throws {
        #expect(try CBOR.decode([Double].self, from: [0x82, 0x01, 0x20]) == [1, -1])
        #expect(try CBOR.decode(Double.self, from: hex("3bffffffffffffffff")) == -0x1p64)
        #expect(try CBOR.decode([UInt8].self, from: [0x82, 0x01, 0x18, 0xFF]) == [1, 255])
        #expect(throws: WireError.outOfRange(path: "[1]", type: "UInt8", value: "256")) {
            try CBOR.decode([UInt8].self, from: hex("8201190100"))
        }
        #expect(try CBOR.decode([Int: Bool].self, from: CBOR.fromJSON(text: #"{"-7": true}"#)) == [-7: true])
        #expect(throws: WireError.self) {
            try CBOR.decode([Int: Bool].self, from: CBOR.fromJSON(text: #"{"x": true}"#))
        }
        #expect(try CBOR.decode(Float.self, from: CBOR.encode(0.1)) == 0.1)
        #expect(throws: WireError.self) { try CBOR.decode(Float.self, from: CBOR.encode(1e300)) }
    }

    @Test func `indefinite lengths and tags read like plain ones`() throws {
        #expect(try CBOR.decode([String].self, from: hex("9f 7f 6161 6162 ff c1 6163 ff")) == ["ab", "c"])
        #expect(try CBOR.decode([UInt8].self, from: hex("5f 4101 40 420203 ff")) == [1, 2, 3])
        #expect(
            try CBOR.decode(Person.self, from: hex("bf 7f 62 6e61 62 6d65 ff 61 4e c1 66686569676874 f93c00 ff"))
                == Person(name: "N", age: nil, height: 1))
    }

    @Test func `a set or dictionary with an element twice is refused`() {
        #expect(throws: WireError.self) { try CBOR.decode(Set<Int>.self, from: [0x82, 1, 1]) }
        // The letter e with acute, composed and decomposed: two keys in bytes, one String.
        #expect(throws: WireError.self) { try CBOR.decode([String: Int].self, from: hex("a2 62c3a9 01 6365cc81 02")) }
        #expect(throws: WireError.self) { try CBOR.decode([Double: Int].self, from: hex("a2 f93c00 01 01 02")) }
    }
}
