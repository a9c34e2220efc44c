package import LoopCore

/// Rebuilds what the journal determines, from the newest snapshot that can be trusted and the records after it. (Protocol,
/// section 7.)
///
///     newest snapshot ── corrupt ──▶ the one before ── … ──▶ none: from the first record
///            │                                                        │
///            └────────── every record after it, in order ◀────────────┘
///
/// A standby has a warm state, and continues from it if the journal has its last row.
package struct Recovery {
    /// The rebuilt state.
    package private(set) var journaled: JournaledState
    /// The snapshot that it began from, or nil if it began from the first record. After a warm state, it is the newest snapshot.
    package private(set) var snapshot: SnapshotEntry?
    /// The seq of the warm state that it began from, or nil if it did not.
    package private(set) var warmSeq: Seq?
    /// How many records were replayed.
    package private(set) var recordsCount: UInt64 = 0
    /// The newest records of a warm state that the journal lacks. The caller appends them before anything else.
    package private(set) var lacking: [Record] = []
    /// Notes for people, about snapshots and a warm state that could not be used.
    package private(set) var notes: [String] = []

    /// How many bytes of the journal are in memory at a time.
    static var pageBytes: Int { 4 << 20 }

    /// - Parameters:
    ///   - definition: the loop to recover.
    ///   - journal: the journal to replay.
    ///   - coder: the coder of the definition's values.
    ///   - limit: the last seq to replay, or nil for all.
    ///   - reinterprets: which events that another definition wrote are replayed with this one.
    ///   - ignoresArguments: whether to use the journal's initial state instead of the definition's. For tools that do not know
    ///     the arguments of the run.
    ///   - note: the note in which each step is written, in case the process ends in it.
    ///   - rules: the rules that a machine under test breaks.
    ///   - warm: the state from which to continue, if the journal continues it. If not, `notes` says why.
    ///   - isStopped: called before each record; returns true if the result is not needed any more.
    ///   - pages: returns the records after a position, as the journal does, with events that are already decoded. If nil, the
    ///     journal is read here, and events are decoded one by one.
    /// - Throws: `RecoveryError`, or the journal's `JournalError`.
    package init(
        _ definition: some LoopDefinition, from journal: any Journal, coder: any ValueCoder, through limit: Seq? = nil,
        reinterprets: Reinterpretation = .never, ignoresArguments: Bool = false, note: CrashNote? = nil,
        breaking rules: BrokenRules = BrokenRules(), warm: consuming WarmState? = nil, isStopped: (() -> Bool)? = nil,
        pages: ((_ after: UInt64) throws -> DecodedPage)? = nil
    ) throws {
        journaled = JournaledState(definition: definition, coder: coder, history: journal.history)
        if try !goOn(from: warm.take(), journal, rules) {
            try begin(definition, journal, coder, limit, ignoresArguments)
        }
        journaled.brokenRules = rules
        journaled.reinterprets = reinterprets
        journaled.ignoresArguments = ignoresArguments
        journaled.note = note
        do {
            try replay(limit, isStopped) { [pageBytes = Self.pageBytes] position in
                if let pages { return try pages(position) }
                return DecodedPage(records: try journal.records(after: position, bytesMax: pageBytes))
            }
        } catch let error as JournalError where error.kind == .trimmed {
            // No snapshot at the limit or before it could be used.
            for entry in try journal.snapshots().reversed() where limit.map({ entry.seq > $0 }) ?? false {
                guard try journal.isIntact(entry) else { continue }
                throw RecoveryError.trimmed(oldest: entry.seq, damage: notes.first)
            }
            throw RecoveryError.trimmed(oldest: nil, damage: notes.first)
        } catch RecoveryError.unreadable(let seq, let position, let reason, _) where limit != nil {
            // A start may begin from a later snapshot.
            var startsFrom: Seq?
            do {
                startsFrom = try Self(
                    definition, from: journal, coder: coder, reinterprets: reinterprets,
                    ignoresArguments: ignoresArguments, isStopped: isStopped
                ).snapshot?.seq
            } catch let error as JournalError where error.kind.mayPass {
                throw error
            } catch RecoveryError.stopped {
                throw RecoveryError.stopped
            } catch {
                // A start fails too. It was not asked for.
            }
            throw RecoveryError.unreadable(seq: seq, position: position, reason: reason, startsFrom: startsFrom)
        }
    }

    /// Creates a recovery that applies the records it is given later, to follow a journal.
    init(
        beginningIn journal: any Journal, _ definition: some LoopDefinition, coder: any ValueCoder,
        reinterprets: Reinterpretation
    ) throws {
        journaled = JournaledState(definition: definition, coder: coder, history: journal.history)
        try begin(definition, journal, coder, nil, false)
        journaled.reinterprets = reinterprets
    }

    /// Creates a recovery that continues from a warm state.
    init(going warm: WarmState, reinterprets: Reinterpretation) {
        journaled = warm.journaled
        journaled.reinterprets = reinterprets
    }

    /// Applies the next records.
    mutating func apply(_ page: DecodedPage, _ isStopped: (() -> Bool)?) throws(RecoveryError) {
        _ = try journaled.replay(page, nil, isStopped, &recordsCount)
    }

    /// Applies one record of a page, which is the next one.
    mutating func apply(_ page: DecodedPage, at index: Int) throws(RecoveryError) {
        recordsCount += 1
        try journaled.replay(page, at: index)
    }

    /// - Returns: whether the journal continues a warm state.
    private mutating func goOn(
        from warm: WarmState?, _ journal: any Journal, _ rules: BrokenRules
    ) throws(JournalError) -> Bool {
        guard let warm else { return false }
        switch try warm.continuation(in: journal) {
        case .refused(let reason) where !rules.contains(.warmStatesAreCompared):
            notes.append("the warm state at seq \(warm.seq) cannot be used: \(reason)")
            return false
        case .refused: break
        case .lacks(let records): lacking = records
        }
        journaled = warm.journaled
        snapshot = try journal.snapshots().first
        warmSeq = warm.seq
        return true
    }

    private mutating func begin(
        _ definition: some LoopDefinition, _ journal: any Journal, _ coder: any ValueCoder, _ limit: Seq?,
        _ ignoresArguments: Bool
    ) throws {
        for entry in try journal.snapshots() where limit.map({ entry.seq <= $0 }) ?? true {
            do {
                let restored = try JournaledState(
                    restoring: journal.content(of: entry), definition: definition, coder: coder,
                    ignoresArguments: ignoresArguments)
                guard restored.position == entry.position, restored.seq == entry.seq else {
                    throw SnapshotError.corrupt(
                        "it is of record \(restored.position), seq \(restored.seq), and is listed for record \(entry.position)"
                    )
                }
                journaled = restored
                snapshot = entry
                return
            } catch let error as JournalError where error.kind == .corrupt {
                notes.append("the snapshot at seq \(entry.seq) cannot be used: \(error)")
            } catch SnapshotError.corrupt(let what) {
                notes.append(
                    "the snapshot at seq \(entry.seq) cannot be used: it is damaged, \(what)")
            } catch SnapshotError.otherArguments(let other) {
                throw RecoveryError.arguments(other)
            } catch let error as SnapshotError {
                throw RecoveryError.snapshot(error)
            }
        }
    }

    private mutating func replay(
        _ limit: Seq?, _ isStopped: (() -> Bool)?, _ pages: (UInt64) throws -> DecodedPage
    ) throws {
        defer { journaled.note?.leave() }
        while true {
            let page = try pages(journaled.position)
            if page.records.isEmpty { return }
            if !(try journaled.replay(page, limit, isStopped, &recordsCount)) { return }
        }
    }
}

