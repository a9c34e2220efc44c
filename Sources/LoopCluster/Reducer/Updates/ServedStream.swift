import LoopCore
import LoopWire

/// A stream of updates that observers follow, and what was said on it.
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
