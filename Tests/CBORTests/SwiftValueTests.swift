import CBOR
import Foundation
import Testing

/// How Swift's `Codable` values become CBOR: `Vectors/swift-values.txt`, which the specification quotes (section 9.4).
@Suite struct `Values of Swift in CBOR` {
    private enum Suit: String, Codable { case hearts }
    private enum Level: Int, Codable { case high = 2 }
    private enum Event: Codable {
        case reset
        case put(Int)
        case move(from: Int, to: Int)
        case name(String, Int)
    }
    private struct Film: Codable {
        var title: String
        var year: Int?
        private enum CodingKeys: String, CodingKey {
            case title = "t"
            case year
        }
    }
    private struct Deep: Codable {
        var deep: Int??
    }
    private struct Wrapped: Codable {
        var film: Film?
    }
    private struct Name: Codable, Hashable, CodingKeyRepresentable {
        var codingKey: any CodingKey { Key(stringValue: text) }
        var text: String
        init(_ text: String) { self.text = text }
        init?(codingKey: some CodingKey) { text = codingKey.stringValue }
    }
    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private static var examples: [(name: String, value: any Codable)] {
        [
            ("Bool true", true), ("Int 0", 0), ("Int -1", -1), ("UInt64 2^64 - 1", UInt64.max), ("Int8 -128", Int8.min),
            ("Double 1.0", 1.0), ("Double 0.1", 0.1), ("Float 0.1", Float(0.1)), ("Double infinity", Double.infinity),
            ("Double NaN", Double.nan),
            ("String", "ü"), ("an enum of raw strings", Suit.hearts), ("an enum of raw integers", Level.high),
            ("a case without values", Event.reset), ("a case with a value", Event.put(1)),
            ("a case with labels", Event.move(from: 1, to: 2)), ("a case with two values", Event.name("a", 1)),
            ("a struct", Film(title: "M", year: 1931)),
            ("a struct with a property that is nil", Film(title: "M", year: nil)),
            ("a struct within a struct", Wrapped(film: Film(title: "M", year: nil))), ("[Int]", [1, 2]),
            ("[Int?]", [1, nil] as [Int?]), ("[Int??]", [1, .some(nil), nil] as [Int??]),
            ("a property of Int??, with nil inside", Deep(deep: .some(nil))),
            ("[UInt8]", [1, 2] as [UInt8]), ("Data", Data([1, 2])),
            ("[Int8]", [1, 2] as [Int8]), ("Set<String>", Set(["b", "a", "aa"])),
            ("[String: Int]", ["b": 1, "a": 2, "aa": 3]),
            ("[Int: String]", [10: "b", 9: "a"]), ("a dictionary with keys that represent coding keys", [Name("n"): 1]),
            ("a dictionary with an enum's raw strings as keys", [Suit.hearts: 1]),
            ("a dictionary with Double keys", [0.5: 1]),
            ("Date", Date(timeIntervalSinceReferenceDate: 1.5)),
            ("Decimal 2.5", Decimal(string: "2.5")),
            ("URL", URL(string: "https://example.org/a")),
            ("UUID", UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF")),
            ("Range<Int> 1..<3", 1..<3),
        ]
    }

    @Test func `are the vectors of their names`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors/swift-values.txt")
        let vectors = try String(contentsOf: file, encoding: .utf8)
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        let written = try Self.examples.map { name, value in
            "\(name); \(try CBOR.encode(value).map { String(format: "%02x", $0) }.joined())"
        }
        #expect(vectors == written)
    }
}
