public import LoopCluster
public import LoopCore
public import ZMQ

/// How a reducer node runs.
public struct ReducerNodeConfiguration: Sendable {
    /// The address at which it listens.
    public var bind: BindAddress
    /// The folder with the reducer's own keys and those that it admits, or nil if it has no keys. Changes are read while it runs.
    public var keys: KeyFolder?
    /// Whether it may bind beyond this machine without keys, so that everyone who reaches the address may take part.
    public var isInsecure: Bool
    /// The journal that keeps the events, by default the file `<loop>.journal` in the working directory.
    public var journal: JournalPlace
    /// What an acknowledged event survives.
    public var durability: Durability
    /// How long after the last renewal no other reducer takes over a journal in a database, from 250 ms to 60 s. A shorter
    /// lease shortens a takeover, and makes unnecessary ones more likely.
    public var journalLease = ReducerNodeConfiguration.standardLease
    /// How long a short statement may take on a journal in a database, including its commit, from 250 ms to 10 min. After it
    /// the reducer does not know the statement's fate, and begins a new epoch.
    public var journalDeadline = ReducerNodeConfiguration.standardDeadline
    /// Whether it waits while another reducer has the journal, instead of refusing to start.
    public var waitsForJournal: Bool
    /// Whether it listens while it waits for the journal, and redirects peers to the leader. Includes `waitsForJournal`.
    public var isStandby = false
    /// The address at which standbys, tools and peers reach this reducer. If nil, it is the bound address, if other machines can
    /// connect to that.
    public var advertised: ReducerAddress?
    /// The addresses of all reducers of the loop. If there are several, this one asks the others every few seconds whether they
    /// lead with another journal. If they have keys, the address needs a client's keys.
    public var reducers: ReducerAddress?
    /// Which events of another definition are replayed with this one, whatever comes of it.
    public var reinterprets: Reinterpretation
    /// Whether a clock that is behind the times in the journal, because it was ahead before, counts as right. The loop's time
    /// then goes back to the clock. Use it for one start.
    public var acceptsClock = false
    /// The number of records after which a snapshot is made. Large states have fewer snapshots.
    public var snapshotInterval: UInt64
    /// Whether each event is reduced twice and everything is hashed afterwards. This is for development, and costs several times as
    /// much. The log names an event that gave two states; `verify` then finds a difference between processes at its exact seq.
    public var checksPurity = false
    /// How long a worker may be silent before its effects may be given to other workers.
    public var silenceLimit: Duration
    /// How many effects of feedbacks that are placed in the reducer's process run at once.
    public var localCapacity: Int
    /// How many sessions there may be, without that of this process.
    public var sessionsMax: Int
    /// How many of them one key may have, or another machine if there are no keys. If nil, half of them.
    public var sessionsPerKeyMax: Int?
    /// Limits on what connections may cost the reducer.
    public var connectionLimits: ConnectionLimits
    /// How long the node announces the end of the loop before it ends, while peers are connected.
    public var shutdownGracePeriod: Duration
    /// The context of the sockets, or nil for one of the node's own. A reducer with keys ignores it and has its own.
    public var context: ZMQContext?
    /// Called once with the address of the bound socket, when peers can connect.
    public var onListening: @Sendable (ReducerAddress) -> Void
    /// Called with the outcome before the journal is marked as ended. If it throws or the process dies, it is called again at
    /// the next start.
    public var onOutcome: (@Sendable (Outcome) throws -> Void)?
    /// Receives the events of the log.
    public var log: LogHandler
    /// The address that it advertises, or nil if that is not known.
    /// - Parameter bound: the address at which it listens, if it does already.
    func address(bound: ReducerAddress? = nil) -> String? {
        if let advertised { return advertised.description }
        if let bound { return bound.endpoint.isWildcard ? nil : bound.description }
        let endpoint = bind.endpoint
        if case .tcp(_, 0) = endpoint { return nil }
        return endpoint.isWildcard ? nil : endpoint.description
    }

    /// Set by the node.
    var killSwitch: KillSwitch?

    /// A second, in which a healthy reducer renews four times.
    package static let standardLease = Duration.seconds(1)
    /// Longer than the delay of any healthy standby of the database, and shorter than people's patience.
    package static let standardDeadline = Duration.seconds(5)
    static let leases = Duration.milliseconds(250) ... .seconds(60)
    static let deadlines = Duration.milliseconds(250) ... .seconds(600)

    /// - Throws: `NodeError.configuration` if the lease or the deadline is out of range.
    func checkTimes() throws(NodeError) {
        for (name, value, range) in [
            ("journalLease", journalLease, Self.leases), ("journalDeadline", journalDeadline, Self.deadlines),
        ] where !range.contains(value) {
            throw .configuration(
                "the \(name) is \(value), and must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Creates the configuration of a reducer. Every value has a default that suits a production loop.
    public init(
        bind: BindAddress = .standard, keys: KeyFolder? = nil, isInsecure: Bool = false,
        journal: JournalPlace = .standard, durability: Durability = .fsync, waitsForJournal: Bool = false,
        reinterprets: Reinterpretation = .never, snapshotInterval: UInt64 = 100_000,
        silenceLimit: Duration = .seconds(3),
        localCapacity: Int = 256, sessionsMax: Int = 10_000, sessionsPerKeyMax: Int? = nil,
        connectionLimits: ConnectionLimits = ConnectionLimits(),
        shutdownGracePeriod: Duration = .seconds(2),
        context: ZMQContext? = nil,
        onListening: @escaping @Sendable (ReducerAddress) -> Void = { _ in },
        onOutcome: (@Sendable (Outcome) throws -> Void)? = nil,
        log: LogHandler = .standardError
    ) {
        self.bind = bind
        self.keys = keys
        self.isInsecure = isInsecure
        self.journal = journal
        self.durability = durability
        self.waitsForJournal = waitsForJournal
        self.reinterprets = reinterprets
        self.snapshotInterval = snapshotInterval
        self.silenceLimit = silenceLimit
        self.localCapacity = localCapacity
        self.sessionsMax = sessionsMax
        self.sessionsPerKeyMax = sessionsPerKeyMax
        self.connectionLimits = connectionLimits
        self.shutdownGracePeriod = shutdownGracePeriod
        self.context = context
        self.onListening = onListening
        self.onOutcome = onOutcome
        self.log = log
    }
}
