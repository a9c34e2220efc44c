/// The options of a run.
package struct ChaosPlan: Sendable {
    /// Where the reducer keeps its journal.
    package enum JournalKind: String, CaseIterable, Sendable {
        /// In a file, so that acknowledged events survive every fault of the run.
        case file
        /// In memory, so that a killed reducer forgets, which the run must notice.
        case memory
        /// In a PostgreSQL database whose servers belong to the run. Several reducers take over from each other.
        case postgres
    }

    /// When the run's folder, with the journal, the logs and the pages, is kept.
    package enum Keeping: Sendable {
        case never
        case onViolation
        case always
    }

    package var seed: UInt64
    package var duration: Duration
    package var journal: JournalKind
    /// With a database: the number of its servers, 1 or 3.
    package var servers: Int
    /// Whether the reducer's process has no faults.
    package var sparesReducer: Bool
    /// How many effects one more worker holds all the time; 0 for no such worker.
    package var held: Int
    /// Whether a part that cannot run here is a violation.
    package var mustRunAll: Bool
    package var keeping: Keeping
    /// The folder of `loop-reducer` and `loop-effect`.
    package var executables: String
    /// The program and the first arguments that run one of the workers in place of `loop-effect ledger`, or empty for none.
    package var worker: [String]

    package init(
        seed: UInt64, duration: Duration = ChaosSchedule.durationMin, journal: JournalKind = .file, servers: Int = 3,
        sparesReducer: Bool = false, held: Int = heldByDefault, mustRunAll: Bool = false,
        keeping: Keeping = .onViolation, executables: String, worker: [String] = []
    ) {
        self.seed = seed
        self.duration = duration
        self.journal = journal
        self.servers = journal == .postgres ? servers : 0
        self.sparesReducer = sparesReducer
        // A holder that finds no leader for long rightly gives its effects up.
        self.held = journal == .postgres ? 0 : held
        self.mustRunAll = mustRunAll
        self.keeping = keeping
        self.executables = executables
        self.worker = worker
    }

    /// More than fit into one message when a worker claims them.
    package static let heldByDefault = 40_000
    static let workers = 3
    /// The worker that ``worker`` runs. It is reached through the proxy.
    static let foreignWorker = Target.worker(workers)
    static let clients = 2
    /// Several reducers need a database.
    var reducers: Int { journal == .postgres ? 3 : 1 }
    /// A worker that is silent for longer loses its effects. Some faults are shorter than this, some longer.
    static let silenceLimit = "1s"
    /// With a database, leaders and servers fail half of the time. Half the pace keeps open deposits from growing from
    /// fault to fault.
    var pace: DepositClient.Pace { .init(depositsPerSecond: journal == .postgres ? 30 : 60) }
    /// A low limit, which the sessions of short-lived clients and killed workers would reach if they remained. Of several
    /// reducers, a new leader keeps all sessions for 9 s, in which its peers find it. The next one may lead by then, so the
    /// sessions of workers killed under a series of such leaders remain.
    var sessionsMax: Int { journal == .postgres ? 512 : 64 }
    /// A low number, so that restarts find snapshots and later records.
    static let snapshotInterval = 300
    /// The first of the reducer's three ports on its own host.
    static let port: UInt16 = 7710
    /// The longest time without a new event that is allowed in a run with a database.
    static let pauseMax = Duration.seconds(25)
    /// How long the end may take: until all outcomes are known, and again until all effects have completed.
    static let settleLimit = Duration.seconds(30)

    /// The command that repeats the run's schedule.
    package var command: String {
        var words = ["loop-chaos", "--seed", "\(seed)", "--duration", "\(duration.components.seconds)s"]
        if journal != .file { words += ["--journal", journal.rawValue] }
        if journal == .postgres {
            if servers != 3 { words += ["--servers", "\(servers)"] }
        } else if held != Self.heldByDefault {
            words += ["--held", "\(held)"]
        }
        if sparesReducer { words.append("--spare-reducer") }
        if !worker.isEmpty { words += ["--worker", "'\(worker.joined(separator: " "))'"] }
        return words.joined(separator: " ")
    }
}
