import CBOR
import LoopCluster
import LoopCore
import LoopJournal
import LoopLock
import LoopWire

/// What can be done with a journal at rest by a program that has the loop's definition. Reading also works while a reducer
/// writes.
struct JournalTools: Sendable {
    let verify: @Sendable (_ path: String) async throws -> VerifyReport
    let rehearse: @Sendable (_ path: String) async throws -> RehearsalReport
    /// The state after a transition, or the newest; with its seq.
    let state: @Sendable (_ path: String, _ at: Seq?) async throws -> (seq: Seq, bytes: [UInt8])
    let history: @Sendable (_ path: String, _ from: Seq, _ through: Seq?, _ after: UInt64?) throws -> HistoryPage
    /// What the definition's types look like; needs no journal.
    let schema: @Sendable () async throws -> LoopSchema
    /// Forgets records below a seq; returns the first that is left.
    let trim: @Sendable (_ path: String, _ before: Seq) throws -> Seq
    /// Keeps events up to a seq and begins a new history.
    let cut: @Sendable (_ path: String, _ after: Seq) throws -> Void

    /// - Parameters:
    ///   - make: makes the definition as a worker has it; the journal knows the arguments of its run. Not called by what only reads
    ///     or cuts records.
    ///   - note: told once of each thing that a person should know of a journal that is read.
    init<Definition: LoopDefinition>(
        _ make: @escaping @Sendable () async throws -> Definition,
        note: @escaping @Sendable (String) -> Void = { StandardError.line($0) }
    ) {
        let name = Definition.name
        let maker = DefinitionMaker(make)
        let noted = Locked(Set<String>())
        @Sendable func read<Result>(_ path: String, _ body: (any Journal) throws -> Result) throws -> Result {
            let journal = try SQLiteJournal.read(path)
            defer { journal.close() }
            guard journal.loop == name else {
                throw NodeError.journal("\(path) is the journal of the loop \(journal.loop), and this is \(name)")
            }
            for line in journal.openReport where noted.withLock({ $0.insert(line).inserted }) { note(line) }
            return try body(journal)
        }
        verify = { path in
            let definition = try await maker.definition()
            return try read(path) { try Verification.report(on: $0, of: definition, coder: CBORCoder()) }
        }
        schema = { try DefinitionTypes(await maker.definition(), coder: CBORCoder()).schema() }
        rehearse = { path in
            let definition = try await maker.definition()
            return try read(path) { try Rehearsal.report(on: $0, of: definition, coder: CBORCoder()) }
        }
        state = { path, seq in
            let definition = try await maker.definition()
            return try read(path) { journal in
                let recovery = try Recovery(
                    definition, from: journal, coder: CBORCoder(), through: seq, ignoresArguments: true)
                let reached = recovery.core.seq
                if let seq, reached != seq {
                    throw NodeError.journal("\(path) ends at seq \(reached), before seq \(seq)")
                }
                return (reached, try ShownState.encode(recovery.core.state))
            }
        }
        history = { path, from, through, after in
            try read(path) { try HistoryPage(of: $0, from: from, through: through, after: after) }
        }
        trim = { path, seq in
            let journal = try SQLiteJournal.open(
                path, loop: name, durability: .fsync, newHistory: History(SystemRandom.uint64() | 1))
            defer { journal.close() }
            return try journal.trim(before: seq)
        }
        cut = { path, seq in
            try SQLiteJournal.cut(
                path, after: seq, newHistory: History(SystemRandom.uint64() | 1), at: SystemClock.wall)
        }
    }
}
