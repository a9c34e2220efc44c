import LoopCore

/// Limits how much one turn reads from a socket whose connections may send more than the turn has time for.
///
/// A socket reads one message of each connection after another (fair queueing). When the time is up, the turn reads one more round.
/// So it has read from each connection that has sent something, whatever the others have sent. The next turn continues from there.
struct DrainLimit: Equatable {
    private let ends: MonotonicTime
    /// The connections that were read since the time was up.
    private var lastRound: Set<[UInt8]> = []
    /// Whether another message may be read.
    private(set) var allowsMore = true

    /// - Parameter ends: when the last round begins.
    init(ends: MonotonicTime) { self.ends = ends }

    /// Notes that a message was read.
    /// - Parameter connection: the identity of the connection that it came from.
    mutating func hear(_ connection: [UInt8], at now: MonotonicTime) {
        if now >= ends, !lastRound.insert(connection).inserted { allowsMore = false }
    }
}
