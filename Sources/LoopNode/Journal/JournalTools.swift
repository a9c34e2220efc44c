import CBOR
import LoopCluster
import LoopCore
import LoopCollections
import LoopWire

/// What a program with the loop's definition can do with a journal at rest. Reading also works while a reducer writes.
struct JournalTools: Sendable {
    let verify: @Sendable (_ place: JournalPlace) async throws -> VerifyReport
    let rehearse: @Sendable (_ place: JournalPlace) async throws -> RehearsalReport
    /// Returns the state after a transition, or the newest one, with its seq.
    let state: @Sendable (_ place: JournalPlace, _ at: Seq?) async throws -> (seq: Seq, bytes: [UInt8])
    /// Applies events that have not happened after a transition, or the newest one.
    let whatIf:
        @Sendable (
            _ place: JournalPlace, _ after: Seq?, _ events: [[UInt8]], _ keepsStates: Bool,
            _ onStep: (WhatIf.Step) throws -> Void
        ) async throws -> WhatIf
    /// Throws the error with which a start of this program on the journal would fail.
    let judge: @Sendable (_ place: JournalPlace) async throws -> Void
    let history: @Sendable (_ place: JournalPlace, _ from: Seq, _ through: Seq?, _ after: UInt64?) throws -> HistoryPage
    /// Describes the definition's types. Needs no journal.
    let schema: @Sendable () async throws -> LoopSchema
    /// Deletes records below a seq, and returns a line for people that says what remains.
    let trim: @Sendable (_ place: JournalPlace, _ before: Seq) throws -> String
    /// Keeps events up to a seq and begins a new history. Unless it is forced, it keeps every intact snapshot.
    let cut: @Sendable (_ place: JournalPlace, _ after: Seq, _ isForced: Bool) throws -> Void

    /// - Parameters:
    ///   - make: makes the definition as a worker has it, because the journal knows the arguments of its run. It is not called
    ///     to read or cut records alone.
    ///   - note: called once for each thing that a person should know of a journal that is read.
    init<Definition: LoopDefinition>(
        _ make: @escaping @Sendable () async throws -> Definition,
        note: @escaping @Sendable (String) -> Void = { StandardError.line($0) }
    ) {
        let name = Definition.name
        let maker = DefinitionMaker(make)
        let noted = Locked(Set<String>())
        @Sendable func read<Result>(_ place: JournalPlace, _ body: (any Journal) throws -> Result) throws -> Result {
            guard let open = place.read else { throw NodeError.journal("a journal in memory is its reducer's alone") }
            var journal = try open(name) { line in
                if noted.withLock({ $0.insert(line).inserted }) { note(line) }
            }
            defer { journal.close() }
            return try body(journal)
        }
        verify = { place in
            let definition = try await maker.definition()
            return try read(place) { try Verification.report(on: $0, of: definition, coder: CBORCoder()) }
        }
        schema = { try DefinitionTypes(await maker.definition(), coder: CBORCoder()).schema() }
        rehearse = { place in
            let definition = try await maker.definition()
            return try read(place) { try Rehearsal.report(on: $0, of: definition, coder: CBORCoder()) }
        }
        state = { place, seq in
            let definition = try await maker.definition()
            return try read(place) { journal in
                let journaled = try Recovery(showing: seq, of: journal, definition, coder: CBORCoder()).journaled
                return (journaled.seq, try ShownState.encode(journaled.state(of: definition)))
            }
        }
        whatIf = { place, seq, events, keepsStates, onStep in
            let definition = try await maker.definition()
            return try read(place) {
                try WhatIf(events, after: seq, in: $0, definition, keepsStates: keepsStates, onStep: onStep)
            }
        }
        judge = { place in
            let definition = try await maker.definition()
            try read(place) { journal in
                if let refusal = journal.startRefusal { throw refusal }
                _ = try Recovery(definition, from: journal, coder: CBORCoder(), ignoresArguments: true)
            }
        }
        history = { place, from, through, after in
            try read(place) { try HistoryPage(of: $0, from: from, through: through, after: after) }
        }
        trim = { place, seq in
            // Opening it to trim would make a journal if there is none.
            let newest = try read(place) { try $0.newestSeq() }
            if let refusal = JournalError.refusal(ofTrimBefore: seq, newest: newest) { throw refusal }
            var opening = JournalPlace.Opening(
                loop: name, durability: .fsync, waits: false, isStopping: { false }, note: note)
            opening.keepsEnded = true
            var journal = try place.open(opening)
            defer { journal.close() }
            return try journal.trimmed(before: seq, name: place.name(name))
        }
        cut = { place, seq, isForced in
            guard let cut = place.cut else { throw NodeError.journal("a journal in memory cannot be cut") }
            try cut(name, seq, isForced)
        }
    }
}
