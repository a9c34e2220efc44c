import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A reducer that does not serve` {
    private func answers(_ request: ToReducer, _ advice: Unready.Advice) throws -> [ToPeer] {
        try Unready(loop: "ledger", advice).answers(to: request)
    }

    @Test func `sends a peer to the leader, or has it come again`() throws {
        let goodbye = ToReducer.goodbye(SessionID(1), PeerID(high: 0, low: 1), History(1))
        for request in [ToReducer.hello(name: "ledger", schema: 1), .hello(name: "", schema: 1), goodbye] {
            #expect(try answers(request, .go(to: "tcp://a:1")) == [.redirect("tcp://a:1")])
            #expect(try answers(request, .go(to: nil)) == [.noLeader(retryAfter: .milliseconds(500))])
        }
    }

    @Test func `asks a peer to stay while its own journal fails, and says why`() throws {
        let stay = Unready.Advice.stay(because: "the disk is full")
        let hello = ToReducer.hello(name: "ledger", schema: 1)
        #expect(
            try answers(hello, stay)
                == [.busy(to: .hello, retryAfter: .milliseconds(500), reason: "the disk is full")])
        #expect(try answers(.goodbye(SessionID(1), PeerID(high: 0, low: 1), History(1)), stay) == [])
        let asked = try answers(
            .administration(request: 7, try CBOR.encode(AdministrationRequest.quarantine)[...]), stay)
        guard case .answer(let part)? = asked.first, asked.count == 1 else { return #expect(Bool(false), "\(asked)") }
        let answer = try CBOR.decode(AdministrationAnswer.self, from: part.bytes)
        #expect(answer == .refused("the reducer is not ready: the disk is full"))
    }

    @Test func `refuses a peer of another loop, and leaves the status to its shell`() throws {
        for advice in [Unready.Advice.go(to: "tcp://a:1"), .stay(because: "x")] {
            #expect(
                try answers(.hello(name: "other", schema: 1), advice)
                    == [.refused(Refused(.loop, reducer: "ledger", peer: "other"), to: .hello)])
            #expect(try answers(.statusRequest, advice) == [])
        }
    }
}