extension JournaledState {
    /// Applies records up to a seq, decoding the events that are not decoded yet.
    /// - Returns: whether there may be more before the limit.
    fileprivate mutating func replay(
        _ page: DecodedPage, _ limit: Seq?, _ isStopped: (() -> Bool)?, _ recordsCount: inout UInt64
    ) throws(RecoveryError) -> Bool {
        let note = note
        for index in page.records.indices {
            if let isStopped, isStopped() { throw .stopped }
            guard Self.beginReplay(of: page.records[index], at: position + 1, limit, note, &recordsCount) else {
                return false
            }
            try replay(page, at: index)
            note?.leave()
        }
        return true
    }

    /// Applies one record of a page.
    fileprivate mutating func replay(_ page: DecodedPage, at index: Int) throws(RecoveryError) {
        let record = page.records[index]
        do {
            // The definition migrates events of another schema.
            let isOfThisSchema = journaledDefinition?.schema == loop.schema
            if isOfThisSchema, let decoded = page.events, let place = decoded.place(of: index) {
                try decoded.lend(place) { _ = try apply(record, decoded: $0) }
            } else {
                try apply(record)
            }
        } catch {
            throw RecoveryError(error, after: seq, at: position)
        }
    }

    /// - Returns: whether the record is to be applied.
    fileprivate static func beginReplay(
        of record: Record, at position: UInt64, _ limit: Seq?, _ note: CrashNote?, _ recordsCount: inout UInt64
    ) -> Bool {
        if case .event(let event) = record {
            if let limit, event.seq > limit { return false }
            note?.enterReplay(position: position, seq: event.seq)
        }
        recordsCount += 1
        return true
    }
}

