import CBOR
import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

/// Orders with examples of their events.
private struct Orders: LoopDefinition {
    struct Order: Codable, Sendable { var id: String, amount: Int, note: String? }
    struct State: Codable, Sendable {
        var open: [String: Order] = [:]
        var ids: Set<String> { Set(open.keys) }
    }
    enum Event: Codable, Sendable {
        case placed(Order)
        case charged(id: String)
        case forgotten
    }

    static let name = "orders"
    static let examples = [Event.placed(Order(id: "a", amount: 3, note: nil)), .charged(id: "a")]
    let initial = State()

    func reduce(into state: inout State, _ event: Event, _: Transition) {
        switch event {
        case .placed(let order): state.open[order.id] = order
        case .charged(let id): state.open[id] = nil
        case .forgotten: state.open = [:]
        }
    }

    var feedbacks: [Feedback<State, Event>] {
        [.react("charge", requests: \.ids) { id in .events(.charged(id: id)) }.on(.workers)]
    }
}

@Suite struct `The types of a definition` {
    @Test func `are shown with examples, and with what is not known`() throws {
        let schema = try DefinitionTypes(Orders(), coder: CBORCoder()).schema()
        #expect(
            schema.event.text
                == #"{"placed": {"_0": {"id": String, "amount": Int, "note"?: String}}} | {"charged": {"id": String}} | …"#
        )
        #expect(schema.event.gaps == ["Event: there may be more cases than those of the examples"])
        #expect(try schema.eventExamples.map { try CBOR.json($0) }.last == #"{"charged":{"id":"a"}}"#)
        #expect(schema.state.text == #"{"open": {String: {"id": String, "amount": Int, "note"?: String}}}"#)
        #expect(try CBOR.json(schema.initialState) == #"{"open":{}}"#)
        var charge = LoopSchema.Request(feedback: "charge", placement: "workers(default)", shape: .value("String"))
        charge.triesMax = 1
        #expect(schema.requests == [charge])
        #expect(schema.answer == nil && schema.sections == nil)
        #expect(schema.fingerprint == hexadecimal(DefinitionFingerprint(of: Orders()).value))
    }

    @Test func `explain an event that cannot be decoded by the cases of the examples`() throws {
        let types = DefinitionTypes(Orders(), coder: CBORCoder())
        let wrong = try CBOR.fromJSON(text: #"{"charge":{"id":"a"}}"#)
        #expect(
            types.explanation(of: wrong, from: nil).error
                == #"at the top level: no such case of Event: "charge"; there is "charged"; known cases of Event: placed, charged"#
        )
        let more = try CBOR.fromJSON(text: #"{"charged":{"id":"a","by":"me"}}"#)
        #expect(
            types.explanation(of: more, from: nil) == DecodingExplanation(error: nil, unknownKeys: ["charged.by"]))
        // A case without an example is one all the same.
        let known = try CBOR.encode(Orders.Event.forgotten)
        #expect(types.explanation(of: known, from: nil) == DecodingExplanation(error: nil, unknownKeys: []))
    }
}

@Suite struct `A reducer that is asked about types` {
    private static let tool = PeerID(high: 0, low: 55)

    @Test func `answers with the requests of effects that live`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        _ = try bench.send(sender, from: 1, .light("a", 5))
        guard case .schema(let schema) = bench.ask(.schema) else {
            Issue.record("the answer is another")
            return
        }
        #expect(schema.loop == "lamps")
        #expect(schema.schema == 2)
        #expect(try schema.requests.map { try $0.example.map { try CBOR.json($0) } } == ["5"])
    }

    @Test func `says what is wrong with an event, and what of it is not read`() throws {
        var bench = try ReducerBench()
        let event = try CBOR.fromJSON(text: #"{"darken":{"_0":"a","_1":2}}"#)
        #expect(
            bench.ask(.explain(event: event)) == .explained(DecodingExplanation(error: nil, unknownKeys: ["darken._1"]))
        )
        guard case .explained(let explanation) = bench.ask(.explain(event: try CBOR.encode(7))) else {
            Issue.record("the answer is another")
            return
        }
        #expect(explanation.error == "at the top level: expected a map, found 7")
        let large = [UInt8](repeating: 0, count: (512 << 10) + 1)
        guard case .explained(let refusal) = bench.ask(.explain(event: large)) else {
            Issue.record("the answer is another")
            return
        }
        #expect(refusal.error == "the event has 524289 bytes, and the limit is 524288")
    }

    @Test func `says in the log what is wrong with an event that it refuses, once a second`() throws {
        var bench = try ReducerBench()
        let session = bench.join(client, capacity: 0)
        let bytes = try CBOR.fromJSON(text: #"{"darken":{"_0":3}}"#)
        let wrong = Entry(kind: .event, payload: bytes[...])
        _ = bench.push(bench.batch(session, from: 1, [wrong, wrong]))
        _ = bench.push(bench.batch(session, from: 3, [wrong]))
        #expect(
            bench.news.dropFirst() == [
                .undecodable(
                    EntryNumber(session: session, number: 1), "at darken._0: expected text, found 3")
            ])
    }
}

@Suite struct `A reducer that checks whether its definition is a function` {
    private func bench(onMine: @escaping @Sendable () -> Void = {}) throws -> ReducerBench {
        var configuration = ReducerConfiguration()
        configuration.checksPurity = true
        return try ReducerBench(configuration: configuration, onMine: onMine)
    }

    @Test func `writes a hash after every event`() throws {
        var bench = try bench()
        let session = bench.join(client, capacity: 0)
        _ = try bench.send(session, from: 1, .note, .light("a", 1), .note)
        let hashed = bench.records.compactMap { record -> UInt64? in
            if case .stateHash(let seq, _) = record { seq.value } else { nil }
        }
        #expect(hashed == [1, 2, 3])
        #expect(bench.news.count == 1)
    }
}
