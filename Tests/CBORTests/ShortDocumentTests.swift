import CBOR
import Testing

// Documents up to 512 bytes are copied to where their ends need no care; longer ones are read where they lie.

private struct Note: Codable, Equatable {
    var text: String
    var part: Double?
    var numbers: [String: Int]
}

@Suite struct `G11 the end of a document is where it says` {
    @Test func `documents around the length up to which they are copied are read alike`() throws {
        var sizes: Set<Int> = []
        for length in 450...480 {
            let note = Note(text: String(repeating: "x", count: length), part: 0.1, numbers: ["a": 1, "bcdefgh": -1])
            let bytes = try CBOR.encode(note)
            sizes.insert(bytes.count)
            #expect(try CBOR.decode(Note.self, from: bytes) == note)
            for cut in 1...60 {
                #expect(throws: WireError.self) { try CBOR.decode(Note.self, from: bytes.dropLast(cut)) }
            }
            let more = #expect(throws: WireError.self) { try CBOR.decode(Note.self, from: bytes + [0]) }
            #expect(more == .trailingBytes(count: 1, offset: bytes.count))
        }
        #expect(sizes.isSuperset(of: [511, 512, 513]))
    }

    @Test func `what was read before is not taken for the end of what comes`() throws {
        let long: [UInt8] = try CBOR.encode(["abcdefgh": 1, "abcdefghi": 2, "abcdefghij": 3])
        for cut in 1..<long.count {
            #expect(try CBOR.decode([String: Int].self, from: long).count == 3)
            // The rest of the entries lay after these bytes a moment ago.
            #expect(throws: WireError.self) { try CBOR.decode([String: Int].self, from: long[..<(long.count - cut)]) }
        }
        // A key that would end after the document, one that would end with it, and texts as values.
        for bytes: [UInt8] in [
            [0xA1, 0x66, 0x61], [0xA1, 0x61, 0x61], [0xA1, 0x61, 0x61, 0x62, 0x61], [0xA1, 0x77],
        ] {
            #expect(throws: WireError.self) { try CBOR.decode([String: String].self, from: bytes) }
        }
    }

    @Test func `texts of every short length, of letters and beyond, are read as they were written`() throws {
        for length in 0...40 {
            for filler: Character in ["x", "ß", "é", "€", "😀"] {
                let text = String(repeating: "a", count: length) + String(filler)
                for value in [text, String(text.reversed()), String(repeating: filler, count: length)] {
                    #expect(try CBOR.decode(String.self, from: CBOR.encode(value)) == value)
                    let note = Note(text: value, part: nil, numbers: [value: 1])
                    #expect(try CBOR.decode(Note.self, from: CBOR.encode(note)) == note)
                    #expect(try CBOR.decode([String].self, from: CBOR.encode([value, value])) == [value, value])
                }
            }
        }
        // A text that is not UTF-8 is refused at every short length.
        for length in 1...30 {
            for place in 0..<length {
                var text = [UInt8](repeating: 0x61, count: length)
                text[place] = 0xC3
                #expect(throws: WireError.self) {
                    try CBOR.decode(
                        String.self, from: (length < 24 ? [0x60 | UInt8(length)] : [0x78, UInt8(length)]) + text)
                }
            }
        }
    }

    @Test func `every head that is a document of its own is what it says, and nothing after it`() throws {
        // Without maps, whose keys would be the same here: a diagnosis shows them, and reading refuses them.
        for first in UInt8.min...UInt8.max where first >> 5 != 5 {
            for length in 0...9 {
                let bytes = [first] + [UInt8](repeating: 0x20, count: length)
                let isRead = (try? CBOR.decode(Anything.self, from: bytes)) != nil
                #expect(isRead == ((try? CBOR.diagnose(bytes)) != nil), "\(bytes)")
            }
        }
    }
}

/// Reads nothing of what is there: only the document's form counts.
private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
}
