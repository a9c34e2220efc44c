public import LoopCluster
public import LoopCore
public import ZMQ

/// How a reducer node runs.
public struct ReducerNodeConfiguration: Sendable {
    /// What a reducer does at its start while another reducer has the journal.
    public enum Succession: Sendable {
        /// It ends with an error.
        case refuse
        /// It waits, and does not listen meanwhile.
        case wait
        /// It waits, listens, and redirects peers to the leader. When it has led, it can stand by again.
        case standby
    }

    /// The address at which it listens.
    public var bind: BindAddress
    /// The folder with the reducer's own keys and those that it admits, or nil if it has no keys. Changes are read while it runs.
    public var keys: KeyFolder?
    /// Whether it may bind beyond this machine without keys, so that everyone who reaches the address may take part.
    public var isInsecure = false
    /// The journal that keeps the events, by default the file `<loop>.journal` in the working directory.
    public var journal: JournalPlace
    /// What an acknowledged event survives.
    public var durability = Durability.fsync
    /// How long after the last renewal no other reducer takes over a journal in a database, from 250 ms to 60 s. A shorter
    /// lease shortens a takeover, and makes unnecessary ones more likely.
    public var journalLease = ReducerNodeConfiguration.standardLease
    /// How long a short statement may take on a journal in a database, including its commit, from 250 ms to 10 min. After it
    /// the reducer does not know the statement's fate, and begins a new epoch.
    public var journalDeadline = ReducerNodeConfiguration.standardDeadline
    /// What it does at its start while another reducer has the journal.
    public var succession = Succession.refuse
    /// The address at which standbys, tools and peers reach this reducer. If nil, it is the bound address, if other machines can
    /// connect to that.
    public var advertised: ReducerAddress?
    /// The addresses of all reducers of the loop. If there are several, this one asks the others every few seconds whether they
    /// lead with another journal. If they have keys, the address needs a client's keys.
    public var reducers: ReducerAddress?
    /// Which events of another definition are replayed with this one, whatever comes of it.
    public var reinterprets = Reinterpretation.never
    /// The number of records after which a snapshot is made. Large states have fewer snapshots.
    public var snapshotInterval: UInt64 = 100_000
    /// The limits of the reducer's machine, and how it checks the clock and the definition. The node itself sets the addresses
    /// and what follows from the rest of this configuration.
    public var machine = ReducerConfiguration()
    /// How many effects of feedbacks that are placed in the reducer's process run at once.
    public var localCapacity = 256
    /// Limits on what connections may cost the reducer.
    package var connectionLimits = ConnectionLimits()
    /// How long the node announces the end of the loop before it ends, while peers are connected.
    public var shutdownGracePeriod = Duration.seconds(2)
    /// Where it answers requests about its health and its metrics over HTTP, or nil for nowhere.
    public var health: HealthEndpoint?
    /// Where it sends the spans of traces, or nil to record none.
    public var traces: TraceExport?
    /// The service manager that is told how it is, or nil for none. The programs set it; a node in another program leaves this to
    /// that program.
    package var serviceManager: ServiceManager?
    /// The context of the sockets, or nil for one of the node's own. A reducer with keys ignores it and has its own.
    public var context: ZMQContext?
    /// Called once with the address of the bound socket, when peers can connect.
    package var onListening: @Sendable (ReducerAddress) -> Void = { _ in }
    /// Called with the outcome before the journal is marked as ended. If it throws or the process dies, it is called again at
    /// the next start.
    public var onOutcome: (@Sendable (Outcome) throws -> Void)?
    /// Receives the events of the log.
    public var log: LogHandler
    /// Set by the node.
    var killSwitch: KillSwitch?
    /// Set by the node.
    var tracer: Tracer?

    /// A second, in which a healthy reducer renews four times.
    package static let standardLease = Duration.seconds(1)
    /// Longer than the delay of any healthy standby of the database, and shorter than people's patience.
    package static let standardDeadline = Duration.seconds(5)
    static let leases = Duration.milliseconds(250) ... .seconds(60)
    static let deadlines = Duration.milliseconds(250) ... .seconds(600)

    /// The address that it advertises, or nil if that is not known.
    /// - Parameter bound: the address at which it listens, if it does already.
    func address(bound: ReducerAddress? = nil) -> String? {
        if let advertised { return advertised.description }
        if let bound { return bound.endpoint.isWildcard ? nil : bound.description }
        let endpoint = bind.endpoint
        if case .tcp(_, 0) = endpoint { return nil }
        return endpoint.isWildcard ? nil : endpoint.description
    }

    /// - Throws: `NodeError.configuration` if the lease or the deadline is out of range.
    func checkTimes() throws(NodeError) {
        for (name, value, range) in [
            ("journalLease", journalLease, Self.leases), ("journalDeadline", journalDeadline, Self.deadlines),
        ] where !range.contains(value) {
            throw .configuration(
                "the \(name) is \(value), and must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }

    /// Creates the configuration of a reducer. Every other value has a default that suits a production loop.
    public init(
        bind: BindAddress = .standard, journal: JournalPlace = .standard, context: ZMQContext? = nil,
        log: LogHandler = .standardError
    ) {
        self.bind = bind
        self.journal = journal
        self.context = context
        self.log = log
    }
}
