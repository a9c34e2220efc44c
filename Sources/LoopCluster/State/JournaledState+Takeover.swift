import LoopCore
import LoopWire

/// Definitions that follow each other on one journal: each takes over at its record.
///
///     empty ──▶ its own record: the queries are asked for the initial state
///     its own, running ──▶ its own record: nothing
///     another's record ──▶ the other's effects stand as they are; its events cannot be applied
///     another's ──▶ its own record: effects of feedbacks that are gone are cancelled, new feedbacks are asked, kept ones
///                   go on with what they remember
extension JournaledState {
    mutating func follow(_ record: DefinitionRecord) throws -> [LiveChange] {
        try check(record)
        if journaledDefinition == nil, ignoresArguments, !record.initialState.isEmpty {
            state = try coder.decode(Definition.State.self, from: record.initialState)
        }
        let isOwn = record.fingerprint == fingerprint.value
        let names = table.names
        journaledDefinition = record
        if !isOwn {
            // What the other definition does at this record cannot be known.
            if foreign == nil { foreign = try evaluator.memory(coder) }
            table = Table(names: record.feedbacks, declared: feedbacks)
            startsCount &+= Self.unknownStarts
            return []
        }
        if names != record.feedbacks { table = Table(names: record.feedbacks, declared: feedbacks) }
        return foreign == nil ? [] : takeOver()
    }

    /// How many effects another definition is taken to have started, where that is not known.
    private static var unknownStarts: UInt32 { 1 << 24 }

    private func check(_ record: DefinitionRecord) throws {
        if record.schema == UInt64(Definition.schema), record.initial != initialHash, !ignoresArguments {
            throw OtherArguments(journal: record.initial, binary: initialHash)
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
        guard reinterprets else {
            throw DefinitionMismatch(journal: journaledDefinition, binary: ownDefinition, seq: seq)
        }
        _ = takeOver()
    }

    /// From here on this definition's queries are asked.
    private mutating func takeOver() -> [LiveChange] {
        let memories = foreign ?? [:]
        foreign = nil
        for id in effects.keys.filter({ table[$0.feedback]?.makeQuery == nil }).sorted() { changes.append(.cancel(id)) }
        regroup()
        evaluator = Evaluator(feedbacks: feedbacks, numbers: table.numbers, coder: coder)
        evaluator.takeOver(
            memories, state: state, seq: seq, firstIndex: startsCount, coder: coder, into: &changes)
        return takeChanges()
    }

    /// Groups are the present definition's, also of effects that were started by another.
    private mutating func regroup() {
        for (id, effect) in effects {
            guard let feedback = table[id.feedback], let group = feedback.group else {
                effects[id]?.group = nil
                continue
            }
            let request = try? feedback.requestCoding?.decode(effect.request, coder)
            effects[id]?.group = request.map(group)
        }
    }
}
