import CBOR
import Testing

@Suite struct `CBOR as text` {
    @Test func `JSON shows what JSON can show`() throws {
        let cases: [(String, String)] = [
            ("a2 6161 01 6162 82 f5 f6", #"{"a":1,"b":[true,null]}"#), ("43 fbff01", #""-_8B""#), ("41 01", #""AQ""#),
            ("d6 41 fb", #""-w""#), ("d7 82 41ab 41cd", #"["qw","zQ"]"#),
            ("c2 42 0100", #""AQA""#), ("c3 42 0100", #""~AQA""#), ("f97e00", "null"), ("f97c00", "null"),
            ("f7", "null"), ("f0", "null"), ("f93c00", "1.0"), ("fb7e37e43c8800759c", "1.0e+300"),
            ("3bffffffffffffffff", "-18446744073709551616"), ("a1 01 02", #"{"1":2}"#),
            ("a1 820102 03", #"{"[1, 2]":3}"#), ("62 0a01", #""\n\u0001""#), ("9fff", "[]"),
            ("c1 1a514b67b0", "1363896240"),
        ]
        for (bytes, text) in cases { #expect(try CBOR.json(hex(bytes)) == text) }
    }

    @Test func `JSON becomes deterministic CBOR`() throws {
        let cases: [(String, String)] = [
            ("0", "0"), ("-0", "0"), ("-0.0", "-0.0"), ("18446744073709551615", "18446744073709551615"),
            ("-18446744073709551616", "-18446744073709551616"), ("-9223372036854775809", "-9223372036854775809"),
            ("18446744073709551616", "1.8446744073709552e+19"), ("1.0", "1.0"), ("1e2", "100.0"), ("1E-2", "0.01"),
            (#" { "b" : 1 , "a" : [ ] } "#, #"{"a": [], "b": 1}"#), ("[true,false,null]", "[true, false, null]"),
            (#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#, #""é😀/\u0008\u000c\n\r\t\"\\""#), ("{}", "{}"),
            (#"[[{"a":[{}]}]]"#, #"[[{"a": [{}]}]]"#),
        ]
        for (text, diagnostic) in cases { #expect(try CBOR.diagnose(CBOR.fromJSON(text: text)) == diagnostic) }
    }

    @Test func `JSON errors say line, column and what was expected`() {
        let cases: [(String, Int, Int, String)] = [
            ("", 1, 1, "a value"), ("[1,\n 2,]", 2, 4, "a value"), (#"{"a" 1}"#, 1, 6, "\":\""),
            ("[1 2]", 1, 4, "\",\" or \"]\""), (#"{"a":1,"a":2}"#, 1, 8, "a key that the object does not have yet"),
            ("1 x", 1, 3, "the end of the text"), ("01", 1, 2, "the end of the text"), ("-", 1, 2, "a digit"),
            ("1.", 1, 3, "a digit"), ("tru", 1, 1, "true"), (#""é"#, 1, 3, "the closing quote of a string"),
            ("\"\u{1}\"", 1, 2, "an escape instead of a control character"),
            (#""\ud800""#, 1, 2, "a pair of surrogates, the high one first"),
            (#""\ud800\u0041""#, 1, 2, "a pair of surrogates, the high one first"),
            (#""\uZZZZ""#, 1, 2, "four hexadecimal digits after \\u"),
            ("1e999", 1, 1, "a number within the range of a 64-bit float"), ("{a:1}", 1, 2, "a key in double quotes"),
        ]
        for (text, line, column, expected) in cases {
            #expect("\(text)") {
                try CBOR.fromJSON(text: text)
            } throws: { error in
                guard case .json(line, column, expected, _)? = error as? WireError else { return false }
                return true
            }
        }
    }

    @Test func `JSON nesting ends at the limit`() {
        let open = String(repeating: "[", count: 64)
        let close = String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try CBOR.fromJSON(text: open + close) }
        #expect(throws: WireError.self) { try CBOR.fromJSON(text: "[" + open + close + "]") }
        #expect(throws: WireError.self) { try CBOR.fromJSON(text: String(repeating: "[{\"a\":", count: 200_000)) }
    }

    @Test func `JSON cut or changed anywhere is a value or an error`() {
        let text = Array(#"{"a": [1, -2.5e3, "x\u00e9\n"], "b": {"c": null, "d": true}}"#.utf8)
        for index in text.indices {
            _ = try? CBOR.fromJSON(text: String(decoding: text[..<index], as: UTF8.self))
            for bit in 0..<8 {
                var changed = text
                changed[index] ^= 1 << bit
                if let bytes = try? CBOR.fromJSON(text: String(decoding: changed, as: UTF8.self)) {
                    #expect(throws: Never.self) { try CBOR.json(bytes) }
                }
            }
        }
    }

    @Test func `JSON there and back is the same CBOR`() throws {
        for example in try CBORVectors.examples() where example.canonical == "yes" {
            let bytes = example.bytes
            guard let json = try? CBOR.json(bytes),
                !["h'", "NaN", "Infinity", "{1"].contains(where: example.diagnostic.contains)
            else { continue }
            #expect(try CBOR.fromJSON(text: json) == bytes, "\(json)")
        }
    }

    @Test func `diagnostic notation shows what deterministic encoding hides`() throws {
        #expect(try CBOR.diagnose(hex("5fff")) == "''_")
        #expect(try CBOR.diagnose(hex("7fff")) == "\"\"_")
        #expect(try CBOR.diagnose(hex("a2 01 02 01 03")) == "{1: 2, 1: 3}")
        #expect(try CBOR.diagnose(hex("c2 40")) == "2(h'')")
        #expect(try CBOR.diagnose(hex("c3 42ffff")) == "3(h'ffff')")
        #expect(try CBOR.diagnose(hex("c3 80")) == "3([])")
    }
}
