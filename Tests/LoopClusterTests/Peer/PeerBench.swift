import LoopCluster
import LoopCore
import LoopWire

/// A peer machine on a bench, with the frames that a reducer would send.
struct PeerBench {
    var machine: PeerMachine
    var time: Int64 = 1000
    var history = History(0x77)
    var epoch = Epoch(number: 1, nonce: 5)
    var session = SessionID(3)
    let grant = Grant(
        effect: EffectID(feedback: 0, seq: Seq(1), index: 0), attempt: Attempt(epoch: 1, count: 1), version: Seq(1),
        failures: 0, isResumed: false, request: [1])

    init(outboxEntriesMax: Int = 64, reserved: Int = 8, capacity: Int = 4, places: [String] = []) {
        var configuration = PeerConfiguration(
            peer: alice, loop: "lamps", schema: 2, fingerprint: 1, groups: ["default"], capacity: capacity,
            name: "worker", outboxEntriesMax: outboxEntriesMax, outboxEntriesReserved: reserved)
        configuration.places = places
        machine = PeerMachine(configuration: configuration, at: .zero + .milliseconds(1000))
    }

    var now: MonotonicTime { .zero + .milliseconds(time) }

    /// Time passes.
    mutating func wait(_ milliseconds: Int64 = 0) -> [PeerAction] {
        time += milliseconds
        machine.advance(to: now)
        return machine.takeActions()
    }

    /// A frame through the inbox.
    mutating func publish(_ message: ToPeer) -> [PeerAction] {
        machine.receivePublished(frame(message), at: now)
        return machine.takeActions()
    }

    /// A frame over DEALER.
    mutating func reply(_ message: ToPeer) -> [PeerAction] {
        machine.receiveReply(frame(message), at: now)
        return machine.takeActions()
    }

    /// A frame through the inbox, at an address and in an epoch.
    mutating func publish(_ message: ToPeer, at place: String, epoch: UInt64) -> [PeerAction] {
        let epoch = Epoch(number: epoch, nonce: 5)
        machine.receivePublished(
            PeerFrame(history: history, epoch: epoch, session: session, message: message), from: place, at: now)
        return machine.takeActions()
    }

    /// What a standby answers that knows this epoch, or none.
    mutating func standby(_ message: ToPeer, epoch: UInt64? = nil) -> [PeerAction] {
        let epoch = epoch.map { Epoch(number: $0, nonce: 5) }
        machine.receiveReply(
            PeerFrame(
                history: epoch == nil ? .none : history, epoch: epoch ?? .none, session: .none, message: message),
            at: now)
        return machine.takeActions()
    }

    /// What a reducer publishes that has stepped down: it is of no history.
    mutating func publishStandby(_ message: ToPeer, at place: String) -> [PeerAction] {
        machine.receivePublished(
            PeerFrame(history: .none, epoch: .none, session: .none, message: message), from: place, at: now)
        return machine.takeActions()
    }

    func frame(_ message: ToPeer) -> PeerFrame {
        PeerFrame(history: history, epoch: epoch, session: session, message: message)
    }

    static let introduction = Introduction(
        name: "lamps", schema: 2, fingerprint: 1, publisher: "7711", collector: "7712", eventBytesMax: 32)

    var goodbye: ToReducer { .goodbye(session, alice, history) }

    /// All the way in, with these grants.
    mutating func join(_ grants: [Grant] = []) {
        _ = reply(.introduction(PeerBench.introduction))
        _ = publish(.joinAccepted(watermark: 0, silenceLimit: .seconds(3), tickInterval: .milliseconds(500)))
        _ = reply(.assignments(Assignments(number: 0, watermark: 0, grants: grants)))
    }

    mutating func tick(_ number: UInt64, watermark: UInt64 = 0, received: UInt64 = 0, resend: Bool = false)
        -> [PeerAction]
    {
        publish(
            .tick(
                Tick(number: number, watermark: watermark, received: received, stamp: UInt64(time), resend: resend)))
    }

    mutating func acknowledge(_ base: UInt64, _ watermark: UInt64, _ notable: NotableOutcome...) -> [PeerAction] {
        publish(.acknowledgement(Acknowledgement(base: base, watermark: watermark, notable: notable)))
    }

    /// Up to which entry the outcomes are known, as it says in join requests.
    func joinRequests(in actions: [PeerAction]) -> [UInt64] {
        actions.compactMap { action in
            guard case .send(.join(let joinRequest)) = action else { return nil }
            return joinRequest.watermark
        }
    }

    /// Everything that was sent leaves.
    mutating func push() { while machine.nextBatch() != nil {} }

    mutating func send(_ bytes: [UInt8] = [9], wantsSeq: Bool = false) -> SendResult {
        machine.send(bytes[...], of: nil, wantsSeq: wantsSeq)
    }
}
