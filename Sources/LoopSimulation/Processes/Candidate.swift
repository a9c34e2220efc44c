import LoopCluster
import LoopCore

/// One of the reducer's processes, with its position among them. A reducer with a journal in a file has only one.
final class Candidate<Definition: LoopDefinition> {
    let index: Int
    var process: ReducerProcess<Definition>
    /// Its relation to the database, unused if the journal is a file.
    var hold = DatabaseHold()
    /// The state that it has replayed, or nil if it follows nothing. With it are the end of the row up to which the journal has it,
    /// and its later records, which the journal may lack.
    var warm: (core: JournaledState, end: BatchLink, ahead: [Record])?
    /// How it follows the journal while it stands by.
    var following = StandbyFollowing(pace: 0)
    /// The rate of its steady clock: the nanoseconds that it counts in a virtual second, divided by 10⁹.
    var rate = 1.0
    /// What it has read of the folder of keys.
    var keys = KeyReading()
    /// The time before which it cannot reach the database.
    var cutUntil: UInt64 = 0

    init(index: Int, process: consuming ReducerProcess<Definition>) {
        self.index = index
        self.process = process
    }

    /// The address at which peers find it.
    var address: String { "tcp://candidate:\(7710 + index)" }

    /// The position of the newest record that it has replayed, or 0.
    var position: UInt64 { warm.map { $0.end.position - min($0.end.position, following.backlog) } ?? 0 }

    /// Its steady clock, by which it judges leases.
    func steady(at now: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(Double(now) * rate)) }
}

/// How a process that stands by follows the journal.
struct StandbyFollowing {
    /// The number of records that it replays between two looks.
    let pace: UInt64
    /// The server that it reads, which does not advance any more, or nil if it reads the leader's.
    var source: JournalView?
    /// The number of records that it has read and has still to replay. The simulator replays them at once, and counts.
    var backlog: UInt64 = 0
    /// The end of the leader's journal at its last sign of life, and the time of that sign on the process's steady clock.
    var heard: (end: BatchLink, at: MonotonicTime)? { didSet { signsCount += 1 } }
    /// The number of signs of life since it last read records.
    private var signsCount = 0
    /// The number of failovers that had lost records when its server had its newest read records. Nil if it has written them
    /// itself.
    private(set) var lossesCount: Int?
    /// The row when it was first seen free, and the time on that clock.
    var free: (sign: HolderWatch.Sign, since: MonotonicTime)?
    /// The time on that clock since which its server has lacked something that the leader has.
    private var stillSince: MonotonicTime?
    /// The time since which it has looked regularly and was level at each look, or nil.
    var levelSince: UInt64?
    /// The time of its last look.
    private(set) var lookedAt: UInt64 = 0

    init(pace: UInt64) { self.pace = pace }

    /// It has looked at the row.
    mutating func look(at now: UInt64, within limit: UInt64) {
        if now > lookedAt + limit { levelSince = nil }
        lookedAt = now
    }

    /// It has read records, or has led.
    mutating func read(_ lossesCount: Int?) { (signsCount, self.lossesCount) = (0, lossesCount) }

    mutating func replay() { backlog -= min(backlog, pace) }

    /// Whether a server has the newest record of the leader.
    func hasAll(_ source: JournalView) -> Bool { heard.map { source.contains($0.end) } ?? false }

    /// Whether what a server lacks is lost. The server must have all that the leader has. The leader's sign must have come within
    /// its lease, and after the newest records were read.
    func isCurrent(_ source: JournalView, lease: Duration, at steady: MonotonicTime) -> Bool {
        signsCount > 1 && hasAll(source)
            && heard.map { steady - $0.at <= HolderWatch.silence(ofLease: lease) } ?? false
    }

    /// Whether its server has been behind for a second.
    mutating func isStill(_ isBehind: Bool, at steady: MonotonicTime) -> Bool {
        stillSince = isBehind ? stillSince ?? steady : nil
        return stillSince.map { steady - $0 > .seconds(1) } ?? false
    }
}

/// The relation of a process to the journal's row.
///
///     away ── connects ──▶ standing by ── the holder is silent ──▶ taking over ── the row is its own ──▶ leading
///      ▲                        ▲                                        └── another was faster ──┐        │
///      │                        └─────────────────────────────────────────────────────────────────┘        │
///      └── whatever is unknown: a lost connection, a deadline, a statement that changed no row ◀───────────┘
struct DatabaseHold {
    enum Standing: Equatable {
        /// The process does not run.
        case gone
        /// The process connects at this time.
        case away(until: UInt64)
        case standingBy
        case takingOver
        case leading(SimulatedTerm)
    }

    var standing = Standing.gone
    /// The process's own random number.
    var holder: UInt64 = 0
    /// The number of its connection, or nil if it has none.
    var connection: Int?
    /// The statements without an answer, the oldest first.
    var sent: [Sent] = []
    /// When the newest statement was sent that has proved that it leads.
    var provenAt = MonotonicTime.zero
    /// The end of the rows that it has sent, and of those for which it has a receipt.
    var end = BatchLink()
    var receipt = BatchLink()
    /// The row with which its term began, or nil if it has no term.
    var taken: JournalRow?
    var watch = HolderWatch()
    /// The row as it was last read.
    var seen: JournalRow?
    /// Whether it has released the journal, and accepts nothing more.
    var isSteppingDown = false

    /// A statement without an answer.
    struct Sent {
        let at: MonotonicTime
        /// The turn that waits for it, or nil if none does.
        let turn: TurnUnderWay?
    }

    var term: SimulatedTerm? { if case .leading(let term) = standing { term } else { nil } }
}
