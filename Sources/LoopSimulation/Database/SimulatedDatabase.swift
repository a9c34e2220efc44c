import LoopCluster
import LoopCore
import LoopWire

/// A database with one loop's journal: the batches, and the row with its holder and its end. It follows the rules of
/// `docs/spec/3-POSTGRES.md`. It has no notion of time, connections or users.
///
///     append: is the term mine, and does my batch follow the newest one? ──▶ one batch more, or nothing
///     takeover: is the row as I saw it? ──▶ a term of mine, or nothing
///
/// While no standby confirms, changes are visible and have no receipt. A failover takes them back.
final class SimulatedDatabase {
    /// The visible records and snapshots.
    let disk: SimulatedDisk
    private(set) var row = JournalRow()
    /// The term of the newest batch.
    private var appendedIn = SimulatedTerm.none
    /// What the standby has, or nil if it has everything.
    private var confirmed: (row: JournalRow, appendedIn: SimulatedTerm)?
    private let rules: BrokenRules

    init(history: History, breaking rules: BrokenRules = BrokenRules()) {
        disk = SimulatedDisk(history: history, alwaysSyncs: true)
        self.rules = rules
    }

    /// Whether the journal has a batch with this end.
    func contains(_ end: RowEnd) -> Bool { disk.end(ofRowAt: end.position) == end }

    /// The disk of a server that does not advance any more, and lacks the newest batches.
    /// - Parameter count: the number of batches that it lacks, but none before the trimmed position.
    func server(without count: Int = 0) -> SimulatedDisk {
        let ends = disk.rows.filter { $0.position >= disk.trimmed }
        return disk.standingStill(at: ends.dropLast(count).last ?? disk.newestEnd)
    }

    // MARK: Statements

    /// Appends a batch.
    /// - Returns: whether it did.
    /// - Throws: ``Violation`` if a batch of an earlier term follows a later takeover, which no broken rule may allow.
    func append(_ batch: SimulatedBatch, in term: SimulatedTerm) throws(Violation) -> Bool {
        let isInTerm = row.term == term || rules.contains(.appendsCompareTheTerm)
        let follows = row.end == batch.before || rules.contains(.appendsCompareTheChain)
        // No two batches begin at the same position.
        guard isInTerm, follows, batch.before.position >= row.end.position else { return false }
        if row.term != term {
            throw Violation(.oneOrder, "a batch of term \(term) is appended in term \(row.term)")
        }
        disk.append(batch, isSynced: confirmed == nil)
        row.end = disk.newestEnd
        appendedIn = term
        return true
    }

    /// Begins a term, if the row has not changed since it was read.
    /// - Returns: the row behind that, or nil if it has changed.
    func takeOver(_ seen: HolderWatch.Sign, by holder: UInt64, at address: String, nonce: UInt64) -> JournalRow? {
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

    /// A snapshot counts if its term is the newest one, and the journal has the records that it covers.
    func add(_ snapshot: SimulatedDisk.Snapshot, in term: SimulatedTerm) {
        guard row.term == term, confirmed == nil else { return }
        disk.add(snapshot, breaking: BrokenRules())
    }

    func trim(before seq: Seq, in term: SimulatedTerm) {
        if row.term == term, confirmed == nil { disk.trim(before: seq) }
    }

    // MARK: Replication

    var isConfirming: Bool { confirmed == nil }

    /// From now on no standby confirms anything.
    func stopConfirming() { if confirmed == nil { confirmed = (row, appendedIn) } }

    /// The standby has everything.
    func confirm() {
        confirmed = nil
        disk.sync()
    }

    /// The standby replaces the primary. What it does not have is lost.
    /// - Returns: the lost records.
    func failOver() -> [Record] {
        guard let confirmed else { return [] }
        (row, appendedIn) = confirmed
        self.confirmed = nil
        return disk.failOver(behind: row.end.position)
    }
}

/// One process's ownership of the journal. Two terms have one number if a failover has lost the first of them.
struct SimulatedTerm: Hashable, Sendable, CustomStringConvertible {
    var number: UInt64 = 0
    var nonce: UInt64 = 0

    static let none = SimulatedTerm()

    var description: String { "\(number)" }
}

/// The records of a turn in the form in which they are appended: behind exactly the expected batch.
struct SimulatedBatch {
    let log: RecordLog
    let before: RowEnd
    let end: RowEnd

    init(_ log: RecordLog, after before: RowEnd) {
        self.log = log
        self.before = before
        let checksum = StableHash.fnv1a(log.bytes, seed: UInt64(before.checksum) ^ 0xcbf2_9ce4_8422_2325)
        end = RowEnd(
            position: before.position + UInt64(log.count),
            checksum: UInt32(truncatingIfNeeded: checksum ^ checksum >> 32))
    }
}

/// The row of the journal.
struct JournalRow: Equatable {
    var term = SimulatedTerm.none
    /// The random number of the holder's process.
    var holder: UInt64 = 0
    /// The address at which peers find that process.
    var address = ""
    var renewals: Int64 = 0
    var isReleased = true
    /// The end of the newest batch.
    var end = RowEnd.start

    var sign: HolderWatch.Sign {
        HolderWatch.Sign(
            journal: 0, term: Int64(term.number), nonce: Int64(bitPattern: term.nonce), renewals: renewals,
            position: end.position)
    }
}
