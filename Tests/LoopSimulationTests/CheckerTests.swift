import LoopCluster
import LoopCore
import LoopSimulation
import LoopWire
import Testing

/// Mistakes of checkers, each as the shortest run that shows it.
@Suite struct `The checker of left histories` {
    private let first = History(1)
    private let second = History(2)

    /// An observer comes when the first history is over, is led into it by a late frame, and finds back.
    private func wanderer() throws -> Checkers<SlotWorkload> {
        let plan = SimulationPlan.drawn(Scenario(seed: 1), .own).0
        var checkers = Checkers(SlotWorkload(plan: plan), hasShadow: false, breaking: BrokenRules())
        try checkers.observe(.began(first))
        try checkers.journal(first, .historyBegun(second, WallTime(milliseconds: 1)))
        try checkers.observe(.watches(peer: 7, SimulationPlan.Watched(.full)))
        try show(second, &checkers)
        try show(first, &checkers)
        return checkers
    }

    /// Seed 7878: the copy's journal has no event of what was shown last, and its epochs have lower numbers.
    @Test func `lets an observer start over where a journal was put back, and only there`() throws {
        var checkers = try wanderer()
        try show(second, &checkers)
        try checkers.observe(.beganAnew(peer: 7))
        try show(second, &checkers)
        let violation = try #require(#expect(throws: Violation.self) { try show(second, &checkers) })
        #expect(violation.promise == .snapshotComesFirst)
    }

    private func show(_ history: History, _ checkers: inout Checkers<SlotWorkload>) throws {
        let bytes = try SlotCoder().encode(SlotLoop().initial)
        try checkers.observe(.shown(peer: 7, history, .state(.initial, bytes)))
    }

    /// It never learned which history is the present one, for records do not reach all checkers by the same way.
    @Test func `knows that the present one may be followed again`() throws {
        var checkers = try wanderer()
        try show(second, &checkers)
    }

    @Test func `sees one that is over followed again`() throws {
        var checkers = try wanderer()
        try show(second, &checkers)
        let violation = try #require(#expect(throws: Violation.self) { try show(first, &checkers) })
        #expect(violation.promise == .snapshotComesFirst)
    }
}

@Suite struct `The checker of durable frames` {
    /// Every message that names a state or its seq.
    private static func messages(about seq: Seq) -> [ToPeer] {
        [
            .update(seq, state: []), .serverHeartbeat(seq), .stateHash(seq, 0), .unchanged(.initial...seq),
            .delta(StateDelta(base: .initial ... .initial, seq: seq, hash: nil, bytes: [])),
            .statePart(StatePart(transfer: 1, seq: seq, part: 0, end: .state, bytes: [])),
        ]
    }

    @Test(arguments: messages(about: Seq(1))) func `sees a seq that the journal does not have`(message: ToPeer) throws {
        let violation = try #require(#expect(throws: Violation.self) { try leave(message) })
        #expect(violation == Violation(.durableBeforeVisible, "seq 1 left the reducer, the journal has 0"))
    }

    @Test(arguments: messages(about: .initial)) func `accepts a seq that it has`(message: ToPeer) throws {
        try leave(message)
    }

    private func leave(_ message: ToPeer) throws {
        let plan = SimulationPlan.drawn(Scenario(seed: 1), .own).0
        var checkers = Checkers(SlotWorkload(plan: plan), hasShadow: false, breaking: BrokenRules())
        try checkers.observe(.began(History(1)))
        let frame = PeerFrame(history: History(1), epoch: .none, session: .none, message: message)
        try checkers.observe(.left(.reply(.local, frame)))
    }
}
