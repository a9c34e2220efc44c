import LoopCluster
import LoopCore

/// One of the reducer's processes, with its position among them. A reducer with a journal in a file has only one.
final class Candidate<Definition: LoopDefinition> {
    let index: Int
    var process: ReducerProcess<Definition>
    /// Its relation to the database, unused if the journal is a file.
    var hold = DatabaseHold()
    /// How it follows the journal while it stands by, or nil if the journal is a file.
    var following: StandbyFollowing<Definition>?
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
    var position: UInt64 { following?.follower.applied?.position ?? 0 }

    /// Its steady clock, by which it judges leases.
    func steady(at now: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(Double(now) * rate)) }
}

/// How a process that stands by follows the journal.
struct StandbyFollowing<Definition: LoopDefinition> {
    /// About how many records it replays between two looks.
    let pace: UInt64
    var follower: JournalFollower<Definition>
    /// What it has heard of the leader.
    var signs: LeaderSigns
    private var watch: SourceWatch
    /// The disk of the server that it reads, which does not advance any more, or nil if it reads the leader's.
    var source: SimulatedDisk?
    /// The number of failovers that had lost records when its server had its newest read records. Nil if it has written them
    /// itself.
    private(set) var lossesCount: Int?
    /// The row when it was first seen free, and the time on its steady clock.
    var free: (sign: HolderWatch.Sign, since: MonotonicTime)?
    /// The time since which it has looked regularly and was level at each look, or nil.
    var levelSince: UInt64?
    /// The time of its last look.
    private(set) var lookedAt: UInt64 = 0
    private let rules: BrokenRules

    init(pace: UInt64, _ follower: JournalFollower<Definition>, lease: Duration, breaking rules: BrokenRules) {
        self.pace = pace
        self.follower = follower
        signs = LeaderSigns(lease: lease, breaking: rules)
        watch = SourceWatch(breaking: rules)
        self.rules = rules
    }

    /// It has looked at the row.
    mutating func look(at now: UInt64, within limit: UInt64) {
        if now > lookedAt + limit { levelSince = nil }
        lookedAt = now
    }

    /// Reads what follows on its server, as a node does.
    /// - Returns: the result, and whether it then has all that the leader has. Nil if that server lacks what was followed, and may
    ///   be behind the leader's; another one is read the next time.
    mutating func look(
        at journal: SimulatedJournal, at steady: MonotonicTime
    ) throws -> (look: JournalFollower<Definition>.Look, isLevel: Bool)? {
        let (signs, before) = (signs, follower.applied?.position)
        let look: JournalFollower<Definition>.Look
        do {
            look = try follower.look(
                at: journal, bytesMax: 1 << 20, isCurrent: { try signs.isCurrent(journal, at: steady) })
        } catch let error as JournalError where error.kind == .unreachable {
            leaveSource()
            return nil
        }
        if let position = follower.applied?.position { self.signs.reach(position) }
        if let after = follower.applied?.position, after != before { lossesCount = journal.disk.lossesCount }
        guard look == .level else { return (look, false) }
        let hasAll = watch.hasAll(through: signs.heard?.end, at: steady) { journal.contains($0) }
        if watch.isStill(at: steady) { leaveSource() }
        return (look, hasAll && max(follower.lag, self.signs.lag) == 0)
    }

    private mutating func leaveSource() { (source, watch) = (nil, SourceWatch(breaking: rules)) }
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
    var end = RowEnd.start
    var receipt = RowEnd.start
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
