public import LoopCluster
public import LoopCore
public import LoopKeyFiles
public import ZMQ

/// How a reducer node runs.
public struct ReducerNodeConfiguration: Sendable {
    /// Where it listens.
    public var bind: BindAddress
    /// The folder of the reducer's own keys and of those that it admits; nil: it has no keys. It is read again as it changes.
    public var keys: KeyFolder?
    /// Binds beyond this machine although there are no keys: everybody who reaches the address may take part.
    public var isInsecure: Bool
    /// Where events are kept; by default the file `<loop>.journal` in the working directory.
    public var journal: JournalPlace
    /// What an acknowledgement promises.
    public var durability: Durability
    /// Of a journal in a database: how long after its last sign of life no other reducer takes over, from 250 ms to 60 s. A shorter
    /// one shortens a takeover, and makes one more likely that was not needed.
    public var journalLease = ReducerNodeConfiguration.standardLease
    /// Of a journal in a database: how long a short statement may take, its commit included, from 250 ms to 10 min. After it the reducer
    /// does not know what became of the statement, and begins a new epoch.
    public var journalDeadline = ReducerNodeConfiguration.standardDeadline
    /// Waits for the journal while another reducer has it, instead of refusing to start.
    public var waitsForJournal: Bool
    /// Listens while it waits for the journal, and sends peers to the reducer that has it. Includes `waitsForJournal`.
    public var isStandby = false
    /// Where peers find this reducer, told to standbys and to tools; nil: where it listens, if other machines can dial that.
    public var advertised: ReducerAddress?
    /// The addresses of all reducers of the loop. If there are several, this one asks the others every few seconds whether they lead with
    /// another journal. If they have keys, the address needs those of a client.
    public var reducers: ReducerAddress?
    /// Which events that another definition wrote are replayed with this one, whatever comes of it.
    public var reinterprets: Reinterpretation
    /// Whether a clock that is behind the times in the journal, because it was ahead before, counts as right. The loop's time then
    /// goes back to the clock. It is meant for one start.
    public var acceptsClock = false
    /// The number of records after which a snapshot is made; less often where the state is large.
    public var snapshotInterval: UInt64
    /// Whether each event is reduced twice, and everything hashed after it: for development, at several times the cost. The log
    /// names an event that gave two states; `verify` finds what differs between processes at its very seq.
    public var checksPurity = false
    /// How long a worker may be silent before its effects may be given to others.
    public var silenceLimit: Duration
    /// How many effects run at once in the reducer's own process, for feedbacks that are placed there.
    public var localCapacity: Int
    /// How many sessions there may be, not counting the one of this process.
    public var sessionsMax: Int
    /// How many of them one key may have, or one other machine where the reducer has no keys; nil: half of them.
    public var sessionsPerKeyMax: Int?
    /// What connections may cost the reducer.
    public var connectionLimits: ConnectionLimits
    /// How long the end of the loop is announced before the node goes, while peers are there.
    public var shutdownGracePeriod: Duration
    /// The process's context; nil makes one for this node alone. A reducer with keys has its own, and uses this for nothing.
    public var context: ZMQContext?
    /// Called once, with the address of the bound socket, when peers can connect.
    public var onListening: @Sendable (ReducerAddress) -> Void
    /// Told the loop's outcome before the journal is marked as that of a run that has ended: what throws, or does not
    /// come back, is told it again at the next start.
    public var onOutcome: (@Sendable (Outcome) throws -> Void)?
    /// Where the events of the log go.
    public var log: LogHandler
    /// Where peers are told to find it; nil: it is not known.
    /// - Parameter bound: where it listens, if it does already.
    func address(bound: ReducerAddress? = nil) -> String? {
        if let advertised { return advertised.description }
        if let bound { return bound.endpoint.isWildcard ? nil : bound.description }
        let endpoint = bind.endpoint
        if case .tcp(_, 0) = endpoint { return nil }
        return endpoint.isWildcard ? nil : endpoint.description
    }

    /// The node's own.
    var killSwitch: KillSwitch?

    /// A second: a healthy reducer renews four times in it.
    package static let standardLease = Duration.seconds(1)
    /// Longer than any healthy standby of the database is late, and shorter than people are patient.
    package static let standardDeadline = Duration.seconds(5)
    static let leases = Duration.milliseconds(250) ... .seconds(60)
    static let deadlines = Duration.milliseconds(250) ... .seconds(600)

    /// - Throws: `NodeError.configuration` where the lease or the deadline is out of range.
    func checkTimes() throws(NodeError) {
        for (name, value, range) in [
            ("journalLease", journalLease, Self.leases), ("journalDeadline", journalDeadline, Self.deadlines),
        ] where !range.contains(value) {
            throw .configuration(
                "the \(name) is \(value), and must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Creates the configuration of a reducer; every value has a default that suits a production loop.
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
