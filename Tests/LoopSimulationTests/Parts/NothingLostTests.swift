import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopSimulation

@Suite struct `The checker of outcomes` {
    private static let why = "at slot: expected an integer, found {}"

    /// What it says where a sender is told a refusal with this detail.
    private func violation(_ detail: String) throws -> Violation? {
        let (history, session) = (History(1), SessionID(1))
        let plan = SimulationPlan.drawn(Scenario(seed: 1), .own).0
        var checkers = Checkers(SlotWorkload(plan: plan), hasShadow: false, breaking: BrokenRules())
        let peer = PeerID(high: 1, low: 2)
        let entry = SentEntry(
            id: 1, peer: 3, kind: .event, effect: nil, attempt: .none, index: 0, payload: [0xff], wantsSeq: true)
        try checkers.observe(.began(history))
        try checkers.journal(history, .sessionOpened(session, peer))
        try checkers.observe(.accepted(entry))
        try checkers.observe(
            .sent(PeerSession(history: history, session: session, peer: peer), first: 1, ids: [1]))
        let refusal = RefusalRecord(
            session: session, number: 1, reason: .undecodable, effect: nil, attempt: .none, detail: Self.why)
        try checkers.journal(history, .refused(refusal))
        do throws(Violation) {
            try checkers.observe(.told(id: 1, .refused(.undecodable), detail: detail, isUnheard: false))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", why]) func `accepts a detail that is missing, and the one of the record`(detail: String)
        throws
    {
        #expect(try violation(detail) == nil)
    }

    @Test func `sees another detail than the record has`() throws {
        #expect(
            try violation("another")
                == Violation(
                    .nothingLost,
                    "a sender was told why event #1 of peer 3 was refused: another; the journal says \(Self.why)"))
    }
}
