import LoopCore
import LoopWire

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
