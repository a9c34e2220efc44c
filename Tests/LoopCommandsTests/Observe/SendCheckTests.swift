import CBOR
import LoopCollections
import LoopNode
import LoopWire
import TestFolders
import Testing

@testable import LoopCommands

@Suite(.timeLimit(.minutes(5))) struct `An event that is to be sent` {
    @Test func `is not sent where it is none of the loop, or has fields that nothing reads`() {
        let wrong = DecodingExplanation(error: "at add: expected a map, found 3", unknownKeys: ["add.x"])
        #expect(
            SendCheck.text(of: wrong, allowsUnknown: true)
                == "this is no event of the loop: at add: expected a map, found 3; see: loopctl schema")
        let more = DecodingExplanation(error: nil, unknownKeys: ["add.x", "add.y"])
        #expect(
            SendCheck.text(of: more, allowsUnknown: false)
                == "the loop does not read the fields add.x, add.y; see loopctl schema, or pass --allow-unknown-fields")
        #expect(SendCheck.text(of: more, allowsUnknown: true) == nil)
        #expect(SendCheck.text(of: DecodingExplanation(error: nil, unknownKeys: []), allowsUnknown: false) == nil)
    }

    @Test func `is looked at by the reducer first, and not sent where that says no`() async throws {
        let explanation = DecodingExplanation(error: nil, unknownKeys: ["add.x"])
        let reducer = try FakeReducer(answering: { _ in .explained(explanation) })
        let words = ["send", #"{"add":{"x":1}}"#, "--reducer", reducer.address.description, "--timeout", "20s"]
        #expect(await ControlProgram.run(words, environment: [:]) == 1)
        #expect(
            reducer.asked.withLock { $0 } == [.explain(event: try CBOR.fromJSON(text: #"{"add":{"x":1}}"#))])
    }

    @Test(arguments: [true, false]) func `goes out unchecked where no reducer can say`(isKept: Bool) async throws {
        let answers =
            isKept ? nil : try FakeReducer(answering: { _ in .refused("this reducer does not know the request") })
        let address = try answers?.address ?? ReducerAddress(parsing: ipcEndpoint())
        let flaw = try await SendCheck.flaw(
            in: [0xA0], for: address, within: .milliseconds(isKept ? 50 : 20_000), isKept: isKept, allowsUnknown: false)
        #expect(flaw == nil)
    }
}
