import CBOR
import LoopCore
import LoopWire

/// The types of a loop as a JSON Schema, draft 2020-12, for programs in other languages.
///
/// Enums with values are `oneOf` with one required key. What JSON cannot say is under `x-loop`: bytes, integers of more than 53 bits,
/// keys that are no texts, tracked dictionaries, what is not known, and the facts of the loop. The document depends on the definition
/// alone, so that a program at rest and a running reducer give the same one.
struct JSONSchema {
    /// The definitions by their keys, in the order in which they were first met.
    private var definitions: [(key: String, schema: String)] = []
    /// The key of each shape that is defined.
    private var known: [(shape: TypeShape, key: String)] = []
    /// The shapes that are being defined, from the outermost.
    private var open: [(name: String, key: String)] = []

    /// The document, indented. It ends without a line end.
    static func text(_ loop: LoopSchema) -> String {
        var schema = JSONSchema()
        let event = schema.schema(of: loop.event)
        let state = schema.schema(of: loop.state)
        let answer = loop.answer.map { schema.schema(of: $0) }
        let sections = loop.sections?.map { ($0.name, Optional(schema.schema(of: $0.shape))) }
        let feedbacks = loop.requests.map { request in
            JSONText.object([
                ("name", JSONText.quoted(request.feedback)), ("placement", JSONText.quoted(request.placement)),
                ("request", request.shape.map { schema.schema(of: $0) }),
                ("triesMax", request.triesMax.map { "\($0)" }),
                ("timeoutMilliseconds", request.timeoutMilliseconds.map { "\($0)" }),
            ])
        }
        let facts = JSONText.object([
            ("loop", JSONText.quoted(loop.loop)), ("schema", "\(loop.schema)"),
            ("fingerprint", loop.fingerprint.map { JSONText.quoted($0) }),
            ("event", event), ("state", state), ("answer", answer),
            ("sections", sections.map(JSONText.object)),
            ("feedbacks", "[\(feedbacks.joined(separator: ","))]"),
            ("notKnown", loop.gaps.isEmpty ? nil : "[\(loop.gaps.map(JSONText.quoted).joined(separator: ","))]"),
        ])
        return JSONText.indented(
            JSONText.object([
                ("$schema", JSONText.quoted("https://json-schema.org/draft/2020-12/schema")),
                ("title", JSONText.quoted(loop.loop)), ("description", JSONText.quoted("an event of the loop")),
                ("allOf", "[\(event)]"),
                ("examples", "[\(loop.eventExamples.map(JSONText.document).joined(separator: ","))]"),
                ("$defs", JSONText.object(schema.definitions.map { ($0.key, $0.schema) })), ("x-loop", facts),
            ]))
    }

    private mutating func schema(of shape: TypeShape) -> String {
        switch shape {
        case .value(let name): return Self.scalar(name)
        case .oneOf(let name, let values):
            return define(name, shape) { _ in "{\"enum\":[\(values.joined(separator: ","))]}" }
        case .optional(let shape): return "{\"anyOf\":[\(schema(of: shape)),{\"type\":\"null\"}]}"
        case .array(let shape): return "{\"type\":\"array\",\"items\":\(schema(of: shape))}"
        case .map(let key, let value):
            let keys = key == .value("String") ? nil : "{\"keys\":\(schema(of: key))}"
            return JSONText.object([
                ("type", "\"object\""), ("additionalProperties", schema(of: value)), ("x-loop", keys),
            ])
        case .tracked(let key, let value):
            let entries = JSONText.object([("keys", schema(of: key)), ("values", schema(of: value))])
            return "{\"type\":\"array\",\"x-loop\":{\"tracked\":\(entries)}}"
        case .object(let name, let fields, let isComplete):
            return define(name, shape) { Self.object(fields, isComplete: isComplete, &$0) }
        case .cases(let name, let cases, let isComplete):
            return define(name, shape) { schema in
                let alternatives = cases.map { Self.object([$0], isComplete: true, isClosed: true, &schema) }
                return JSONText.object([
                    ("oneOf", "[\(alternatives.joined(separator: ","))]"),
                    ("x-loop", isComplete ? nil : "{\"isComplete\":false}"),
                ])
            }
        case .same(let name):
            let key = open.last { $0.name == name }?.key ?? definitions.last { $0.key == name }?.key
            return key.map(Self.reference) ?? Self.unknown(name, "it is part of itself")
        case .unknown(let name, let why): return Self.unknown(name, why)
        }
    }

