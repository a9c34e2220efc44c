/// Limits on what the connections of a reducer may cost. A connection that takes more is ended and counted; a peer
/// then connects again.
///
/// Bytes are counted if the system reports them. It does for `tcp://`, but not for `ipc://`, whose path only the reducer's
/// user can reach.
package struct ConnectionLimits: Sendable, Hashable {
    /// How many connections there may be. The process's limit of open files lowers it. For one more, the connection that has
    /// been silent for the longest time ends.
    package var connectionsMax = 3072
    /// How many new connections are taken in a second, and a quarter of these at once after a pause. Peers beyond
    /// that connect later.
    package var connectionsPerSecond = 1000
    /// How long a connection to the router or the publisher may be open before its first message.
    package var firstMessageLimit = Duration.seconds(5)
    /// How many bytes of an incomplete message may have arrived. Small frames take some twenty times as much memory.
    package var unfinishedBytesMax = 2 << 20
    /// How many bytes of a connection may wait unread while the reducer is busy.
    package var inputBytesMax = 8 << 20
    /// How many bytes of all connections together may wait unread. Beyond that, the connection with the most ends.
    package var inputBytesTotal = 32 << 20
    /// How many bytes of subscriptions and their ends a connection may send in its whole life.
    package var subscriptionBytesMax = 64 << 10
    /// How many bytes of answers may be on their way to a connection.
    package var answerBytesMax = 8 << 20
    /// How many bytes of answers may be on their way to all connections together. Beyond that no answer is sent, and the
    /// connection with the most ends.
    package var answerBytesTotal = 64 << 20
    /// How long a connection may accept no byte while some are on their way to it.
    package var stalledLimit = Duration.seconds(10)

    /// Creates limits that suit a production loop.
    package init() {}

    /// Returns these limits for a process with this limit of open files. Some files are reserved for the journal, the sockets
    /// and other uses.
    func within(descriptors: Int) -> ConnectionLimits {
        var limits = self
        limits.connectionsMax = max(8, min(connectionsMax, descriptors - max(64, descriptors / 8)))
        return limits
    }
}
