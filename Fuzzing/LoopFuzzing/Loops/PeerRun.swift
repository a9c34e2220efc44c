import LoopCluster
import LoopCore
import LoopWire

/// A peer machine that hears anything, whose effects end and whose process sends: what it says can be read, its entries keep
/// their order, and its outbox has a limit.
struct PeerRun {
    private var machine: PeerMachine
    /// Milliseconds.
    private var time: Int64 = 1000
    private var running: [EffectID: Attempt] = [:]
    private var isStopping = false

    private static let configuration = PeerConfiguration(
        peer: PeerID(high: 0, low: 1), loop: Allotment.name, schema: UInt64(Allotment.schema), fingerprint: 1,
        groups: ["default"], capacity: 4, name: "worker", outboxEntriesMax: 32, outboxEntriesReserved: 8,
        outboxBytesMax: 4096)

    init() { machine = PeerMachine(configuration: Self.configuration, at: .zero + .milliseconds(time)) }

    /// A sender that goes on from what an outbox file holds.
    init(resuming input: inout FuzzInput) throws {
        var stream = PeerStream()
        stream.history = History(input.number())
        stream.epoch = Epoch(number: input.number(), nonce: input.number())
        stream.session = SessionID(input.number())
        // As a file's reader checks them.
        stream.base = input.number() >> 3
        stream.settled = input.number() >> 3
        stream.offered = input.number() >> 3
        var reader = ByteReader(input.chunk())
        while !reader.isAtEnd, let entry = try? Entry(from: &reader) { stream.entries.append(entry) }
        stream.offered = min(stream.offered, stream.last)
        machine = PeerMachine(configuration: Self.configuration, resuming: stream, at: .zero + .milliseconds(time))
        try require(machine.stream(after: 0).entries == stream.entries, "a stream is resumed with other entries")
    }

    private var now: MonotonicTime { .zero + .milliseconds(time) }

    /// The kinds of steps in a conversation with a peer.
    enum Step: UInt8, CaseIterable {
        /// A frame through the inbox: the bytes.
        case published
        /// A frame over DEALER: the bytes.
        case reply
        /// Time, in steps of 50 milliseconds.
        case wait
        /// The process sends an event: the bytes.
        case send
        /// The body of a running effect ends: how.
        case end
        /// Batches are pushed; an odd number says that the socket took none.
        case push
        /// What is settled is on disk.
        case keep
        /// The process is to stop.
        case stop
    }

    mutating func step(_ input: inout FuzzInput) throws {
        switch Step.allCases[Int(input.byte()) % Step.allCases.count] {
        case .published:
            let frame = input.chunk()
            if let frame = try? PeerFrame(bytes: frame[...]) { machine.receivePublished(frame, at: now) }
        case .reply:
            let frame = input.chunk()
            if let frame = try? PeerFrame(bytes: frame[...]) { machine.receiveReply(frame, at: now) }
        case .wait:
            time += 50 * Int64(input.byte())
            machine.advance(to: now)
        case .send:
            let wishes = input.byte()
            _ = machine.send(
                input.chunk()[...], of: nil, wantsSeq: wishes & 1 != 0, wantsAnswer: wishes & 2 != 0)
        case .end:
            let kind = input.byte()
            guard let (effect, attempt) = running.min(by: { $0.key < $1.key }) else { break }
            let failure = kind & 1 == 0 ? nil : Failure(message: "no", retryAfter: .seconds(Int(kind)))
            machine.effectEnded(effect, attempt, failure: failure)
            running[effect] = nil
        case .push: try push(isTaken: input.byte() & 1 == 0)
        case .keep: machine.kept(settled: machine.stream(after: .max).settled)
        case .stop:
            machine.stop(at: now)
            isStopping = true
        }
        try checkActions()
        _ = machine.deadline
    }

    private mutating func push(isTaken: Bool) throws {
        var next: UInt64?
        while let batch = machine.nextBatch() {
            try require(try Batch(bytes: batch.bytes) == batch, "\(batch) is read as another batch")
            if let next { try require(batch.first == next, "a batch begins at \(batch.first), not at \(next)") }
            next = batch.first + UInt64(batch.entries.count)
            if !isTaken {
                machine.couldNotPush(batch)
                return
            }
        }
    }

    private mutating func checkActions() throws {
        for action in machine.takeActions() {
            switch action {
            case .send(let message):
                let back = try ToReducer(bytes: message.bytes(loop: ReducerRun.loop)[...], loop: ReducerRun.loop)
                try require(back == message, "\(message) is read as another message")
            case .run(let grant):
                try require(running[grant.effect] == nil, "\(grant.effect) is run twice")
                running[grant.effect] = grant.attempt
            case .stop(let effect, let attempt):
                try require(isStopping || running[effect] == attempt, "\(effect) is stopped and does not run")
                running[effect] = nil
            case .update(let effect, let attempt, _):
                try require(isStopping || running[effect] == attempt, "\(effect) is updated and does not run")
            case .connect, .dial, .redial, .lookUp, .rebuildPush, .settled, .answered, .hasSpace, .keptWaiting,
                .refused,
                .loopEnded, .finished:
                break
            }
        }
        let held = Dictionary(uniqueKeysWithValues: machine.running.map { ($0.key, $0.value.attempt) })
        // A stopping peer runs nothing. It holds what it is granted until time passes, and then hands it back. Meanwhile it may
        // speak of such an attempt, but runs no body for it.
        try require(isStopping ? running.isEmpty : held == running, "\(held) are held, \(running) run")
    }
}
