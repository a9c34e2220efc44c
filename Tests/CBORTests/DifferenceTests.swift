import CBOR
import Testing

@Suite struct `The difference of two documents` {
    private func differences(_ old: String, _ new: String, max: Int = 100) throws -> [String] {
        let (old, new) = (try CBOR.fromJSON(text: old), try CBOR.fromJSON(text: new))
        return try CBOR.differences(from: old, to: new, max: max).differences.map { difference in
            let values = try [difference.old, difference.new].map { try $0.map { try CBOR.json($0) } ?? "absent" }
            return "\(difference.path.joined(separator: ".")): \(values[0]) → \(values[1])"
        }
    }

    @Test func `is the parts that differ, by key path`() throws {
        #expect(try differences(#"{"a":1,"b":[1,2]}"#, #"{"a":1,"b":[1,2]}"#) == [])
        #expect(
            try differences(#"{"a":1,"b":[1,2],"c":{"d":true}}"#, #"{"a":2,"b":[1,3,4],"c":{"d":true}}"#)
                == ["a: 1 → 2", "b.1: 2 → 3", "b.2: absent → 4"])
        #expect(try differences("1", #""x""#) == [#": 1 → "x""#])
        #expect(try differences(#"{"a":{}}"#, #"{"a":[]}"#) == ["a: {} → []"])
    }

    @Test func `does not depend on the order of keys`() throws {
        #expect(
            try differences(#"{"a":1,"b":2,"c":3}"#, #"{"c":3,"a":1,"d":4}"#) == ["d: absent → 4", "b: 2 → absent"])
    }

    @Test func `ends after as many parts as were asked for`() throws {
        let (old, new) = (try CBOR.fromJSON(text: "[1,2,3]"), try CBOR.fromJSON(text: "[4,5,6]"))
        let found = try CBOR.differences(from: old, to: new, max: 2)
        #expect(found.differences.count == 2 && found.isCut)
        #expect(try !CBOR.differences(from: old, to: new, max: 3).isCut)
    }
}

@Suite struct `The outline of a document` {
    @Test func `has the selected entries with their sizes`() throws {
        let bytes = try CBOR.fromJSON(text: #"{"a":[1,2,3],"b":"text","c":{}}"#)
        let outline = try CBOR.outline(of: bytes, entries: 0..<2)
        #expect(outline.whole.kind == .map && outline.whole.count == 3 && outline.whole.size == bytes.count)
        #expect(outline.entries.map(\.name) == ["a", "b"])
        #expect(outline.entries.map(\.kind) == [.array, .value])
        #expect(outline.entries.map(\.count) == [3, 0])
        #expect(try CBOR.json(outline.entries[1].value) == #""text""#)
        #expect(try CBOR.outline(of: bytes, entries: 2..<9).entries.map(\.name) == ["c"])
        #expect(try CBOR.outline(of: [0x82, 1, 2], entries: 1..<9).entries.map(\.name) == ["1"])
    }

    @Test func `leaves values of more than 256 bytes out`() throws {
        let texts = [253, 254].map { String(repeating: "x", count: $0) }
        let entries = try CBOR.outline(of: CBOR.encode(texts), entries: 0..<2).entries
        #expect(entries.map(\.size) == [255, 256])
        #expect(entries.allSatisfy { $0.value.count == $0.size })
        let longer = try CBOR.outline(of: CBOR.encode([String(repeating: "x", count: 255)]), entries: 0..<1).entries
        #expect(longer.map(\.size) == [257] && longer.map(\.value) == [[]])
    }

    @Test func `of a value has no entries, and of broken bytes there is none`() throws {
        #expect(try CBOR.outline(of: [7], entries: 0..<9).entries.isEmpty)
        #expect(throws: WireError.self) { try CBOR.outline(of: [0x82, 1], entries: 0..<9) }
    }
}
