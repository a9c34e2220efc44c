import LoopCluster
import LoopCore
import LoopWire
import Testing

@Suite struct `A standby` {
    private func answer(_ request: ToReducer, leader: String? = nil) -> ToPeer? {
        StandbyAnswer.to(request, loop: "ledger", leader: leader)
    }

    @Test func `sends a peer to the leader, or has it come again`() {
        let goodbye = ToReducer.goodbye(SessionID(1), PeerID(high: 0, low: 1), History(1))
        for request in [ToReducer.hello(name: "ledger", schema: 1), .hello(name: "", schema: 1), goodbye] {
            #expect(answer(request, leader: "tcp://a:1") == .redirect("tcp://a:1"))
            #expect(answer(request) == .noLeader(retryAfter: .milliseconds(500)))
        }
    }

    @Test func `refuses a peer of another loop, and leaves the status to its shell`() {
        #expect(
            answer(.hello(name: "other", schema: 1), leader: "tcp://a:1")
                == .refused(Refused(.loop, reducer: "ledger", peer: "other"), to: .hello))
        #expect(answer(.statusRequest, leader: "tcp://a:1") == nil)
    }
}
