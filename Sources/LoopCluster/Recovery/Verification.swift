package import LoopCore
package import LoopWire

/// Replays a journal, and compares the result with its snapshots and its state hashes (G8).
///
/// It begins at the first record. If another definition wrote that record, it begins at the first snapshot after which only
/// this definition wrote.
package struct Verification<Definition: LoopDefinition> {
    private let definition: Definition
    private let journal: any Journal
    private let coder: any ValueCoder
    private var report = VerifyReport(
        from: 0, through: 0, records: 0, snapshots: 0, stateHashes: 0, difference: nil)

    /// The damage of snapshots that cannot be read. They are not compared, and the replay does not need them.
    private var damages: [String] = []

    /// - Throws: `RecoveryError` and `JournalError` if the journal cannot be replayed at all.
    package static func report(
        on journal: any Journal, of definition: Definition, coder: any ValueCoder
    ) throws -> VerifyReport {
        var verification = Verification(definition: definition, journal: journal, coder: coder)
        let snapshots = try journal.snapshots().sorted { $0.position < $1.position }
        var refusal: (any Error)?
        for start in [nil] + snapshots.map(Optional.some) {
            do {
                guard try verification.run(from: start, snapshots) else { continue }
                var report = verification.report
                let found = [report.difference].compactMap(\.self) + verification.damages
                if !found.isEmpty { report.difference = found.joined(separator: "; ") }
                return report
            } catch let error as DefinitionMismatch {
                refusal = error
            } catch let error as JournalError where error.kind == .trimmed {
                // The first records were trimmed.
                refusal = error
            } catch let error as SnapshotError {
                refusal = error
            }
        }
        if var error = refusal as? JournalError {
            error.reason = ([error.reason] + verification.damages).joined(separator: "; ")
            throw error
        }
        throw refusal
            ?? JournalError(
                .misuse, operation: "verify", reason: "there is nothing in it", remedy: "name another journal")
    }

    private init(definition: Definition, journal: any Journal, coder: any ValueCoder) {
        self.definition = definition
        self.journal = journal
        self.coder = coder
    }

    /// - Returns: false if the start is a snapshot that cannot be read.
    private mutating func run(from start: SnapshotEntry?, _ snapshots: [SnapshotEntry]) throws -> Bool {
        var journaled = JournaledState(definition: definition, coder: coder, history: journal.history)
        if let start {
            guard let restored = try restored(start) else { return false }
            journaled = restored
        }
        journaled.ignoresArguments = true
        report = VerifyReport(
            from: journaled.seq.value, through: journaled.seq.value, records: 0, snapshots: 0, stateHashes: 0,
            difference: nil)
        var next = snapshots.drop { $0.position <= journaled.position }
        var lastEqual = journaled.seq
        try journal.forEachRecord(after: journaled.position) { record in
            do {
                try journaled.apply(record)
            } catch let difference as ReplayDifference {
                report.difference =
                    "the state hash at seq \(difference.seq) is \(hexadecimal(difference.journaled)) in the"
                    + " journal and \(hexadecimal(difference.replayed)) here; they were last equal at seq \(lastEqual)"
                return false
            }
            report.records += 1
            report.through = journaled.seq.value
            if let seq = record.hashedSeq {
                report.stateHashes += 1
                lastEqual = seq
            }
            while let snapshot = next.first, snapshot.position == journaled.position {
                next.removeFirst()
                guard let differences = try differences(of: snapshot, from: journaled) else { continue }
                if !differences.isEmpty {
                    report.difference =
                        "the snapshot at seq \(snapshot.seq) is not what the replay comes to in"
                        + " \(differences.joined(separator: ", ")); they were last equal at seq \(lastEqual)"
                    return false
                }
                lastEqual = journaled.seq
            }
            return true
        }
        return true
    }

    /// - Returns: the differences, or nil if the snapshot cannot be compared, because it is damaged or another definition's.
    private mutating func differences(
        of entry: SnapshotEntry, from journaled: JournaledState
    ) throws -> [String]? {
        let isOwn = entry.fingerprint == DefinitionFingerprint(of: definition).value
        guard let restored = try restored(entry, isOwn: isOwn) else { return nil }
        report.snapshots += 1
        return try restored.differences(from: journaled)
    }

    /// - Parameter isOwn: whether the definition made the snapshot. If not, only its bytes are checked.
    private mutating func restored(
        _ entry: SnapshotEntry, isOwn: Bool = true
    ) throws -> JournaledState? {
        let damage: String
        do {
            let content = try journal.content(of: entry)
            guard isOwn else { return nil }
            return try JournaledState(restoring: content, definition: definition, coder: coder, ignoresArguments: true)
        } catch let error as JournalError where error.kind == .corrupt {
            damage = "the snapshot at seq \(entry.seq) is damaged: \(error.reason)"
        } catch SnapshotError.corrupt(let reason) {
            damage = "the snapshot at seq \(entry.seq) is damaged: \(reason)"
        }
        if !damages.contains(damage) { damages.append(damage) }
        return nil
    }
}
