import CBOR
import LoopCluster
import LoopCore
import LoopWire

/// A reducer machine whose turns are checked: its records give its state again, what it consumes only grows, and everything
/// that it says can be read.
struct ReducerRun {
    private(set) var machine: ReducerMachine
    /// What a replay of the records so far gives.
    private var replayed: JournaledState
    private(set) var records: [Record] = []
    /// What the newest turn said.
    private(set) var said: [Outbound] = []
    private var unanswered: [JournalRequest] = []
    /// Milliseconds on both clocks.
    private var time: Int64 = 10_000

    static let history = History(0x1234)
    static let loop = LoopID(name: Allotment.name)

    init(recovered state: JournaledState = Allotment.empty, note: CrashNote? = nil) throws {
        replayed = state
        var state = state
        state.note = note
        machine = ReducerMachine(
            recovered: state, configuration: ReducerConfiguration(eventBytesMax: 256, sessionsMax: 8), seed: 1,
            nonce: 7, at: .at(time))
        var subscriptions = Subscriptions()
        subscriptions.streams = [
            UpdateStream(.full), UpdateStream(.delta), UpdateStream(.full, of: SectionID(name: "beds"), interval: 300),
            UpdateStream(.delta, of: SectionID(name: "beds")),
        ]
        subscriptions.hasTransitions = true
        try turn { $0.follow(subscriptions) }
    }

    /// One turn, as the shell takes it.
    mutating func turn(after milliseconds: Int64 = 0, _ take: (inout ReducerMachine) -> Void = { _ in }) throws {
        let before = machine.journaled
        time += milliseconds
        let ready = machine.turn(at: .at(time)) { intake in
            for request in unanswered {
                intake.answer(.refused("there is no journal"), request.number, request.route)
            }
            take(&intake)
        }
        for record in ready.records { try replayed.apply(record) }
        records += ready.records
        try checkProgress(since: before)
        let position = ready.position
        let released = machine.release(ready, JournalReceipt(through: position))
        said = released.messages
        unanswered = released.journalRequests
        for outbound in said { try Self.checkReadable(outbound) }
    }

    mutating func begin(_ history: History) throws {
        machine.beginHistory(history, at: .at(time))
        try turn()
    }

    private func checkProgress(since before: JournaledState) throws {
        let now = machine.journaled
        try require(replayed.position == now.position, "\(now.position) records, \(replayed.position) are journaled")
        try require(replayed.digest() == now.digest(), "the state changed without a record")
        try require(now.seq >= before.seq && now.time >= before.time, "seq or time went back")
        for (session, record) in before.sessions {
            guard let later = now.sessions[session] else { continue }
            try require(later.watermark >= record.watermark, "session \(session) went back to \(later.watermark)")
        }
    }

    private static func checkReadable(_ outbound: Outbound) throws {
        switch outbound {
        case .inbox(_, let frame), .reply(_, let frame), .publish(_, let frame): try FuzzTarget.checkStable(frame)
        }
    }

    // MARK: A peer that keeps the protocol

    mutating func say(_ message: ToReducer, from peer: PeerID) throws {
        try turn { $0.receive(message, from: .router([UInt8(truncatingIfNeeded: peer.low)]), by: .unknown) }
    }

    static func joinRequest(_ peer: PeerID, capacity: UInt32) -> JoinRequest {
        JoinRequest(
            peer: peer, session: .none, history: .none, epoch: .none, watermark: 0, schema: UInt64(Allotment.schema),
            fingerprint: DefinitionFingerprint(of: Allotment()).value, capacity: capacity,
            groups: capacity > 0 ? ["default"] : [], name: "peer \(peer.low)",
            feedbacks: DefinitionFingerprint(of: Allotment()).feedbacks)
    }

    @discardableResult
    mutating func join(_ peer: PeerID, capacity: UInt32) throws -> SessionID {
        try say(.join(Self.joinRequest(peer, capacity: capacity)), from: peer)
        let session = machine.journaled.sessionByPeer[peer] ?? .none
        try say(.claim(session, machine.epoch, []), from: peer)
        return session
    }

    func batch(_ entries: [Entry], _ session: SessionID) -> Batch {
        // Wrapping as hostile numbers do: the decoder would not have let such a batch through.
        let first = (machine.journaled.sessions[session]?.watermark ?? 0) &+ 1
        return Batch(
            loop: Self.loop, history: machine.history, session: session, settled: 0, applied: 1 << 20, first: first,
            entries: entries)
    }

    mutating func send(_ events: [Allotment.Event], _ session: SessionID) throws {
        let entries = try events.enumerated().map { index, event in
            Entry(kind: .event, payload: try CBOR.encode(event)[...], wantsSeq: true, wantsAnswer: index % 2 == 1)
        }
        // Only what can cross the wire reaches a reducer.
        guard let batch = try? Batch(bytes: batch(entries, session).bytes) else { return }
        try turn { $0.receive(batch, by: .unknown) }
    }
}

extension Moment {
    /// Milliseconds on both clocks.
    static func at(_ milliseconds: Int64) -> Moment {
        Moment(monotonic: .zero + .milliseconds(milliseconds), wall: WallTime(milliseconds: milliseconds))
    }
}
