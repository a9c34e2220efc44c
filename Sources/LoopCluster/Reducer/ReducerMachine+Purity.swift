import CBOR
import LoopCore
import LoopWire

/// The purity check for development. Each event is reduced twice, and everything that the journal determines is hashed after
/// it. A difference within this process is reported at once. A difference between processes, such as the order of a `Set`, is
/// found by the first `verify`, at its seq.
extension ReducerMachine {
    /// How many differences are reported. One is enough to know.
    private static var impuritiesMax: Int { 5 }

    /// - Parameters:
    ///   - record: an event that was applied.
    ///   - before: the state and the queries before it.
    mutating func checkPurity(of record: EventRecord, _ before: any LoopState) {
        if impuritiesCount < Self.impuritiesMax, let what = impurity(of: record, before) {
            impuritiesCount += 1
            turn.news.append(.impure(record.seq, what))
        }
        let (hash, _) = journaled.digest()
        turn.writeHash(.stateHash(journaled.seq, hash), to: &journaled)
    }

    private func impurity(of record: EventRecord, _ before: any LoopState) -> String? {
        var again = before
        var changes: [EffectChange] = []
        let transition = Transition(seq: record.seq, time: record.time, seed: journaled.history.value)
        do {
            try again.apply(record.bytes, from: nil, LoopStep(transition: transition, note: nil), into: &changes)
            let (one, two) = (try journaled.loopState.encodedState(), try again.encodedState())
            if one != two { return "two states: \(Self.difference(one, two))" }
            return try journaled.loopState.memories() == again.memories() ? nil : "one state, and different requests"
        } catch {
            return "an error: \(error)"
        }
    }

    /// Excerpts of two documents at their first difference.
    private static func difference(_ one: [UInt8], _ two: [UInt8]) -> String {
        guard let one = try? CBOR.json(one), let two = try? CBOR.json(two) else { return "they cannot be shown" }
        let place = zip(one, two).prefix { $0 == $1 }.count
        func excerpt(_ text: String) -> String {
            let start = max(0, place - 40)
            return (start > 0 ? "…" : "") + text.dropFirst(start).prefix(80)
        }
        return "\(excerpt(one)) and \(excerpt(two))"
    }
}
