import LoopCore
import LoopWire

/// The messages to observers of the state: streams of updates, each with its own interval, transitions, and states that are
/// fetched in parts. A stream is served only while an observer follows it. (Protocol, section 8.)
struct Updates: Sendable {
    /// The subscriptions of observers and tools.
    private(set) var subscriptions = Subscriptions()
    /// The streams that are served, in the order in which they were first followed.
    var streams: [ServedStream] = []
    /// The newest seq that a server heartbeat has announced.
    private var announced = Seq.initial
    var encodings = StateEncodings()
    private var feed = EventFeed()
    var transfers: [StateTransfer] = []
    var transfersCount: UInt64 = 0
    /// The observers that wait for this turn's updates.
    var joining: [JoiningObserver] = []

    // MARK: Subscriptions

    /// Takes the subscriptions, as of this turn.
    mutating func follow(
        _ new: Subscriptions, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        guard new != subscriptions else { return }
        var served: [ServedStream] = []
        for stream in new.streams {
            guard let section = journaled.loop.section(stream.section) else { continue }
            guard served.count < context.configuration.updateStreamsMax else {
                if !subscriptions.streams.contains(stream) { turn.count(.updateStreamsFull) }
                continue
            }
            served.append(streams.first { $0.stream == stream } ?? ServedStream(stream, section: section.index))
        }
        streams = served
        subscriptions = new
    }

    /// Publishes the state in this turn, so that a new subscriber to a stream of whole states does not wait for a change.
    mutating func publishAgain(_ stream: UpdateStream) {
        guard stream.mode == .full, let index = streams.firstIndex(where: { $0.stream == stream }) else { return }
        streams[index].published = nil
        streams[index].content = nil
    }

    /// Takes note that a server heartbeat has announced a seq.
    mutating func announce(_ seq: Seq) {
        announced = seq
        for index in streams.indices where streams[index].section != nil { streams[index].mustTell = true }
    }

    /// Lets the next update leave at once.
    mutating func hurry() {
        for index in streams.indices { streams[index].nextAt = .zero }
    }

    /// When the next update is due that cannot leave yet, or nil if there is none.
    func deadline(_ seq: Seq) -> MonotonicTime? {
        streams.lazy.filter { $0.published?.upperBound != seq }.map { $0.nextAt }.min()
    }

    /// Notes the transition of an event that was applied.
    mutating func note(_ record: EventRecord) { if subscriptions.hasTransitions { feed.note(record) } }

    /// Forgets the transfers of the history before that are still being encoded.
    mutating func beginHistory() { transfers.removeAll { !$0.isComplete } }

    // MARK: The end of a turn

    /// Publishes what is due, and answers the observers that have waited for it.
    mutating func publish(_ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext) {
        for index in streams.indices { publish(at: index, journaled, &turn, context) }
        answerJoining(journaled, &turn, context)
        feed.publish(journaled, &turn)
        encodings.endTurn()
    }

    private mutating func publish(
        at index: Int, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        let isDue =
            streams[index].published?.upperBound != journaled.seq
            && (context.now.monotonic >= streams[index].nextAt || streams[index].isGrowing(journaled, context))
        guard isDue || streams[index].mustTell else { return }
        var served = streams[index]
        if isDue {
            switch served.stream.mode {
            case .full: publishWhole(&served, journaled, &turn, context)
            case .delta: publishDelta(&served, journaled, &turn, context)
            }
        }
        // A tick has announced a newer seq. Without this message, observers would fetch what has not changed. An observer that
        // lost the newest change notices it by this message.
        if served.mustTell, let same = served.published, same.upperBound >= announced {
            turn.publish(.unchanged(same), on: journaled.topic(of: served))
            served.mustTell = false
        }
        streams[index] = served
    }

    /// Publishes what was encoded. If it does not fit into one message, it is only announced, and observers fetch it in parts.
    private func publish(
        _ message: ToPeer, _ byteCount: Int, _ served: inout ServedStream, _ journaled: JournaledState,
        _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        served.publishes(journaled.seq)
        if byteCount <= context.configuration.stateBytesMax {
            turn.publish(message, on: journaled.topic(of: served))
        } else {
            turn.publish(.serverHeartbeat(journaled.seq), on: .tick(journaled.loop.id))
        }
    }

    private mutating func publishWhole(
        _ served: inout ServedStream, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        guard let bytes = encodings.state(served.section, journaled) else { return }
        served.wait(after: bytes.count, context)
        if served.section != nil {
            let content = StableHash.quick(bytes)
            if served.published != nil, served.content == content { return served.stays(through: journaled.seq) }
            served.content = content
        }
        publish(.update(journaled.seq, state: bytes), bytes.count, &served, journaled, &turn, context)
    }

    private mutating func publishDelta(
        _ served: inout ServedStream, _ journaled: JournaledState, _ turn: inout TurnOutput, _ context: TurnContext
    ) {
        let seq = journaled.seq
        guard let base = served.base, let since = served.published else {
            // An observer whose state is older than this base of the next deltas fetches the state.
            served.wait(after: 0, context)
            served.publishes(seq)
            served.rebase(on: journaled)
            served.hashedAt = seq
            return turn.publish(.unchanged(seq...seq), on: journaled.topic(of: served))
        }
        guard let bytes = encodings.delta(to: base, since, served.section, journaled) else { return }
        let eventsCount = Int(clamping: seq.value - since.upperBound.value)
        served.bytesPerEvent = max(0, bytes.count - base.byteCount) / max(1, eventsCount)
        // A delta costs as much as has changed, so waiting longer would only make it larger.
        served.wait(after: 0, context)
        if served.section != nil, served.nothing == bytes { return served.stays(through: seq) }
        let isHashDue = encodings.isHashDue(
            since: served.hashedAt, of: served.section, sharers: hashersCount, journaled)
        let hash = isHashDue ? encodings.hash(served.section, journaled) : nil
        if let hash {
            served.hash = (seq, hash)
            served.hashedAt = seq
        }
        publish(
            .delta(StateDelta(base: since, seq: seq, hash: hash, bytes: bytes)), bytes.count, &served, journaled, &turn,
            context)
        // The base is the last published state, however many states there were in between.
        served.rebase(on: journaled)
    }

