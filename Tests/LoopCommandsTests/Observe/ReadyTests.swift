import LoopCore
import LoopNode
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `loopctl ready` {
    private func leader(_ address: ReducerAddress, epoch: UInt64, lease: Int64? = nil) -> StatusProbe.Member {
        var report = StatusReport(loop: "jobs", schema: 1)
        (report.isReady, report.epoch, report.history) = (true, epoch, "aa")
        report.journalLease = lease.map { StatusReport.JournalLease(milliseconds: $0, provenMillisecondsAgo: 0) }
        return StatusProbe.Member(
            address: address, report: report,
            state: StateID(history: .none, epoch: Epoch(number: epoch, nonce: 1), seq: .initial))
    }

    @Test(arguments: [
        (nil, Duration.seconds(1)), (300, .milliseconds(300)), (Int64.max, .milliseconds(Int64.max)),
        (Int64.min, .zero), (-1, .zero),
    ])
    func `waits for a lease, whatever a reducer says of it`(_ lease: Int64?, _ wait: Duration) {
        let members = [leader("tcp://a:7710", epoch: 1, lease: lease)]
        #expect(ReadyCommand.lease(of: members) == wait)
    }

    @Test func `finds two leaders only if the same two lead after the wait`() {
        let (a, b, c) = (
            leader("tcp://a:7710", epoch: 1), leader("tcp://b:7710", epoch: 2), leader("tcp://c:7710", epoch: 3)
        )
        #expect(
            ReadyCommand.lasting([a, b], [a, b])
                == "tcp://a:7710 in epoch 1 of history aa, tcp://b:7710 in epoch 2 of history aa")
        #expect(ReadyCommand.lasting([a, b], [b, c]) == nil)
        #expect(ReadyCommand.lasting([a, b], [leader("tcp://a:7710", epoch: 3), b]) == nil)
        #expect(ReadyCommand.lasting([a, b], [b]) == nil)
    }
}
