import LoopCluster
import LoopCore
import LoopWire

/// A sender that asks gets the answer from the state right after its event, once the event is in the journal. Repeated answers are
/// equal.
struct AnswersAreTrue<Work: Workload>: Checker {
    static var promise: Promise { .answersAreTrue }
    private(set) var checkCount = 0
    private let work: Work
    /// The definition's answer to each applied entry that has asked, by the entry's id.
    private var expected: [Int: EntryAnswer] = [:]
    /// The entries whose records the journal has lost.
    private var forgotten: Set<Int> = []

    init(_ work: Work) { self.work = work }

    mutating func lose(_ records: [JournaledRecord]) {
        for case let entry? in records.map(\.entry) where entry.wantsAnswer { forgotten.insert(entry.id) }
    }

    /// - Parameter model: the loop after the record.
    mutating func follow(_ journaled: JournaledRecord, _ model: LoopModel<Work>) throws(Violation) {
        guard case .event(let record) = journaled.record, let entry = journaled.entry, entry.wantsAnswer else { return }
        guard record.wantsAnswer else {
            throw Violation(Self.promise, "entry #\(entry.id) has asked, and its record does not say so")
        }
        expected[entry.id] = try answer(to: record, model.state)
    }

    private func answer(to record: EventRecord, _ state: Work.Definition.State) throws(Violation) -> EntryAnswer {
        do {
            let event = try work.coder.decode(Work.Definition.Event.self, from: Array(record.bytes))
            guard let answer = work.definition.answer(to: event, in: state) else { return .missing(.undefined) }
            return .value(try work.coder.encode(answer))
        } catch {
            throw Violation(Self.promise, "the answer to event \(record.seq) cannot be made: \(error)")
        }
    }

    /// A sender has received its answer.
    mutating func compare(_ id: Int, _ told: EntryAnswer?) throws(Violation) {
        checkCount += 1
        if forgotten.contains(id) { return }
        guard let expected = expected[id] else {
            throw Violation(Self.promise, "entry #\(id) is answered, and the journal does not have its event")
        }
        guard let told else { throw Violation(Self.promise, "the answer to entry #\(id) is kept no longer") }
        if told != expected {
            throw Violation(
                Self.promise, "entry #\(id) is answered \(told), and the state after its event gives \(expected)")
        }
    }
}
