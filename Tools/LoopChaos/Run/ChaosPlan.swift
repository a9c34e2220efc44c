/// The options of a run.
public struct ChaosPlan: Sendable {
    /// How the reducer keeps its events.
    public enum JournalKind: String, CaseIterable, Sendable {
        /// In a file: what was acknowledged survives every fault of the run.
        case file
        /// In memory: a killed reducer forgets, and the run must notice.
        case memory
        /// In a PostgreSQL database, of which the run has the servers. Several reducers take over from each other.
        case postgres
    }

    /// When the run's folder, with the journal, the logs and the pages, stays.
    public enum Keeping: Sendable {
        case never
        case onViolation
        case always
    }

    public var seed: UInt64
    public var duration: Duration
    public var workers: Int
    public var journal: JournalKind
    /// With a database: how many servers it has, 1 or 3.
    public var servers: Int
    /// With a database: how many reducers there are.
    public var reducers: Int
    /// Nothing happens to the reducer's process.
    public var sparesReducer: Bool
    /// How many effects one more worker holds all the time; 0: there is no such worker.
    public var held: Int
    /// A part that cannot run here is a violation.
    public var mustRunAll: Bool
    public var keeping: Keeping
    /// Where `loop-reducer` and `loop-effect` are.
    public var executables: String

    public init(
        seed: UInt64, duration: Duration = ChaosSchedule.durationMin, workers: Int = 3, journal: JournalKind = .file,
        servers: Int = 3, reducers: Int = reducersByDefault, sparesReducer: Bool = false, held: Int = heldByDefault,
        mustRunAll: Bool = false, keeping: Keeping = .onViolation, executables: String
    ) {
        self.seed = seed
        self.duration = duration
        self.workers = workers
        self.journal = journal
        self.servers = journal == .postgres ? servers : 0
        self.reducers = journal == .postgres ? reducers : 1
        self.sparesReducer = sparesReducer
        // A holder that hears of no leader for long gives its effects up, rightly.
        self.held = journal == .postgres ? 0 : held
        self.mustRunAll = mustRunAll
        self.keeping = keeping
        self.executables = executables
    }

    /// More than fit in one message when a worker claims them.
    public static let heldByDefault = 40_000
    public static let reducersByDefault = 3
    static let clients = 2
    /// A worker that is silent for longer loses its effects; faults are shorter and longer than this.
    static let silenceLimit = "1s"
    /// Half as much where leaders and a database fail, which is half of the time: what is open must not grow from fault to fault.
    var pace: DepositClient.Pace { .init(depositsPerSecond: journal == .postgres ? 30 : 60) }
    /// A low limit, which the sessions of short-lived clients and of killed workers would reach if they stayed. Of several reducers
    /// a new one gives no session up for 9 s, in which its peers find it, and the next one may lead by then: the sessions of all
    /// workers that are killed in a row of such leaders stay.
    var sessionsMax: Int { journal == .postgres ? 512 : 64 }
    /// A low number, so that restarts find snapshots, and records after them.
    static let snapshotInterval = 300
    /// The first of the reducer's three ports, on a host of its own.
    static let port: UInt16 = 7710
    /// The longest time without a new event that a run with a database may have.
    static let pauseMax = Duration.seconds(25)
    /// How long the end may take: until all outcomes are known, and until all effects are done.
    static let settleLimit = Duration.seconds(30)

    /// The command that repeats the run's schedule.
    public var command: String {
        var words = ["loop-chaos", "--seed", "\(seed)", "--duration", "\(duration.components.seconds)s"]
        if workers != 3 { words += ["--workers", "\(workers)"] }
        if journal != .file { words += ["--journal", journal.rawValue] }
        if journal == .postgres {
            if servers != 3 { words += ["--servers", "\(servers)"] }
            if reducers != Self.reducersByDefault { words += ["--reducers", "\(reducers)"] }
        } else if held != Self.heldByDefault {
            words += ["--held", "\(held)"]
        }
        if sparesReducer { words.append("--spare-reducer") }
        return words.joined(separator: " ")
    }
}
