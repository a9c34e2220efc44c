public import LoopCore
public import LoopWire

/// Replays a journal, and compares what comes out with its snapshots and its state hashes (G8).
///
/// It begins at the first record or, where another definition wrote what stands there, at the first snapshot after which
/// only this definition did.
public struct Verification<Definition: LoopDefinition> {
    private let definition: Definition
    private let journal: any Journal
    private let coder: any ValueCoder
    private var report = VerifyReport(
        from: 0, through: 0, records: 0, snapshots: 0, stateHashes: 0, difference: nil)

    private var differences: [String] = []

    private static var pageBytes: Int { 4 << 20 }

    /// - Throws: `RecoveryError` and `JournalError`, where the journal cannot be replayed at all.
    public static func report(
        on journal: any Journal, of definition: Definition, coder: any ValueCoder
    ) throws -> VerifyReport {
        var verification = Verification(definition: definition, journal: journal, coder: coder)
        let snapshots = try journal.snapshots().sorted { $0.position < $1.position }
        var refusal: (any Error)?
        for start in [nil] + snapshots.map(Optional.some) {
            do {
                return try verification.run(from: start, snapshots)
            } catch let error as DefinitionMismatch {
                refusal = error
            } catch let error as JournalError where error.kind == .trimmed {
                // The first records were trimmed.
                refusal = error
            } catch let error as SnapshotError {
                refusal = error
            }
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

    private mutating func run(from start: SnapshotEntry?, _ snapshots: [SnapshotEntry]) throws -> VerifyReport {
        var core: JournaledState<Definition>
        if let start {
            core = try JournaledState(
                restoring: journal.content(of: start), definition: definition, coder: coder, ignoresArguments: true)
        } else {
            core = JournaledState(definition: definition, coder: coder, history: journal.history)
        }
        core.ignoresArguments = true
        report = VerifyReport(
            from: core.seq.value, through: core.seq.value, records: 0, snapshots: 0, stateHashes: 0, difference: nil)
        var next = snapshots.drop { $0.position <= core.position }
        var lastEqual = core.seq
        while true {
            let records = try journal.records(after: core.position, bytesMax: Self.pageBytes)
            if records.isEmpty { break }
            for record in records {
                do {
                    try core.apply(record)
                } catch let difference as ReplayDifference {
                    report.difference =
                        "the state hash at seq \(difference.seq) is \(hexadecimal(difference.journaled)) in the"
                        + " journal and \(hexadecimal(difference.replayed)) here; they were last equal at seq \(lastEqual)"
                    return report
                }
                report.records += 1
                report.through = core.seq.value
                if let seq = record.hashedSeq {
                    report.stateHashes += 1
                    lastEqual = seq
                }
                while let snapshot = next.first, snapshot.position == core.position {
                    next.removeFirst()
                    if try !agrees(core, snapshot) {
                        report.difference =
                            "the snapshot at seq \(snapshot.seq) is not what the replay comes to in"
                            + " \(differences.joined(separator: ", ")); they were last equal at seq \(lastEqual)"
                        return report
                    }
                    lastEqual = core.seq
                }
            }
        }
        return report
    }

    /// A snapshot of another definition says nothing about this one.
    private mutating func agrees(_ core: JournaledState<Definition>, _ entry: SnapshotEntry) throws -> Bool {
        guard entry.fingerprint == DefinitionFingerprint(of: definition).value else { return true }
        report.snapshots += 1
        let restored = try JournaledState(
            restoring: journal.content(of: entry), definition: definition, coder: coder, ignoresArguments: true)
        differences = try restored.differences(from: core)
        return differences.isEmpty
    }
}
