import CBOR
import LoopCollections
import Testing

private struct Order: Codable, Equatable {
    var id: String
    var amount: Int
    var note: String?
    var tags: [String] = []
    var parts: [String: Part] = [:]

    struct Part: Codable, Equatable {
        var weight: Double
        var inside: [Part]
    }
}

private enum Colour: String, Codable, CaseIterable { case red, green }

private enum Event: Codable {
    case placed(Order)
    case painted(colour: Colour, order: String)
    case cleared
}

/// An event that is known to have no other case.
private indirect enum Listed: Codable {
    case placed(Cart)
    case cleared
    case again(event: Listed)

    struct Cart: Codable { var lines: [Int] }
    enum CodingKeys: CodingKey, CaseIterable { case placed, cleared, again }
}

/// An event that lists a key which it never reads.
private struct Partial: Codable {
    enum CodingKeys: CodingKey, CaseIterable { case number, never }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard container.allKeys == [.number] else { throw CancellationError() }
        _ = try container.decode(Int.self, forKey: .number)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(1, forKey: .number)
    }
}

/// What decodes itself in a way of its own.
private struct Span: Codable {
    var length: Int

    private enum Keys: String, CodingKey, CaseIterable { case from, to }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let from = container.contains(.from) ? try container.decode(Int.self, forKey: .from) : 0
        length = try container.decode(Int.self, forKey: .to) - from
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(length, forKey: .to)
    }
}

@Suite struct `A probe of types` {
    @Test func `finds keys, their types, and which may be absent, without an example`() {
        let shape = TypeProbe().shape(of: Order.self)
        #expect(
            shape.text
                == #"{"id": String, "amount": Int, "note"?: String, "tags": [String], "#
                + #""parts": {String: {"weight": Double, "inside": [Part]}}}"#)
        #expect(shape.gaps.isEmpty)
    }

    @Test func `finds what a type asks for that decodes itself`() {
        #expect(TypeProbe().shape(of: Span.self).text == #"{"from"?: from…, "to": Int}"#)
        let probe = TypeProbe()
        #expect(throws: Never.self) { try probe.learn(Span.self, from: try CBOR.fromJSON(text: #"{"from":1,"to":3}"#)) }
        #expect(probe.shape(of: Span.self).text == #"{"from"?: Int, "to": Int}"#)
    }

    @Test func `says which values there are, where the type says it`() {
        #expect(TypeProbe().shape(of: Colour.self) == .oneOf(name: "Colour", values: [#""red""#, #""green""#]))
        #expect(TypeProbe().shape(of: [Colour?].self).text == #"["red" | "green" or null]"#)
    }

    @Test func `learns the cases of an enum from examples, and says that there may be more`() throws {
        let probe = TypeProbe()
        #expect(probe.shape(of: Event.self).gaps == ["Event: none of its cases is known"])
        try probe.learn(Event.self, from: CBOR.encode(Event.painted(colour: .red, order: "a")))
        try probe.learn(Event.self, from: CBOR.encode(Event.cleared))
        let shape = probe.shape(of: Event.self)
        #expect(shape.text == #"{"painted": {"colour": "red" | "green", "order": String}} | {"cleared": {}} | …"#)
        #expect(shape.gaps == ["Event: there may be more cases than those of the examples"])
    }

    @Test func `knows all cases of an enum whose keys list them, without an example and with one`() throws {
        let shape = #"{"placed": {"_0": {"lines": [Int]}}} | {"cleared": {}} | {"again": {"event": Listed}}"#
        let probe = TypeProbe()
        #expect(probe.shape(of: Listed.self).text == shape)
        #expect(probe.shape(of: Listed.self).gaps == [])
        let taught = TypeProbe()
        try taught.learn(Listed.self, from: CBOR.encode(Listed.cleared))
        #expect(taught.shape(of: Listed.self).text == shape)
        let mistaken = TypeProbe()
        #expect(throws: (any Error).self) {
            try mistaken.learn(Listed.self, from: CBOR.fromJSON(text: #"{"lost":{}}"#))
        }
        #expect(mistaken.shape(of: Listed.self).text == shape)
    }

    @Test func `takes no list of keys for complete of which a case is not known`() {
        // Its decoding refuses a key that it lists.
        #expect(
            TypeProbe().shape(of: Partial.self).gaps == ["Partial: there may be more cases than those of the examples"])
    }

    @Test func `knows a type inside another by a value that it has read`() throws {
        struct Line: Codable { var event: Event, number: Int }
        let probe = TypeProbe()
        #expect(!probe.shape(of: Line.self).gaps.isEmpty)
        try probe.learn(Event.self, from: CBOR.encode(Event.cleared))
        let another = TypeProbe()
        try another.learn(Event.self, from: CBOR.encode(Event.cleared))
        #expect(another.shape(of: Line.self).text == #"{"event": {"cleared": {}} | …, "number": Int}"#)
    }

