/// What the connections of a reducer may cost it. One that takes more is ended, and counted; a peer then connects again.
///
/// Bytes are counted where the system tells them: for `tcp://`, and not for `ipc://`, whose path is for the reducer's user alone.
public struct ConnectionLimits: Sendable, Hashable {
    /// How many connections there may be. The process's limit of open files lowers it. For one more, the one that has been silent for
    /// the longest ends.
    public var connectionsMax: Int
    /// How many new connections are taken in a second, and a quarter of these at once after a pause. More of them are put off: their peers
    /// connect later.
    public var connectionsPerSecond: Int
    /// How long a connection to the router or the publisher may be open before its first message.
    public var firstMessageLimit: Duration
    /// How many bytes of a message may have arrived while it has not ended. Small frames take some twenty times as much memory.
    public var unfinishedBytesMax: Int
    /// How many bytes of a connection may have arrived that the reducer has not read, while it is busy.
    public var inputBytesMax: Int
    /// The same, of all connections together: beyond it the one with the most ends.
    public var inputBytesTotal: Int
    /// How many bytes a connection may send to subscribe and to unsubscribe, in its whole life.
    public var subscriptionBytesMax: Int
    /// How many bytes of answers may be on their way to a connection.
    public var answerBytesMax: Int
    /// The same, to all connections together: beyond it no answer is given, and the connection with the most ends.
    public var answerBytesTotal: Int
    /// How long a connection may take no byte while some are on their way to it.
    public var stalledLimit: Duration

    /// Creates limits; each has a default that suits a production loop.
    public init(
        connectionsMax: Int = 3072, connectionsPerSecond: Int = 1000, firstMessageLimit: Duration = .seconds(5),
        unfinishedBytesMax: Int = 2 << 20,
        inputBytesMax: Int = 8 << 20, inputBytesTotal: Int = 32 << 20, subscriptionBytesMax: Int = 64 << 10,
        answerBytesMax: Int = 8 << 20,
        answerBytesTotal: Int = 64 << 20, stalledLimit: Duration = .seconds(10)
    ) {
        self.connectionsMax = connectionsMax
        self.connectionsPerSecond = connectionsPerSecond
        self.firstMessageLimit = firstMessageLimit
        self.unfinishedBytesMax = unfinishedBytesMax
        self.inputBytesMax = inputBytesMax
        self.inputBytesTotal = inputBytesTotal
        self.subscriptionBytesMax = subscriptionBytesMax
        self.answerBytesMax = answerBytesMax
        self.answerBytesTotal = answerBytesTotal
        self.stalledLimit = stalledLimit
    }

    /// These limits in a process that may have so many files open: some are left for the journal, the sockets and what else there is.
    func within(descriptors: Int) -> ConnectionLimits {
        var limits = self
        limits.connectionsMax = max(8, min(connectionsMax, descriptors - max(64, descriptors / 8)))
        return limits
    }
}
