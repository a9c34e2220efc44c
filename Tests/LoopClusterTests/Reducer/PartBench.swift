import LoopCore
import LoopWire
import Testing

@testable import LoopCluster

/// What one part of a reducer is given by the others: a journaled state of lamps, members, a turn and the time.
struct PartBench {
    var journaled: JournaledState
    var admission = Admission()
    var turn = TurnOutput()
    var context: TurnContext
    private let coder = CBORCoder()

    init(
        policy: EffectPolicy = EffectPolicy(), configuration: ReducerConfiguration = ReducerConfiguration(),
        breaking rules: [Rule] = []
    ) throws {
        journaled = JournaledState(definition: Lamps(policy: policy), coder: coder, history: ReducerBench.history)
        context = TurnContext(
            configuration: configuration, brokenRules: BrokenRules(rules),
            clock: ReducerClock(at: ReducerBench.moment(10_000)))
        try journaled.apply(.definition(journaled.ownDefinition))
        try journaled.apply(.epochBegun(Epoch(number: 1, nonce: 7), WallTime(milliseconds: 10_000)))
        turn.beginEpoch(journaled.epoch, of: journaled.history)
    }

    var now: MonotonicTime { context.now.monotonic }

    /// - Parameter milliseconds: on both clocks, from here on.
    mutating func pass(_ milliseconds: Int64) {
        let now = context.now
        context.clock.pass(
            to: Moment(
                monotonic: now.monotonic + .milliseconds(milliseconds), wall: now.wall + .milliseconds(milliseconds)))
    }

    /// Applies an event that no session has sent.
    /// - Returns: its record.
    @discardableResult
    mutating func apply(_ event: Lamps.Event) throws -> EventRecord {
        let record = EventRecord(
            seq: journaled.seq.next, time: context.now.wall, session: .none, number: 0, effect: nil, attempt: .none,
            wantsSeq: false, bytes: try coder.encode(event)[...])
        try journaled.apply(.event(record))
        return record
    }

    /// A peer asks to join, in a new session.
    mutating func requestJoin(_ peer: PeerID, capacity: UInt32 = 4) throws -> SessionID {
        let session = journaled.nextSession
        try journaled.apply(.sessionOpened(session, peer))
        admission.requestJoin(
            ReducerBench.joinRequest(peer, capacity: capacity), in: session, watermark: 0, feedbacks: [0, 1, 2, 3],
            ReducerBench.route(peer), context)
        return session
    }

    /// A peer asks to join and claims nothing.
    mutating func join(_ peer: PeerID, capacity: UInt32 = 4) throws -> SessionID {
        let session = try requestJoin(peer, capacity: capacity)
        #expect(admission.take(ClaimPart([]), of: session, context) == .counts)
        return session
    }

    /// A frame of this epoch.
    func frame(_ message: ToPeer, _ session: SessionID = .none) -> PeerFrame {
        PeerFrame(history: journaled.history, epoch: journaled.epoch, session: session, message: message)
    }
}
