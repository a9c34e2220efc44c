import LoopCluster
import LoopCore
import LoopWire

/// One of the reducer's processes, with its place among them. One that has the journal in a file is alone.
final class Candidate<Definition: LoopDefinition> {
    let index: Int
    var process: ReducerProcess<Definition>
    /// How it stands to the database; unused where the journal is a file.
    var hold = DatabaseHold()
    /// The state that it has replayed, the end of the row up to which the journal has it, and the records ahead of that end, which the
    /// journal may lack. Nil if it follows nothing.
    var warm: (core: JournaledState<Definition>, end: BatchLink, ahead: [Record])?
    /// How it follows the journal while it stands by.
    var following = StandbyFollowing(pace: 0)
    /// How many nanoseconds of its steady clock a virtual second has, divided by 10⁹.
    var rate = 1.0
    /// What it has read of the folder of keys.
    var keys = KeyReading()
    /// It cannot reach the database before that.
    var cutUntil: UInt64 = 0

    init(index: Int, process: consuming ReducerProcess<Definition>) {
        self.index = index
        self.process = process
    }

    /// Where peers find it.
    var address: String { Self.address(index) }

    static func address(_ index: Int) -> String { "tcp://candidate:\(7710 + index)" }

    /// Its steady clock, as it judges leases.
    func steady(at now: UInt64) -> UInt64 { UInt64(Double(now) * rate) }
}

/// How a process that stands by follows the journal.
struct StandbyFollowing {
    /// How many records it replays between two looks.
    let pace: UInt64
    /// A server that does not move any more, from which it reads; nil if it reads the leader's.
    var source: JournalView?
    /// How many of the records that it has read it has still to replay. The simulator replays them at once, and counts.
    var backlog: UInt64 = 0
    /// Where the leader's journal ended at its last sign of life, and when that came, by the process's steady clock.
    var heard: (end: BatchLink, at: UInt64)? { didSet { signsCount += 1 } }
    /// How many signs of life have come since it has read records.
    private var signsCount = 0
    /// How many failovers had lost records when its server had the newest ones that it has read; nil if it has written them.
    private(set) var lossesCount: Int?
    /// The row as it was free first, and when, by that clock.
    var free: (sign: JournalRow.Sign, since: UInt64)?
    /// Since when its server has not had what the leader has, by that clock.
    private var stillSince: UInt64?
    /// Since when it has looked all the time, and was level at each look; nil if it has not.
    var levelSince: UInt64?
    /// When it has looked last.
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

    /// Whether what a server lacks is lost: it has all that the leader has, which was heard within its lease,
    /// and after the newest records were read.
    func isCurrent(_ source: JournalView, lease: UInt64, at steady: UInt64) -> Bool {
        signsCount > 1 && hasAll(source) && heard.map { steady - $0.at <= lease / 100 * 115 } ?? false
    }

    /// Whether its server has been behind for a second.
    mutating func isStill(_ isBehind: Bool, at steady: UInt64) -> Bool {
        stillSince = isBehind ? stillSince ?? steady : nil
        return stillSince.map { steady - $0 > 1_000_000_000 } ?? false
    }
}

/// How a process stands to the journal's row.
///
///     away ── connects ──▶ standing by ── the holder is silent ──▶ taking over ── the row is its own ──▶ leading
///      ▲                        ▲                                        └── another was faster ──┐        │
///      │                        └─────────────────────────────────────────────────────────────────┘        │
///      └── whatever is unknown: a lost connection, a deadline, a statement that changed no row ◀───────────┘
struct DatabaseHold {
    enum Standing: Equatable {
        /// The process does not run.
        case gone
        /// It connects at this time.
        case away(until: UInt64)
        case standingBy
        case takingOver
        case leading(SimulatedTerm)
    }

    var standing = Standing.gone
    /// A random number of the process's own.
    var holder: UInt64 = 0
    /// The number of its connection; nil: it has none.
    var connection: Int?
    /// The statements that have no answer, the oldest first.
    var sent: [Sent] = []
    /// When the newest statement was sent of those that have shown that it leads.
    var provenAt: UInt64 = 0
    /// The end of what it has sent, and of what it has a receipt for.
    var end = BatchLink()
    var receipt = BatchLink()
    /// The row with which its term began, or nil if it has no term.
    var taken: JournalRow?
    var watch = HolderWatch()
    /// The row as it was seen last.
    var seen: JournalRow?
    /// It has let go of the journal, and takes nothing more.
    var isSteppingDown = false

    /// A statement that has no answer.
    struct Sent {
        let at: UInt64
        /// The turn that waits for it; nil: none does.
        let turn: TurnUnderWay?
    }

    var term: SimulatedTerm? { if case .leading(let term) = standing { term } else { nil } }
}
