public import LoopCore
import LoopWire

/// What would happen if this program went on with a journal that another one wrote.
public struct RehearsalReport: Codable, Equatable, Sendable {
    /// The replayed range of seqs.
    public var from: UInt64
    /// The last seq that was replayed.
    public var through: UInt64
    /// Where the replay first comes to something else; nil: nowhere.
    public var difference: String?
    /// Events that this program cannot decode.
    public var undecodable: UInt64 = 0
    /// Events of effects that would not have run.
    public var unwanted: UInt64 = 0
    /// Why this program would not start on the journal; nil: it would.
    public var refusal: String?
    /// What taking over would do to the effects that live now.
    public var cancelled = 0
    /// How many effects taking over would start.
    public var started = 0
    /// How many live effects taking over would give a newer request.
    public var updated = 0

    /// Creates a report of a replay in which nothing was found yet.
    public init(from: UInt64, through: UInt64) {
        self.from = from
        self.through = through
    }
}

/// Replays a journal through another program's reducer and queries, and tries its definition upgrade, without touching anything.
public struct Rehearsal<Definition: LoopDefinition> {
    private static var pageBytes: Int { 4 << 20 }

    /// - Throws: `JournalError` and `SnapshotError`, where the journal cannot be read.
    public static func report(
        on journal: any Journal, of definition: Definition, coder: any ValueCoder
    ) throws -> RehearsalReport {
        var report = try replayed(journal, definition, coder)
        try takeOver(journal, definition, coder, &report)
        return report
    }

    private static func replayed(
        _ journal: any Journal, _ definition: Definition, _ coder: any ValueCoder
    ) throws -> RehearsalReport {
        var core = JournaledState(definition: definition, coder: coder, history: journal.history)
        if try !journal.hasFirstRecord() {
            let snapshots = try journal.snapshots()
            // A start needs none that is damaged, as long as there is another one.
            let oldest = snapshots.last { (try? journal.content(of: $0)) != nil } ?? snapshots.last
            if let oldest {
                core = try JournaledState(
                    restoring: journal.content(of: oldest), definition: definition, coder: coder, ignoresArguments: true
                )
            }
        }
        core.ignoresArguments = true
        core.reinterprets = .always
        var report = RehearsalReport(from: core.seq.value, through: core.seq.value)
        var lastEqual = core.seq
        func note(_ text: String) { if report.difference == nil { report.difference = text } }
        while true {
            let records = try journal.records(after: core.position, bytesMax: Self.pageBytes)
            if records.isEmpty { return report }
            for record in records {
                if case .event(let event) = record, let effect = event.effect, core.effects[effect] == nil {
                    report.unwanted += 1
                    note("seq \(event.seq) is an event of the effect \(effect), which does not live then")
                }
                do {
                    try core.apply(record)
                    if let seq = record.hashedSeq { lastEqual = seq }
                } catch let difference as ReplayDifference {
                    note("between seq \(lastEqual) and seq \(difference.seq): the state hashes differ")
                } catch {
                    report.undecodable += 1
                    note("seq \(core.seq.next) cannot be applied: \(error)")
                }
                report.through = core.seq.value
            }
        }
    }

    private static func takeOver(
        _ journal: any Journal, _ definition: Definition, _ coder: any ValueCoder, _ report: inout RehearsalReport
    ) throws {
        do {
            let recovery = try Recovery(definition, from: journal, coder: coder, ignoresArguments: true)
            var core = recovery.core
            for change in try core.apply(.definition(core.ownDefinition)) {
                switch change.kind {
                case .started: report.started += 1
                case .updated: report.updated += 1
                case .cancelled: report.cancelled += 1
                }
            }
        } catch let error as RecoveryError {
            report.refusal = "\(error)"
        }
    }
}
