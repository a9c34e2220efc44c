import LoopCore
import LoopWire

/// Definitions that follow each other on one journal. Each takes over at its record, with which every epoch begins.
///
///     empty ──▶ its own record: the queries run on the initial state
///     another's record ──▶ the other's effects stay as they are; its events cannot be applied
///     its own or another's ──▶ its own record: effects of feedbacks that are gone are cancelled; every query compares
///                              its memory with what the state asks for
///
/// If nothing has changed, its own record changes nothing. If only the code of a query has changed, the effects that the state
/// asks for continue or start at that record.
extension JournaledState {
    mutating func follow(_ record: DefinitionRecord) throws -> [LiveChange] {
        try check(record)
        if journaledDefinition == nil, ignoresArguments, !record.initialState.isEmpty {
            try loopState.restoreState(record.initialState, from: older(record.schema), at: time)
        }
        let isOwn = record.fingerprint == loop.fingerprint.value
        // The changes that another definition makes at its record cannot be known.
        if !isOwn, foreign == nil { foreign = try loopState.memories() }
        journaledDefinition = record
        table = FeedbackTable(names: record.feedbacks, declared: loop.feedbacks)
        if isOwn { return takeOver() }
        startsCount &+= Self.unknownStarts
        return []
    }

    /// How many effects another definition counts as having started, if the number is not known.
    private static var unknownStarts: UInt32 { 1 << 24 }

    private func check(_ record: DefinitionRecord) throws {
        if record.schema == loop.schema, record.initial != loop.initialHash, !ignoresArguments {
            throw OtherArguments(journal: record.initial, binary: loop.initialHash)
        }
        guard let known = journaledDefinition?.feedbacks else { return }
        guard record.feedbacks.starts(with: known) else {
            throw RecordDoesNotFit(
                reason: "feedbacks \(record.feedbacks.joined(separator: ", ")) do not begin with those before,"
                    + " \(known.joined(separator: ", "))")
        }
    }

    /// Prepares for the events of another definition from `seq` on. They are applied with this one if that was requested.
    mutating func reinterpret(from seq: Seq) throws {
        guard let journaledDefinition else {
            throw RecordDoesNotFit(reason: "event \(seq) comes before any definition")
        }
        guard reinterprets == .always || reinterprets == .sameSchema && journaledDefinition.schema == loop.schema else {
            throw DefinitionMismatch(journal: journaledDefinition, binary: ownDefinition, seq: seq)
        }
        hasReinterpreted = true
        _ = takeOver()
    }

    /// Runs this definition's queries from here on, beginning with the present state.
    private mutating func takeOver() -> [LiveChange] {
        if !schedules.isEmpty { schedules = schedules.filter { table[$0.key]?.schedule != nil } }
        for id in effects.keys.filter({ table[$0.feedback]?.hasQuery != true }).sorted() { changes.append(.cancel(id)) }
        if let memories = foreign {
            loopState.beginQueries(table.numbers)
            loopState.adopt(memories, into: &changes)
            foreign = nil
        }
        loopState.reconcile(seq: seq, firstIndex: startsCount, into: &changes)
        regroup()
        let ofThisSeq = Set(
            changes.compactMap { change -> EffectID? in
                guard case .update(let id, _) = change, effects[id]?.version == seq else { return nil }
                return id
            })
        let live = takeChanges()
        for change in live where change.kind == .updated && ofThisSeq.contains(change.effect) {
            // The worker that runs it cannot distinguish the new request from the old one by its version, so a new attempt starts.
            void(change.effect, upTo: Self.allAttempts(of: epoch))
        }
        return live
    }

    /// Gives all effects the groups of the present definition, even those that another one started. A keyed query reports the
    /// requests of all effects that it keeps; the requests of the few others are decoded.
    private mutating func regroup() {
        var groups: [UInt32: @Sendable (any Sendable) -> String] = [:]
        for number in table.numbers { groups[number] = table[number]?.group }
        var told: Set<UInt32> = []
        for case .update(let id, let request) in changes {
            guard let derive = groups[id.feedback] else { continue }
            told.insert(id.feedback)
            let group = derive(request)
            if effects[id]?.group != group { effects[id]?.group = group }
        }
        for (id, effect) in effects where !told.contains(id.feedback) {
            let derive = groups[id.feedback]
            let request =
                derive == nil ? nil : try? table[id.feedback]?.requestCoding?.decode(effect.request, loop.coder)
            let group = derive.flatMap { request.map($0) }
            if effect.group != group { effects[id]?.group = group }
        }
    }

    /// An attempt that is not below any attempt of an epoch or of those before it.
    static func allAttempts(of epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number, count: .max) }

    /// An attempt that is not below any attempt of the epochs before one.
    static func allAttempts(before epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number &- 1, count: .max) }
}

/// Which events of another definition are applied with this one.
public enum Reinterpretation: Sendable {
    /// None. They are refused.
    case never
    /// Those of definitions with the same schema. Their `reduce` is the same, or the schema would differ.
    case sameSchema
    /// All events.
    case always
}
