import CBOR
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

@Suite struct `A JSON Schema of a loop` {
    private typealias Field = TypeShape.Field

    private func loop(_ event: TypeShape, state: TypeShape = .value("Int")) -> LoopSchema {
        LoopSchema(
            loop: "orders", schema: 3, event: event, eventExamples: [[0x01]], state: state, initialState: [0x00],
            requests: [])
    }

    /// A part of the document, as JSON.
    private func part(_ schema: LoopSchema, _ path: String...) throws -> String {
        let document = try CBOR.fromJSON(text: JSONSchema.text(schema))
        guard case .found(let bytes) = try CBOR.part(of: document, at: path) else { return "nothing" }
        return try CBOR.json(bytes)
    }

    @Test func `has the cases of an enum as alternatives with one key`() throws {
        let event = TypeShape.cases(
            name: "Event",
            cases: [
                Field("put", .object(name: "Put", fields: [Field("_0", .value("Int8"))], isComplete: true)),
                Field("end", .array(.value("Bool"))),
            ],
            isComplete: true)
        #expect(try part(loop(event), "allOf") == ##"[{"$ref":"#/$defs/Event"}]"##)
        let cases = try part(loop(event), "$defs", "Event", "oneOf")
        #expect(
            cases.contains(##""properties":{"put":{"$ref":"#/$defs/Put"}}"##) && cases.contains(#""required":["put"]"#))
        #expect(cases.contains(#""additionalProperties":false"#))
        #expect(
            try part(loop(event), "$defs", "Put", "properties", "_0")
                == #"{"type":"integer","maximum":127,"minimum":-128}"#)
    }

    @Test(arguments: [
        ("bytes", #"{"type":"bytes"}"#), ("Int64", #"{"type":"Int64"}"#), ("UInt", #"{"type":"UInt"}"#),
        ("Double", #"{"type":"Double"}"#),
    ])
    func `marks what JSON cannot say`(name: String, mark: String) throws {
        let state = TypeShape.object(name: "State", fields: [Field("a", .value(name))], isComplete: true)
        #expect(try part(loop(.value("Bool"), state: state), "$defs", "State", "properties", "a", "x-loop") == mark)
    }

    @Test func `marks keys that are no texts, and what is not known`() throws {
        let state = TypeShape.object(
            name: "State",
            fields: [
                Field("shelves", .map(key: .value("Int"), value: .value("String")), isOptional: true),
                Field("rest", .unknown(name: "Rest", why: "it reads nothing")),
            ], isComplete: false)
        let schema = loop(.value("Bool"), state: state)
        #expect(try part(schema, "$defs", "State", "properties", "shelves", "x-loop", "keys", "type") == #""integer""#)
        #expect(
            try part(schema, "$defs", "State", "properties", "rest", "x-loop", "notKnown") == #""it reads nothing""#)
        #expect(try part(schema, "$defs", "State", "required") == #"["rest"]"#)
        #expect(try part(schema, "$defs", "State", "x-loop") == #"{"isComplete":false}"#)
        #expect(try part(schema, "x-loop", "notKnown").contains("Rest: it reads nothing"))
    }

    @Test func `marks a tracked dictionary, which is an array of keys and values`() throws {
        let row = TypeShape.object(name: "Row", fields: [Field("a", .value("Bool"))], isComplete: true)
        let schema = loop(.value("Bool"), state: .tracked(key: .value("String"), value: row))
        #expect(try part(schema, "x-loop", "state", "type") == #""array""#)
        #expect(
            try part(schema, "x-loop", "state", "x-loop")
                == ##"{"tracked":{"keys":{"type":"string"},"values":{"$ref":"#/$defs/Row"}}}"##)
    }

    @Test func `refers to a type inside itself, and keeps types of one name apart`() throws {
        let tree = TypeShape.object(
            name: "Item", fields: [Field("children", .array(.same(name: "Item")))], isComplete: true)
        let other = TypeShape.object(name: "Item", fields: [Field("name", .value("String"))], isComplete: true)
        let state = TypeShape.object(
            name: "State", fields: [Field("a", tree), Field("b", other), Field("c", .optional(tree))], isComplete: true)
        let schema = loop(.value("Bool"), state: state)
        #expect(try part(schema, "$defs", "Item", "properties", "children", "items") == ##"{"$ref":"#/$defs/Item"}"##)
        #expect(try part(schema, "$defs", "State", "properties", "b") == ##"{"$ref":"#/$defs/Item-2"}"##)
        #expect(try part(schema, "$defs", "State", "properties", "c", "anyOf", "0") == ##"{"$ref":"#/$defs/Item"}"##)
    }

    @Test func `has the facts of the loop and of its feedbacks`() throws {
        var schema = loop(.value("Bool"))
        var ship = LoopSchema.Request(feedback: "ship", placement: "workers(default)", shape: .value("String"))
        (ship.triesMax, ship.timeoutMilliseconds) = (3, 1500)
        schema.requests = [ship]
        (schema.answer, schema.fingerprint) = (.value("Int32"), "00000000000000ab")
        schema.sections = [Field("queue", .array(.value("String")))]
        #expect(
            try part(schema, "x-loop", "feedbacks", "0")
                == #"{"name":"ship","request":{"type":"string"},"triesMax":3,"placement":"workers(default)","timeoutMilliseconds":1500}"#
        )
        #expect(try part(schema, "x-loop", "sections", "queue", "items", "type") == #""string""#)
        #expect(try part(schema, "x-loop", "fingerprint") == #""00000000000000ab""#)
        #expect(try part(schema, "examples") == "[1]")
    }

    @Test func `has nothing of one run: neither its initial state nor its live requests`() throws {
        let ship = LoopSchema.Request(feedback: "ship", placement: "workers(default)", shape: .value("String"))
        var (atRest, running) = (loop(.value("Bool")), loop(.value("Bool")))
        atRest.requests = [ship]
        running.requests = [ship]
        running.requests[0].example = [0x61, 0x61]
        running.initialState = [0x18, 0x64]
        #expect(JSONSchema.text(running) == JSONSchema.text(atRest))
    }

    @Test func `can be compared with a file`() throws {
        let folder = TestFolder()
        let file = "\(folder.path)/orders.json"
        let options = Command("schema", abstract: "", groups: [LoopSchema.output])
        func check() throws -> Int32 {
            guard case .arguments(let arguments) = try options.parse(["--check", file]) else { return -1 }
            return try loop(.value("Bool")).print(arguments)
        }
        folder.write("orders.json", JSONSchema.text(loop(.value("Bool"))) + "\n")
        #expect(try check() == 0)
        folder.write("orders.json", JSONSchema.text(loop(.value("Int"))) + "\n")
        #expect(try check() == 1)
        folder.write("orders.json", "")
        #expect(try check() == 1)
    }
}