    /// Defines a shape of this name, unless it is defined already.
    private mutating func define(
        _ name: String, _ shape: TypeShape, _ make: (inout JSONSchema) -> String
    ) -> String {
        if let key = known.first(where: { $0.shape == shape })?.key { return Self.reference(key) }
        // Types of different namespaces may have one name.
        var key = name
        var number = 2
        while known.contains(where: { $0.key == key }) {
            key = "\(name)-\(number)"
            number += 1
        }
        known.append((shape, key))
        let index = definitions.count
        definitions.append((key, ""))
        open.append((name, key))
        let made = make(&self)
        open.removeLast()
        definitions[index].schema = made
        return Self.reference(key)
    }

    private static func object(
        _ fields: [TypeShape.Field], isComplete: Bool, isClosed: Bool = false, _ schema: inout JSONSchema
    ) -> String {
        let properties = fields.map { ($0.name, Optional(schema.schema(of: $0.shape))) }
        let required = fields.filter { !$0.isOptional }.map { JSONText.quoted($0.name) }
        return JSONText.object([
            ("type", "\"object\""), ("properties", properties.isEmpty ? nil : JSONText.object(properties)),
            ("required", required.isEmpty ? nil : "[\(required.joined(separator: ","))]"),
            ("additionalProperties", isClosed ? "false" : nil),
            ("x-loop", isComplete ? nil : "{\"isComplete\":false}"),
        ])
    }

    private static func reference(_ key: String) -> String {
        "{\"$ref\":\(JSONText.quoted("#/$defs/\(escaped(key))"))}"
    }

    /// Escapes a key for a JSON Pointer in a URI fragment: names of generic types have characters that need it.
    private static func escaped(_ key: String) -> String {
        PercentEncoding.encode(key.replacing("~", with: "~0").replacing("/", with: "~1").utf8)
    }

    private static func unknown(_ name: String, _ why: String) -> String {
        "{\"x-loop\":\(JSONText.object([("type", JSONText.quoted(name)), ("notKnown", JSONText.quoted(why))]))}"
    }

    /// The schema of an item, by the name of the Swift type that reads it.
    private static func scalar(_ name: String) -> String {
        func integer<Number: FixedWidthInteger>(_ type: Number.Type) -> String {
            let bounds = "\"type\":\"integer\",\"minimum\":\(Number.min),\"maximum\":\(Number.max)"
            return Number.bitWidth > 53 ? "{\(bounds),\"x-loop\":{\"type\":\(JSONText.quoted(name))}}" : "{\(bounds)}"
        }
        switch name {
        case "Int8": return integer(Int8.self)
        case "Int16": return integer(Int16.self)
        case "Int32": return integer(Int32.self)
        case "Int", "Int64": return integer(Int64.self)
        case "UInt8": return integer(UInt8.self)
        case "UInt16": return integer(UInt16.self)
        case "UInt32": return integer(UInt32.self)
        case "UInt", "UInt64": return integer(UInt64.self)
        case "Bool": return "{\"type\":\"boolean\"}"
        case "String": return "{\"type\":\"string\"}"
        case "bytes": return "{\"type\":\"string\",\"contentEncoding\":\"base64url\",\"x-loop\":{\"type\":\"bytes\"}}"
        case "Double", "Float", "Float16": return "{\"type\":\"number\",\"x-loop\":{\"type\":\(JSONText.quoted(name))}}"
        default: return unknown(name, "it is no type of JSON")
        }
    }
}
