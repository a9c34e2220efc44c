import CBOR
import LoopFuzzing
import Testing

@Suite struct `CBOR vectors of RFC 8949` {
    @Test func `the examples of appendix A read as their diagnostic notation`() throws {
        let examples = try CBORVectors.examples()
        #expect(examples.count == 81)
        for example in examples {
            #expect(try CBOR.diagnose(example.bytes) == example.diagnostic)
        }
    }

    @Test func `the examples of appendix A decode and encode to their deterministic form`() throws {
        for example in try CBORVectors.examples() where example.canonical != "other" {
            // −2⁶⁴ has no Swift integer; as a number it is a float.
            guard example.diagnostic != "-18446744073709551616" else { continue }
            let value = try CBOR.decode(CBORValue.self, from: example.bytes)
            let bytes = try CBOR.encode(value)
            #expect((bytes == example.bytes) == (example.canonical == "yes"), "\(example.diagnostic)")
            #expect(try CBOR.encode(CBOR.decode(CBORValue.self, from: bytes)) == bytes)
        }
    }

    @Test func `the malformed examples of appendix F are refused`() throws {
        let malformed = try CBORVectors.malformed()
        #expect(malformed.count == 94)
        for bytes in malformed {
            #expect(throws: WireError.self) { try CBOR.diagnose(bytes) }
            #expect(throws: WireError.self) { try CBOR.decode(CBORValue.self, from: bytes) }
            #expect(throws: WireError.self) { try CBOR.json(bytes) }
        }
    }
}

/// An independent coder's opinion; `Vectors/cbor-cbor2.py` writes it down.
@Suite struct `CBOR vectors of cbor2` {
    @Test func `random values read as their diagnostic notation, and are encoded to the same bytes`() throws {
        let examples = try CBORVectors.examples("cbor-cbor2.txt")
        #expect(examples.count == 400)
        for example in examples {
            #expect(try CBOR.diagnose(example.bytes) == example.diagnostic)
            let value = try CBOR.decode(CBORValue.self, from: example.bytes)
            #expect(try CBOR.encode(value) == example.bytes, "\(example.diagnostic)")
        }
    }
}
