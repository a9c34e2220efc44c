import LoopCluster
import LoopCore
import LoopWire

/// A database with one loop's journal: the row that says who holds it and where it ends, and the batches. It keeps the rules of
/// `docs/spec/3-POSTGRES.md`, and knows nothing of time, of connections and of those who use it.
///
///     append: is the term mine, and does my batch follow the newest one? ──▶ one batch more, or nothing
///     takeover: is the row as I saw it? ──▶ a term of mine, or nothing
///
/// While no standby confirms, changes can be seen and have no receipt. A failover takes them back.
final class SimulatedDatabase {
    /// The records and snapshots that can be seen.
    let disk: SimulatedDisk
    private(set) var row = JournalRow()
    /// The checksum at the end of each batch, by its position.
    private var checksums: [UInt64: UInt64] = [0: 0]
    /// The term of the newest batch.
    private var appendedIn = SimulatedTerm.none
    /// What the standby has; nil: everything.
    private var confirmed: (row: JournalRow, appendedIn: SimulatedTerm)?
    /// How many failovers have lost records.
    private(set) var lossesCount = 0
    private let rules: BrokenRules

    init(history: History, breaking rules: BrokenRules = BrokenRules()) {
        disk = SimulatedDisk(history: history, alwaysSyncs: true)
        self.rules = rules
    }

    /// Whether the journal has a batch that ends like this.
    func contains(_ link: BatchLink) -> Bool { checksums[link.position] == link.checksum }

    /// Where the newest batch ends that can be seen.
    var newest: BatchLink { BatchLink(position: disk.position, checksum: checksums[disk.position] ?? 0) }

    /// The journal as a server has it that does not move any more.
    var view: JournalView { view(without: 0) }

    /// The journal as a server has it that does not move any more, and lacks the newest batches.
    /// - Parameter count: how many of the newest batches it lacks. Batches before the trimmed position always count as there.
    func view(without count: Int) -> JournalView {
        let ends = checksums.keys.filter { $0 >= disk.trimmed }.sorted()
        let end = ends.dropLast(count).last ?? disk.position
        return JournalView(
            records: Array(disk.records.prefix(Int(end))), checksums: checksums.filter { $0.key <= end },
            trimmed: disk.trimmed, lossesCount: lossesCount)
    }

    // MARK: Statements

    /// Appends a batch.
    /// - Returns: whether it did.
    /// - Throws: where a batch of an earlier term follows a later takeover, which no rule may let happen.
    func append(_ batch: SimulatedBatch, in term: SimulatedTerm) throws(Violation) -> Bool {
        let isInTerm = row.term == term || rules.contains(.appendsCompareTheTerm)
        let follows = row.end == batch.before || rules.contains(.appendsCompareTheChain)
        // No two batches begin at the same position.
        guard isInTerm, follows, batch.before.position >= row.end.position else { return false }
        if row.term != term {
            throw Violation(.oneOrder, "a batch of term \(term) is appended in term \(row.term)")
        }
        disk.append(batch.log, isSynced: confirmed == nil)
        row.end = BatchLink(position: disk.position, checksum: batch.end.checksum)
        checksums[row.end.position] = row.end.checksum
        appendedIn = term
        return true
    }

    /// Begins a term, if the row is as it was seen.
    /// - Returns: the row behind that; nil: it is not.
    func takeOver(_ seen: JournalRow.Sign, by holder: UInt64, at address: String, nonce: UInt64) -> JournalRow? {
        guard row.sign == seen else { return nil }
        row.term = SimulatedTerm(number: row.term.number + 1, nonce: nonce)
        row.renewals += 1
        (row.holder, row.address, row.isReleased) = (holder, address, false)
        return row
    }

    func renew(_ term: SimulatedTerm) -> Bool {
        guard row.term == term else { return false }
        row.renewals += 1
        return true
    }

    func release(_ term: SimulatedTerm) -> Bool {
        guard row.term == term else { return false }
        row.isReleased = true
        return true
    }

    /// A snapshot counts if the term is the one that is over last, and the journal has what it stands for.
    func add(_ snapshot: SimulatedDisk.Snapshot, in term: SimulatedTerm) {
        guard row.term == term, confirmed == nil else { return }
        disk.add(snapshot, breaking: BrokenRules())
    }

    func trim(before seq: Seq, in term: SimulatedTerm) {
        if row.term == term, confirmed == nil { disk.trim(before: seq) }
    }

    // MARK: Replication

    var isConfirming: Bool { confirmed == nil }

    /// No standby confirms anything from here on.
    func stopConfirming() { if confirmed == nil { confirmed = (row, appendedIn) } }

    /// The standby has everything.
    func confirm() {
        confirmed = nil
        disk.sync()
    }

    /// The standby takes the place of the primary: what it does not have is gone.
    /// - Returns: the records that are gone.
    func failOver() -> [Record] {
        guard let confirmed else { return [] }
        (row, appendedIn) = confirmed
        let lost = disk.losePower(behind: row.end.position)
        checksums = checksums.filter { $0.key <= row.end.position }
        self.confirmed = nil
        if !lost.isEmpty { lossesCount += 1 }
        return lost
    }
}

/// One process's ownership of the journal. A number can be given twice, where a failover has lost the first time.
struct SimulatedTerm: Hashable, Sendable, CustomStringConvertible {
    var number: UInt64 = 0
    var nonce: UInt64 = 0

    static let none = SimulatedTerm()

    var description: String { "\(number)" }
}

/// What a server has of the journal.
struct JournalView {
    let records: [Record]
    let checksums: [UInt64: UInt64]
    let trimmed: UInt64
    /// How many failovers had lost records before.
    let lossesCount: Int

    /// Where the newest batch ends.
    var newest: BatchLink {
        BatchLink(position: UInt64(records.count), checksum: checksums[UInt64(records.count)] ?? 0)
    }

    /// Whether it has a batch that ends like this.
    func contains(_ link: BatchLink) -> Bool { checksums[link.position] == link.checksum }

    /// The records behind a batch, or nil if it does not have the batch, or not all of them any more.
    func records(behind link: BatchLink) -> [Record]? {
        guard contains(link), link.position >= trimmed else { return nil }
        return Array(records.dropFirst(Int(link.position)))
    }
}

/// Where a batch ends, and the checksum that covers it and all before it.
struct BatchLink: Hashable, Sendable {
    var position: UInt64 = 0
    var checksum: UInt64 = 0
}

/// The records of a turn, as they are appended: behind the very batch that is expected there.
struct SimulatedBatch {
    let log: RecordLog
    let before: BatchLink
    let end: BatchLink

    init(_ log: RecordLog, after before: BatchLink) {
        self.log = log
        self.before = before
        end = BatchLink(
            position: before.position + UInt64(log.count),
            checksum: StableHash.fnv1a(log.bytes, seed: before.checksum ^ 0xcbf2_9ce4_8422_2325))
    }
}

/// The row of the journal.
struct JournalRow: Equatable {
    /// What changes as long as the holder lives.
    struct Sign: Equatable {
        var term: SimulatedTerm
        var renewals: UInt64
        var position: UInt64 = 0
    }

    var term = SimulatedTerm.none
    /// The random number of the process that holds it.
    var holder: UInt64 = 0
    /// Where peers find that process.
    var address = ""
    var renewals: UInt64 = 0
    var isReleased = true
    /// Where the newest batch ends.
    var end = BatchLink()

    var sign: Sign { Sign(term: term, renewals: renewals, position: end.position) }
}
