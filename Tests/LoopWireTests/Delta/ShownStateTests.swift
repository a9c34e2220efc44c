import CBOR
import LoopCollections
import LoopWire
import Testing

@Suite struct `A state that is shown to people` {
    private struct Order: Codable, Hashable, Sendable {
        var customer: String
        var parts: TrackedDictionary<Int, String>?
    }

    private struct State: Codable, Sendable {
        var open: TrackedDictionary<String, Order>
        var closed: [String: Int]
        var seats: TrackedDictionary<[Int], Bool>
    }

    private let state = State(
        open: [
            "b": Order(customer: "ann", parts: [7: "wheel", -2: "bell"]), "a": Order(customer: "bob", parts: nil),
        ], closed: ["c": 1], seats: [[1, 2]: true])

    @Test func `has tracked dictionaries as objects, with keys as those of plain ones`() throws {
        #expect(
            try CBOR.json(ShownState.encode(state))
                == #"{"open":{"a":{"customer":"bob"},"b":{"parts":{"7":"wheel","-2":"bell"},"customer":"ann"}},"#
                + #""seats":{"[1, 2]":true},"closed":{"c":1}}"#)
    }

    @Test func `is as it is encoded where there are none`() throws {
        let plain = ["a": [1: "x"], "b": [:]]
        #expect(try ShownState.encode(plain) == CBOR.encode(plain))
        #expect(try CBOR.json(CBOR.encode(state)).hasPrefix(#"{"open":["b",{"parts":[7,"wheel",-2,"bell"],"#))
    }
}
