package import LoopCore

/// What would happen if this program continued a journal that another one wrote.
package struct RehearsalReport: Codable, Equatable, Sendable {
    /// The seq at which the replay began.
    package var from: UInt64
    /// The last seq that was replayed.
    package var through: UInt64
    /// The first difference that the replay found, or nil if there is none.
    package var difference: String?
    /// How many events this program cannot decode.
    package var undecodable: UInt64 = 0
    /// How many events came from effects that would not have run.
    package var unwanted: UInt64 = 0
    /// Why this program would not start on the journal, or nil if it would.
    package var refusal: String?
    /// How many live effects taking over would cancel.
    package var cancelled = 0
    /// How many effects taking over would start.
    package var started = 0
    /// How many live effects taking over would give a newer request.
    package var updated = 0
}

/// Replays a journal through another program's reducer and queries, and tries its definition upgrade, without changing anything.
package enum Rehearsal {
    /// - Throws: `JournalError` or `SnapshotError` if the journal cannot be read.
    package static func report(
        on journal: any Journal, of definition: some LoopDefinition, coder: any ValueCoder
    ) throws -> RehearsalReport {
        var report = try replayed(journal, definition, coder)
        try takeOver(journal, definition, coder, &report)
        return report
    }

    private static func replayed(
        _ journal: any Journal, _ definition: some LoopDefinition, _ coder: any ValueCoder
    ) throws -> RehearsalReport {
        var journaled = JournaledState(definition: definition, coder: coder, history: journal.history)
        if try !journal.hasFirstRecord() {
            let snapshots = try journal.snapshots()
            // A start needs no damaged snapshot if there is another one.
            let oldest = snapshots.last { (try? journal.content(of: $0)) != nil } ?? snapshots.last
            if let oldest {
                journaled = try JournaledState(
                    restoring: journal.content(of: oldest), definition: definition, coder: coder, ignoresArguments: true
                )
            }
        }
        journaled.ignoresArguments = true
        journaled.reinterprets = .always
        var report = RehearsalReport(from: journaled.seq.value, through: journaled.seq.value)
        var lastEqual = journaled.seq
        func note(_ text: String) { if report.difference == nil { report.difference = text } }
        try journal.forEachRecord(after: journaled.position) { record in
            if case .event(let event) = record, let effect = event.effect, journaled.effects[effect] == nil {
                report.unwanted += 1
                note("seq \(event.seq) is an event of the effect \(effect), which does not live then")
            }
            do {
                try journaled.apply(record)
                if let seq = record.hashedSeq { lastEqual = seq }
            } catch let difference as ReplayDifference {
                note("between seq \(lastEqual) and seq \(difference.seq): the state hashes differ")
            } catch {
                report.undecodable += 1
                note("seq \(journaled.seq.next) cannot be applied: \(error)")
            }
            report.through = journaled.seq.value
            return true
        }
        return report
    }

    private static func takeOver(
        _ journal: any Journal, _ definition: some LoopDefinition, _ coder: any ValueCoder,
        _ report: inout RehearsalReport
    ) throws {
        do {
            let recovery = try Recovery(definition, from: journal, coder: coder, ignoresArguments: true)
            var journaled = recovery.journaled
            for change in try journaled.apply(.definition(journaled.ownDefinition)) {
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
