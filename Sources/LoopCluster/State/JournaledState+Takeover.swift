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
extension JournaledState {
    mutating func follow(_ record: DefinitionRecord) throws -> [LiveChange] {
        try check(record)
        if journaledDefinition == nil, ignoresArguments, !record.initialState.isEmpty {
            state = try coder.decode(Definition.State.self, from: record.initialState)
        }
        let memories = try foreign ?? evaluator.memory(coder)
        journaledDefinition = record
        table = Table(names: record.feedbacks, declared: feedbacks)
        if record.fingerprint == fingerprint.value { return takeOver(memories) }
        // What the other definition does at this record cannot be known.
        foreign = memories
        startsCount &+= Self.unknownStarts
        return []
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
        _ = takeOver(foreign ?? [:])
    }

    /// From here on this definition's queries are asked.
    private mutating func takeOver(_ memories: [UInt32: QueryMemory]) -> [LiveChange] {
        foreign = nil
        for id in effects.keys.filter({ table[$0.feedback]?.makeQuery == nil }).sorted() { changes.append(.cancel(id)) }
        regroup()
        evaluator = Evaluator(feedbacks: feedbacks, numbers: table.numbers, coder: coder)
        evaluator.takeOver(
            memories, state: state, seq: seq, firstIndex: startsCount, coder: coder, into: &changes)
        let ofThisSeq = Set(effects.filter { $0.value.version == seq }.keys)
        let live = takeChanges()
        for case .updated(let id) in live where ofThisSeq.contains(id) {
            // Who runs it cannot tell the new request from the old one by its version: it begins anew with a new attempt.
            void(id, upTo: Self.allAttempts(of: epoch))
        }
        return live
    }

    /// Not below any attempt of an epoch or those before it.
    static func allAttempts(of epoch: Epoch) -> Attempt { Attempt(epoch: epoch.number, count: .max) }

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
