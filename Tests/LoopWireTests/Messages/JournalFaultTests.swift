import CBOR
import LoopWire
import Testing

@Suite struct `The fault of a journal` {
    private struct Later: Codable {
        var reason = "moon_phase"
        var host = "db"
    }

    @Test func `is read although its reason is one of a later version`() throws {
        let fault = try CBOR.decode(JournalFault.self, from: CBOR.encode(Later()))
        #expect(fault == JournalFault(.unknown, host: "db"))
    }

    @Test(arguments: JournalFault.Reason.allCases)
    func `has a reason with a stable name`(reason: JournalFault.Reason) throws {
        let bytes = try CBOR.encode(JournalFault(reason))
        #expect(try CBOR.decode(JournalFault.self, from: bytes).reason == reason)
    }
}
