import LoopCluster
import LoopCore
import LoopJournal
import LoopWire

/// A reducer's machine and one peer's, connected by the bytes that they would send. Time advances with each turn.
struct Pair<Definition: LoopDefinition> {
    /// The side whose work is measured.
    enum Side {
        case reducer
        case peer
    }

    private var reducer: ReducerMachine
    private(set) var peer: PeerMachine
    private var journal: MemoryJournal
    private let measured: Side
    var meter = Meter()

    private var nanoseconds: UInt64 = 1_000_000_000
    private var toReducer: [[UInt8]] = []
    private var batches: [[UInt8]] = []
    private var published: [[UInt8]] = []
    private var replies: [[UInt8]] = []
    /// The effects that the peer was told to run since the last call.
    private(set) var runs: [Grant] = []

    init(_ definition: Definition, measuring side: Side, capacity: Int = 0) {
        let now = Moment(monotonic: MonotonicTime(nanoseconds: 1_000_000_000), wall: WallTime(milliseconds: 1_000))
        measured = side
        journal = MemoryJournal(history: History(7))
        reducer = ReducerMachine(
            definition: definition, configuration: ReducerConfiguration(stateHashes: false), coder: CBORCoder(),
            history: History(7), seed: 1, nonce: 1, at: now)
        let fingerprint = DefinitionFingerprint(of: definition)
        peer = PeerMachine(
            configuration: PeerConfiguration(
                peer: PeerID(high: 1, low: 2), loop: Definition.name, schema: UInt64(Definition.schema),
                fingerprint: fingerprint.value, feedbacks: fingerprint.feedbacks,
                groups: capacity == 0 ? [] : definition.allFeedbacks.map(\.placement.group), capacity: capacity),
            at: now.monotonic)
    }

    /// Takes turns until the peer has joined.
    mutating func join() {
        for _ in 0..<1000 where !peer.isJoined { turn() }
        precondition(peer.isJoined, "the peer has not joined")
    }

    /// One turn of each side, the peer first.
    mutating func turn() {
        nanoseconds += 100_000
        measure(.peer) { $0.peerTurn() }
        measure(.reducer) { $0.reducerTurn() }
    }

    /// Runs code on the peer, measured as its work.
    mutating func withPeer(_ body: (inout PeerMachine) -> Void) {
        measure(.peer) { body(&$0.peer) }
    }

    mutating func takeRuns() -> [Grant] {
        defer { runs.removeAll(keepingCapacity: true) }
        return runs
    }

    private mutating func measure(_ side: Side, _ part: (inout Pair) -> Void) {
        guard side == measured, meter.isRunning else { return part(&self) }
        var meter = meter
        meter.measure { part(&self) }
        self.meter = meter
    }

    private var now: Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: nanoseconds),
            wall: WallTime(milliseconds: Int64(nanoseconds / 1_000_000)))
    }

    private mutating func peerTurn() {
        let now = now.monotonic
        for bytes in replies { if let frame = try? PeerFrame(bytes: bytes[...]) { peer.receiveReply(frame, at: now) } }
        for bytes in published {
            if let (_, frame) = try? PeerFrame.published(bytes[...]) { peer.receivePublished(frame, at: now) }
        }
        replies.removeAll(keepingCapacity: true)
        published.removeAll(keepingCapacity: true)
        peer.advance(to: now)
        for action in peer.takeActions() {
            switch action {
            case .send(let message): toReducer.append(message.bytes(loop: peer.loop))
            case .run(let grant): runs.append(grant)
            default: break
            }
        }
        while let batch = peer.nextBatch() { batches.append(batch.bytes) }
    }

    private mutating func reducerTurn() {
        let ready = reducer.turn(at: now) { intake in
            for bytes in toReducer {
                if let message = try? ToReducer(bytes: bytes[...], loop: LoopID(name: Definition.name)) {
                    intake.receive(message, from: .router([1]), by: .unknown)
                }
            }
            for bytes in batches { if let batch = try? Batch(bytes: bytes) { intake.receive(batch, by: .unknown) } }
        }
        toReducer.removeAll(keepingCapacity: true)
        batches.removeAll(keepingCapacity: true)
        guard let receipt = try? journal.append(ready.records, through: ready.position) else {
            preconditionFailure("the journal has refused records")
        }
        for outbound in reducer.release(ready, receipt).messages {
            switch outbound {
            case .inbox(let peer, let frame):
                published.append(frame.bytes(topic: .inbox(LoopID(name: Definition.name), peer)))
            case .publish(let topic, let frame): published.append(frame.bytes(topic: topic))
            case .reply(_, let frame): replies.append(frame.bytes(topic: nil))
            }
        }
    }
}
