import LoopCore
import LoopWire

/// What those are told who follow the state: streams of updates, each on a schedule of its own, and the events.
struct Updates: Sendable {
    /// In the order in which somebody came to follow them.
    var streams: [ServedStream] = []
    /// Whether transitions are noted as they happen.
    var keepsNotes = false
    /// Until then transitions are kept although nobody follows the events: who did may be back in a moment.
    var ringEnds = MonotonicTime.zero
    /// The newest transitions that were told to those who follow the events.
    var ring = TransitionRing()
    /// The newest hash that was told to them, and how far the events were when one was last made.
    var eventHash: (seq: Seq, value: UInt64)?
    var eventsHashedAt = Seq.initial
    /// The newest seq that a server heartbeat has told.
    var announced = Seq.initial
    /// How large the state and its sections were when they were last encoded, in bytes; nil stands for the whole state.
    private var sizes: [Int?: Int] = [:]

    /// A server heartbeat has told of a seq.
    mutating func announce(_ seq: Seq) {
        announced = seq
        for index in streams.indices where streams[index].section != nil { streams[index].mustTell = true }
    }

    /// The next update leaves at once.
    mutating func hurry() {
        for index in streams.indices { streams[index].nextAt = .zero }
    }

    /// When an update is due that cannot leave yet; nil: none.
    func deadline(_ seq: Seq) -> MonotonicTime? {
        streams.lazy.filter { $0.published?.upperBound != seq }.map(\.nextAt).min()
    }

    mutating func note(size: Int, of section: Int?) { sizes[section] = size }

    /// 0 where it was never encoded.
    func size(of section: Int?) -> Int { sizes[section] ?? 0 }

    /// How many hashes there may be of one event: the budget is shared.
    var hashersCount: Int { 1 + streams.count { $0.stream.mode == .delta } }
}

/// A stream of updates that somebody follows, and what was said on it.
struct ServedStream: Sendable {
    let stream: UpdateStream
    /// The position of its section in the definition; nil: all of the state.
    let section: Int?
    /// The seqs at all of which the state is the one that was published last; nil: none was.
    var published: ClosedRange<Seq>?
    /// When the next update may leave.
    var nextAt = MonotonicTime.zero
    /// What the next delta is to.
    var base: DeltaBase?
    /// How much of the newest delta was for each event since the one before, in bytes.
    var bytesPerEvent = 128
    /// The delta of the base to itself: what says that a section has not changed.
    var nothing: [UInt8]?
    /// A hash of the bytes that were published last, where a section is published whole.
    var content: UInt64?
    /// Whether it is to be told that a section has not changed: with each tick, unless an update says more.
    var mustTell = false
    /// The newest hash that was told, and the seq at which one was last made.
    var hash: (seq: Seq, value: UInt64)?
    var hashedAt = Seq.initial

    init(_ stream: UpdateStream, section: Int?) {
        self.stream = stream
        self.section = section
    }

    /// The state is still the one that was published last.
    mutating func stays(through seq: Seq) {
        guard let first = published?.lowerBound else { return }
        published = first...seq
    }

    mutating func publishes(_ seq: Seq) {
        published = seq...seq
        mustTell = false
    }
}

/// What one turn has encoded, for all streams that are due in it.
struct EncodedUpdates {
    var states: [Int?: [UInt8]] = [:]
    var hashes: [Int?: UInt64] = [:]
    /// By the section, and the seqs of what the delta is to.
    var deltas: [DeltaKey: [UInt8]] = [:]

    struct DeltaKey: Hashable {
        let section: Int?
        let from: Seq
        let through: Seq
    }
}
