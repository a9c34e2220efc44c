import LoopCore
import LoopWire

/// Definitions that follow each other on one journal: each takes over at its record, with which every epoch begins.
///
///     empty ──▶ its own record: the queries are asked for the initial state
///     another's record ──▶ the other's effects stand as they are; its events cannot be applied
///     its own or another's ──▶ its own record: effects of feedbacks that are gone are cancelled; every query compares
///                              what it remembers with what the state asks for
///
/// Where nothing has changed, its own record changes nothing; where only the code of a query has, what the state asks for
/// is going on from that record on.
extension JournaledCore {
    mutating func follow(_ record: DefinitionRecord) throws -> [LiveChange] {
        try check(record)
        if journaledDefinition == nil, ignoresArguments, !record.initialState.isEmpty {
            try fold.restoreState(record.initialState, from: older(record.schema), at: time)
        }
        let isOwn = record.fingerprint == loop.fingerprint.value
        // What another definition does at its record cannot be known.
        if !isOwn, foreign == nil { foreign = try fold.memories() }
        journaledDefinition = record
        table = FeedbackTable(names: record.feedbacks, declared: loop.feedbacks)
        if isOwn { return takeOver() }
        startsCount &+= Self.unknownStarts
        return []
    }

    /// How many effects another definition is taken to have started, where that is not known.
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

    /// The events of another definition from `seq` on are to be applied: with this one, where that was asked for.
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

    /// From here on this definition's queries are asked, beginning with the state as it is.
    private mutating func takeOver() -> [LiveChange] {
        if !schedules.isEmpty { schedules = schedules.filter { table[$0.key]?.schedule != nil } }
        for id in effects.keys.filter({ table[$0.feedback]?.hasQuery != true }).sorted() { changes.append(.cancel(id)) }
        if let memories = foreign {
            fold.beginQueries(table.numbers)
            fold.adopt(memories, into: &changes)
            foreign = nil
        }
        fold.reconcile(seq: seq, firstIndex: startsCount, into: &changes)
        regroup()
        let ofThisSeq = Set(
            changes.compactMap { change -> EffectID? in
                guard case .update(let id, _) = change, effects[id]?.version == seq else { return nil }
                return id
            })
        let live = takeChanges()
        for change in live where change.kind == .updated && ofThisSeq.contains(change.effect) {
            // Who runs it cannot tell the new request from the old one by its version: it starts over with a new attempt.
            void(change.effect, upTo: Self.allAttempts(of: epoch))
        }
        return live
    }

    /// Groups are the present definition's, also of effects that were started by another. A keyed query tells the requests
    /// of all that it keeps; the few others are read.
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

    /// Not below any attempt of an epoch or those before it.
    static func allAttempts(of epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number, count: .max) }

    /// Not below any attempt of the epochs before one.
    static func allAttempts(before epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number &- 1, count: .max) }
}

/// Which events that another definition applied are applied with this one.
public enum Reinterpretation: Sendable {
    /// None: they are refused.
    case never
    /// Those of definitions with the same schema. Their `reduce` is the same, or the schema would differ.
    case sameSchema
    /// All.
    case always
}