    @Test(arguments: [Int64(1), -1]) func `takes one item for what it is`(number: Int64) throws {
        let probe = TypeProbe()
        #expect(probe.shape(of: Int64.self) == .value("Int64"))
        #expect(probe.explain(Int64.self, try CBOR.encode(number)).error == nil)
        #expect(probe.shape(of: [UInt8].self) == .value("bytes"))
        #expect(probe.shape(of: [Int: String].self).text == "{Int: String}")
    }

    @Test func `knows a tracked dictionary, its keys and its values`() throws {
        struct Shelf: Codable { var books: TrackedDictionary<Int, Event> }
        let probe = TypeProbe()
        #expect(probe.shape(of: Shelf.self).text == #"{"books": [Int: …]}"#)
        let shelf = Shelf(books: [2: .cleared, 1: .painted(colour: .red, order: "a")])
        try probe.learn(Shelf.self, from: CBOR.encode(shelf))
        let cases = #"{"cleared": {}} | {"painted": {"colour": "red" | "green", "order": String}} | …"#
        #expect(probe.shape(of: Shelf.self).text == "{\"books\": [Int: \(cases)]}")
        #expect(
            probe.explain(Shelf.self, try CBOR.fromJSON(text: #"{"books":[1,{"cleared":{"a":1}},2,{"clear":{}}]}"#))
                .error?
                .hasPrefix(#"at books[3]: no such case of Event: "clear""#) == true)
        for wrong in [#"{"books":[1]}"#, #"{"books":[1,{"cleared":{}},1,{"cleared":{}}]}"#, #"{"books":{}}"#] {
            #expect(probe.explain(Shelf.self, try CBOR.fromJSON(text: wrong)).error != nil, "\(wrong)")
        }
    }

    @Test func `gives a shape that can be sent`() throws {
        let shape = TypeProbe().shape(of: Order.self)
        #expect(try CBOR.decode(TypeShape.self, from: CBOR.encode(shape)) == shape)
    }
}

@Suite struct `A document that is not of a type` {
    private static func explained(_ json: String, _ examples: [Event] = []) throws -> DecodingExplanation {
        let probe = TypeProbe()
        for example in examples { try probe.learn(Event.self, from: CBOR.encode(example)) }
        return probe.explain(Event.self, try CBOR.fromJSON(text: json))
    }

    private static let examples = [
        Event.painted(colour: .red, order: "a"), .cleared, .placed(Order(id: "a", amount: 1)),
    ]

    @Test(arguments: [
        (
            #"{"place":{}}"#,
            #"at the top level: no such case of Event: "place"; there is "placed"; known cases of Event: painted, cleared, placed"#
        ),
        (
            #"{"Cleared":{}}"#,
            #"at the top level: no such case of Event: "Cleared"; there is "cleared"; known cases of Event: painted, cleared, placed"#
        ),
        (
            #"{"cleared":{},"painted":{}}"#,
            "at the top level: a case of Event is an object of one entry, and this one has 2: cleared, painted;"
                + " known cases of Event: painted, cleared, placed"
        ),
        (#"{"placed":{"_0":{"id":"a"}}}"#, #"at placed._0: the key "amount" (Int) is missing"#),
        (
            #"{"placed":{"_0":{"id":"a","amuont":3}}}"#,
            #"at placed._0: the key "amount" (Int) is missing; these keys are not known: placed._0.amuont"#
        ),
        (
            #"{"painted":{"colour":"blue","order":"a"}}"#,
            #"at painted.colour: Cannot initialize Colour from invalid String value blue; Colour is one of "red", "green""#
        ),
        (
            #"{"placed":{"_0":{"id":"a","amount":"3","tags":[]}}}"#,
            #"at placed._0.amount: expected an integer, found "3""#
        ),
        (
            #"{"placed":{"_0":{"id":"a","amount":3,"tags":["a",1],"parts":{}}}}"#,
            #"at placed._0.tags[1]: expected text, found 1"#
        ),
    ])
    func `is told with the place, what was expected, and the known cases`(json: String, error: String) throws {
        #expect(try Self.explained(json, Self.examples).error == error)
    }

    @Test func `is told without cases where no example names them`() throws {
        #expect(
            try Self.explained(#"{"Cleared":{}}"#).error
                == #"at the top level: no such case of Event: "Cleared"; there is "cleared""#)
    }

    @Test func `may be one that has keys which nothing reads`() throws {
        let explanation = try Self.explained(
            #"{"placed":{"_0":{"id":"a","amount":3,"tags":[],"parts":{"b":{"weight":1.5,"inside":[],"wieght":2}},"note":null,"at":1}}}"#
        )
        #expect(explanation.error == nil)
        #expect(explanation.unknownKeys == ["placed._0.at", "placed._0.parts.b.wieght"])
    }

    @Test func `is never a trap, whatever its bytes are`() throws {
        let good = try CBOR.encode(Self.examples[2])
        let probe = TypeProbe()
        for length in good.indices {
            #expect(probe.explain(Event.self, Array(good[..<length])).error != nil)
        }
        for place in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[place] ^= 1 << UInt8(bit)
                let isEvent = (try? CBOR.decode(Event.self, from: bytes)) != nil
                #expect((probe.explain(Event.self, bytes).error == nil) == isEvent, "\(bytes)")
            }
        }
    }
}