    // MARK: Hashes

    /// How many streams share the budget for hashes.
    private var hashersCount: Int { streams.count { $0.stream.mode == .delta } }

    /// The size up to which a state is hashed at a tick, however few events there were. It takes some milliseconds at most.
    private static var hashedBytesMax: Int { 256 << 10 }

    /// Whether a section is small enough to be hashed at a tick. One that another thread is encoding counts as large, whatever
    /// its last known size.
    private func isSmall(_ section: Int?, _ journaled: JournaledState) -> Bool {
        encodings.size(of: section, journaled) <= Self.hashedBytesMax
            && !transfers.contains { $0.section == section && !$0.isComplete }
    }

    /// Publishes the newest hashes again with a tick, for observers that have missed them. If the loop has come to rest, it
    /// publishes hashes of the present state.
    mutating func publishHashes(_ journaled: JournaledState, _ turn: inout TurnOutput) {
        for index in streams.indices where streams[index].stream.mode == .delta {
            guard let same = streams[index].published else { continue }
            let section = streams[index].section
            if same.upperBound == journaled.seq, streams[index].hash.map({ !same.contains($0.seq) }) ?? true,
                isSmall(section, journaled), let hash = encodings.hash(section, journaled)
            {
                streams[index].hash = (journaled.seq, hash)
                streams[index].hashedAt = journaled.seq
            }
            if let hash = streams[index].hash, same.contains(hash.seq) {
                turn.publish(.stateHash(hash.seq, hash.value), on: journaled.topic(of: streams[index]))
            }
        }
    }
}

extension ServedStream {
    /// Whether the next delta should leave before its time, because later it may not fit into a message. This is so only if the
    /// observers chose no interval, and if most of the delta is what events have changed.
    fileprivate func isGrowing(_ journaled: JournaledState, _ context: TurnContext) -> Bool {
        guard stream.mode == .delta, stream.interval == 0, let base, let published else { return false }
        let limit = context.configuration.stateBytesMax / 2 - base.byteCount
        let eventsCount = min(journaled.seq.value - published.upperBound.value, 1 << 30)
        let changed = Int(eventsCount) * min(bytesPerEvent, 1 << 30)
        return limit > 0 && changed > max(limit, base.byteCount)
    }

    /// Sets the time of the next update. A large state costs more to encode, so it is published less often.
    fileprivate mutating func wait(after byteCount: Int, _ context: TurnContext) {
        let own = Duration.milliseconds(stream.interval)
        let interval = max(own, .seconds(1 / context.configuration.updatesPerSecond))
        nextAt = context.now.monotonic + interval * max(1, byteCount / (128 << 10))
    }

    /// Makes the present state the base of the next delta.
    fileprivate mutating func rebase(on journaled: JournaledState) {
        base = try? journaled.loopState.base(section: section)
        nothing = nil
        if section != nil, let base { nothing = try? journaled.loopState.delta(since: base, section: section) }
    }
}

extension LoopFacts {
    /// What observers may follow of a state.
    enum Part {
        case whole
        /// The section at this position in the definition.
        case section(Int)

        /// The position of the section, or nil for the whole state.
        var index: Int? { if case .section(let index) = self { index } else { nil } }
    }

    /// The part of the state with an ID, or nil if there is none.
    func section(_ id: SectionID) -> Part? {
        id == .whole ? .whole : sections.firstIndex { $0.id == id }.map(Part.section)
    }
}

extension JournaledState {
    fileprivate func topic(of served: ServedStream) -> Topic { .updates(loop.id, served.stream) }
}

/// A stream of updates that observers follow, and what was published on it.
struct ServedStream: Sendable {
    let stream: UpdateStream
    /// The position of its section in the definition, or nil for the whole state.
    let section: Int?
    /// The seqs at which the state equals the one that was published last, or nil if none was.
    var published: ClosedRange<Seq>?
    /// When the next update may leave.
    var nextAt = MonotonicTime.zero
    /// The base of the next delta.
    var base: DeltaBase?
    /// The bytes of the newest delta for each event since the one before.
    var bytesPerEvent = 128
    /// The delta from the base to itself. A delta with these bytes shows that a section has not changed.
    var nothing: [UInt8]?
    /// A hash of the bytes that were published last, if a section is published whole.
    var content: UInt64?
    /// Whether to publish that a section has not changed, with each tick, unless an update says more.
    var mustTell = false
    /// The newest hash that was published.
    var hash: (seq: Seq, value: UInt64)?
    var hashedAt = Seq.initial

    init(_ stream: UpdateStream, section: Int?) {
        self.stream = stream
        self.section = section
    }

    /// Takes note that the state still equals the one that was published last.
    mutating func stays(through seq: Seq) {
        guard let first = published?.lowerBound else { return }
        published = first...seq
    }

    mutating func publishes(_ seq: Seq) {
        published = seq...seq
        mustTell = false
    }
}
