import CBOR
import Testing

@Suite struct `A part of a CBOR document` {
    private struct Order: Codable {
        var lines: [String]
        var paid: Bool?
    }

    private func document() throws -> [UInt8] {
        struct State: Codable {
            var orders = ["o-1": Order(lines: ["a", "b"]), "o.2": Order(lines: [], paid: true)]
            var counts = [7: "seven", -1: "minus"]
            var bytes: [UInt8] = [1, 2]
        }
        return try CBOR.encode(State())
    }

    private func json(_ path: [String]) throws -> String? {
        guard case .found(let bytes) = try CBOR.part(of: document(), at: path) else { return nil }
        return try CBOR.json(bytes)
    }

    @Test func `is found by keys as JSON shows them, and by numbers of elements`() throws {
        #expect(try json(["orders", "o-1", "lines", "1"]) == #""b""#)
        #expect(try json(["orders", "o.2"]) == #"{"paid":true,"lines":[]}"#)
        #expect(try json(["counts", "7"]) == #""seven""#)
        #expect(try json(["counts", "-1"]) == #""minus""#)
        #expect(try json([]) == CBOR.json(document()))
    }

    @Test func `that is not there is told with what is there instead`() throws {
        let document = try document()
        #expect(
            try CBOR.part(of: document, at: ["orders", "x", "y"]) == .missing(step: 1, .keys(["o-1", "o.2"], count: 2)))
        #expect(
            try CBOR.part(of: document, at: ["orders", "o-1", "lines", "2"]) == .missing(step: 3, .elements(count: 2)))
        #expect(try CBOR.part(of: document, at: ["counts", "7", "x"]) == .missing(step: 2, .value))
        #expect(throws: WireError.self) { try CBOR.part(of: [0xA1], at: ["x"]) }
    }

    @Test func `is the same in every form that CBOR has`() throws {
        // {_ "a": 1(["x", _ ["y", "z"]]) } with maps and arrays of indefinite length, and a tag.
        let document: [UInt8] = [0xBF, 0x61, 0x61, 0xC1, 0x82, 0x61, 0x78, 0x9F, 0x61, 0x79, 0x61, 0x7A, 0xFF, 0xFF]
        #expect(try CBOR.part(of: document, at: ["a", "1", "1"]) == .found([0x61, 0x7A]))
        #expect(try CBOR.part(of: document, at: ["a", "1"]) == .found([0x9F, 0x61, 0x79, 0x61, 0x7A, 0xFF]))
    }
}
