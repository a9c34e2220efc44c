public import ZMQ

/// How a reducer node runs.
public struct ReducerNodeConfiguration: Sendable {
    /// The address of its ROUTER socket; see `ReducerEndpoints` for the other two.
    public var bind: String
    /// Binds beyond this machine although there are no keys: everybody who reaches the address may take part.
    public var isInsecure: Bool
    /// How long a worker may be silent before its effects may be given to others.
    public var silenceLimit: Duration
    /// How many effects run at once in the reducer's own process, for feedbacks that are placed there.
    public var localCapacity: Int
    /// How long the end of the loop is announced before the node goes, while peers are there.
    public var farewell: Duration
    /// The process's context; nil makes one for this node alone.
    public var context: ZMQContext?
    /// Called once, with the bound address, when peers can connect.
    public var onListening: @Sendable (String) -> Void
    /// Where lines for people go.
    public var log: @Sendable (String) -> Void

    public init(
        bind: String = "tcp://127.0.0.1:7710", isInsecure: Bool = false, silenceLimit: Duration = .seconds(3),
        localCapacity: Int = 256, farewell: Duration = .seconds(2), context: ZMQContext? = nil,
        onListening: @escaping @Sendable (String) -> Void = { _ in },
        log: @escaping @Sendable (String) -> Void = StandardError.line
    ) {
        self.bind = bind
        self.isInsecure = isInsecure
        self.silenceLimit = silenceLimit
        self.localCapacity = localCapacity
        self.farewell = farewell
        self.context = context
        self.onListening = onListening
        self.log = log
    }
}
