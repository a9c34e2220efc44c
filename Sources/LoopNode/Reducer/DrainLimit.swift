import LoopCore

/// How much one turn reads from a socket whose connections may have more to say than the turn has time for.
///
/// A socket reads one message of each connection after the other (fair queueing). When the time is up, one more round is read:
/// the turn has then heard each connection that had something to say, whatever the others have sent. The next turn goes on where
/// this one has stopped.
struct DrainLimit: Equatable {
    private let ends: MonotonicTime
    /// The connections that were heard since the time was up.
    private var lastRound: Set<[UInt8]> = []
    /// Whether another message may be read.
    private(set) var allowsMore = true

    /// - Parameter ends: when the last round begins.
    init(ends: MonotonicTime) { self.ends = ends }

    /// A message was read.
    /// - Parameter connection: by which the socket knows where it came from.
    mutating func hear(_ connection: [UInt8], at now: MonotonicTime) {
        if now >= ends, !lastRound.insert(connection).inserted { allowsMore = false }
    }
}