/// The reason why a journal cannot be replayed.
package enum RecoveryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The replayed state is not the journaled one.
    case differs(ReplayDifference)
    /// Other code wrote the records after the newest snapshot.
    case definition(DefinitionMismatch)
    /// The newest snapshot is sound, but this definition cannot continue from it.
    case snapshot(SnapshotError)
    /// It is the journal of another run.
    case arguments(OtherArguments)
    /// A record that was journaled cannot be applied.
    /// - `startsFrom`: the seq of the later snapshot from which a start continues, or nil if a start needs the record.
    case unreadable(seq: Seq, position: UInt64, reason: String, startsFrom: Seq? = nil)
    /// The records at the beginning were trimmed, and no snapshot at the seq or before it can be used.
    /// - `oldest`: the seq of the oldest later snapshot that can be read, or nil if there is none.
    /// - `damage`: why the newest snapshot that is not later cannot be used, or nil if there is none.
    case trimmed(oldest: Seq?, damage: String?)
    /// A definition of another schema applied the event, and this definition cannot show that schema's states.
    /// - `first`: the oldest later seq that this definition can show, or nil if that is not known.
    case ofAnotherSchema(Seq, schema: UInt64, own: UInt64, first: Seq?)
    /// The journal ends before the seq.
    case endsBefore(Seq, at: Seq)
    /// The replay was stopped, because the result is not needed any more.
    case stopped

    /// - Parameters:
    ///   - error: the error thrown when the record was applied.
    ///   - seq: the seq of the last event that was applied.
    ///   - position: the position of the record.
    fileprivate init(_ error: any Error, after seq: Seq, at position: UInt64) {
        self =
            switch error {
            case let difference as ReplayDifference: .differs(difference)
            case let mismatch as DefinitionMismatch: .definition(mismatch)
            case let other as OtherArguments: .arguments(other)
            default: .unreadable(seq: seq.next, position: position, reason: "\(error)")
            }
    }

    /// The error and its remedy in one line, for people.
    package var description: String {
        switch self {
        case .unreadable(_, _, _, let snapshot?):
            "\(reason); run the program that wrote it; a start continues from the snapshot at seq \(snapshot), and only states"
                + " before it cannot be shown"
        case .unreadable(let seq, _, _, nil):
            "\(reason); run the program that wrote it, or keep what is before it: trim --after \(seq.value - 1) JOURNAL"
        case .differs, .definition, .snapshot, .arguments, .trimmed, .ofAnotherSchema, .endsBefore, .stopped: reason
        }
    }

    /// The error in one line, for a process that does not lead. It gives no remedy that deletes records.
    var reason: String {
        switch self {
        case .differs(let difference):
            "the replay differs from the journal at seq \(difference.seq): reduce or a query is not a function of its"
                + " arguments, or it was changed without a new schema; `verify` finds the place, `rehearse` shows what a"
                + " new program would do, and --reinterpret goes on with what the replay gives"
        case .definition(let mismatch): "\(mismatch)"
        case .snapshot(let error): "\(error)"
        case .arguments(let other): "\(other)"
        case .trimmed(let oldest?, let damage):
            "the first events were trimmed\(damage.map { ", and \($0)" } ?? ""); the oldest seq whose state can be shown is \(oldest)"
        case .trimmed(nil, let damage):
            "the first events were trimmed, and no snapshot can be used\(damage.map { " (\($0))" } ?? ""); put back a copy of the"
                + " journal with its snapshots"
        case .ofAnotherSchema(let seq, let schema, let own, let first):
            "event \(seq) was applied by a program of schema \(schema), and this one has schema \(own): show this state with that"
                + " program" + (first.map { ", or one of seq \($0) or later with this one" } ?? "")
        case .endsBefore(let seq, let end): "the journal ends at seq \(end), before seq \(seq)"
        case .stopped: "the replay was stopped"
        case .unreadable(let seq, let position, let reason, _):
            "the record \(position) of the journal, at seq \(seq), cannot be applied: \(reason)"
        }
    }
}

extension Recovery {
    /// Rebuilds the state after a seq, to show it.
    ///
    /// Events of other definitions with the same schema are applied with this definition. Their queries may differ, but effects
    /// are not shown.
    /// - Parameters:
    ///   - seq: the last seq to replay, or nil for all.
    ///   - journal: the journal to replay.
    ///   - definition: the loop to recover.
    ///   - coder: the coder of the definition's values.
    /// - Throws: `RecoveryError`, or the journal's `JournalError`.
    package init(
        showing seq: Seq?, of journal: any Journal, _ definition: some LoopDefinition, coder: any ValueCoder
    ) throws {
        do {
            try self.init(
                definition, from: journal, coder: coder, through: seq, reinterprets: .sameSchema, ignoresArguments: true
            )
        } catch RecoveryError.definition(let mismatch) {
            throw try Self.ofAnotherSchema(mismatch, journal, definition)
        }
        if let seq, journaled.seq != seq { throw RecoveryError.endsBefore(seq, at: journaled.seq) }
    }

    private static func ofAnotherSchema(
        _ mismatch: DefinitionMismatch, _ journal: any Journal, _ definition: some LoopDefinition
    ) throws(JournalError) -> RecoveryError {
        let own = DefinitionFingerprint(of: definition).value
        let first = try journal.snapshots().last { $0.fingerprint == own && $0.seq >= mismatch.seq }
        return .ofAnotherSchema(
            mismatch.seq, schema: mismatch.journal.schema, own: mismatch.binary.schema, first: first?.seq)
    }
}
