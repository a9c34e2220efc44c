import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// A loop that adds numbers. Its queries make another fingerprint, and its schema another sum.
private protocol Adding: LoopDefinition where State == Int, Event == Int {
    var feedbackName: String { get }
}

extension Adding {
    var initial: Int { 0 }

    var feedbacks: [Feedback<Int, Int>] {
        ["one", feedbackName].map { name in
            Feedback(
                name: name, placement: .workers, policy: EffectPolicy(),
                query: { KeyedQuery<Int, Int, String, Int> { _ in [:] } }, effect: { (_: Int, _) in .none })
        }
    }
}

private struct First: Adding {
    static let name = "adding"
    var feedbackName = "two"
    func reduce(into state: inout Int, _ event: Int, _: Transition) { state += event }
}

private struct Second: Adding {
    static let name = "adding"
    static let schema = 2
    var feedbackName = "two"
    func reduce(into state: inout Int, _ event: Int, _: Transition) { state += 100 * event }
}

@Suite struct `A state that is shown` {
    @Test func `is the one after the seq that is asked for, and an error says that the journal ends before`() throws {
        var bench = try ReducerBench()
        let sender = bench.join(client, capacity: 0)
        for number in 1...3 { _ = try bench.send(sender, from: UInt64(number), .note) }
        let rows = FollowedRows()
        rows.append(bench.records)
        #expect(try Recovery(showing: Seq(2), of: rows, Lamps(), coder: CBORCoder()).journaled.seq == Seq(2))
        let error = #expect(throws: RecoveryError.self) {
            try Recovery(showing: Seq(4), of: rows, Lamps(), coder: CBORCoder())
        }
        #expect(error == .endsBefore(Seq(4), at: Seq(3)))
    }

    private let coder = CBORCoder()

    private func records(_ definition: some Adding, _ epoch: UInt64, seq: UInt64) throws -> [Record] {
        let core = JournaledState(definition: definition, coder: coder, history: History(8))
        let time = WallTime(milliseconds: 1)
        let event = EventRecord(
            seq: Seq(seq), time: time, session: .none, number: 0, effect: nil, attempt: .none, wantsSeq: false,
            bytes: try coder.encode(1)[...])
        return [.definition(core.ownDefinition), .epochBegun(Epoch(number: epoch, nonce: 1), time), .event(event)]
    }

    @Test func `has no remedy that cuts off what a start recovers`() throws {
        var records: [Record] = []
        var core = JournaledState(definition: First(), coder: coder, history: ReducerBench.history)
        for seq in 1...3 as ClosedRange<UInt64> { records += try self.records(First(), seq, seq: seq) }
        for record in records { try core.apply(record) }
        guard case .event(var event) = records[5] else { throw CancellationError() }
        event.bytes = [0xff]
        records[5] = .event(event)
        let rows = FollowedRows()
        rows.append(records)
        let without = #expect(throws: RecoveryError.self) {
            try Recovery(showing: Seq(2), of: rows, First(), coder: coder)
        }
        #expect(without?.description.hasSuffix("trim --after 1 JOURNAL") == true)
        rows.list(try core.snapshot(), at: core.position, seq: core.seq, fingerprint: 0)
        let error = #expect(throws: RecoveryError.self) {
            try Recovery(showing: Seq(2), of: rows, First(), coder: coder)
        }
        #expect(error?.description.contains("the record 6 of the journal, at seq 2, cannot be applied") == true)
        #expect(error?.description.contains("a start continues from the snapshot at seq 3") == true)
        #expect(error?.description.contains("trim") == false)
    }

    @Test func `has the error of the record that was asked for, though a start fails at a later one`() throws {
        var records: [Record] = []
        for seq in 1...3 as ClosedRange<UInt64> { records += try self.records(First(), seq, seq: seq) }
        var core = JournaledState(definition: First(), coder: coder, history: ReducerBench.history)
        for record in records.prefix(6) { try core.apply(record) }
        let rows = FollowedRows()
        rows.list(try core.snapshot(), at: core.position, seq: core.seq, fingerprint: 0)
        for index in [2, 8] {
            guard case .event(var event) = records[index] else { throw CancellationError() }
            event.bytes = [0xff]
            records[index] = .event(event)
        }
        rows.append(records)
        let error = #expect(throws: RecoveryError.self) {
            try Recovery(showing: Seq(1), of: rows, First(), coder: coder)
        }
        #expect(error?.description.contains("the record 3 of the journal, at seq 1, cannot be applied") == true)
    }

    @Test func `is not called trimmed while it is not known whether a snapshot can be read`() throws {
        var records: [Record] = []
        var core = JournaledState(definition: First(), coder: coder, history: ReducerBench.history)
        for seq in 1...2 as ClosedRange<UInt64> { records += try self.records(First(), seq, seq: seq) }
        for record in records { try core.apply(record) }
        let rows = FollowedRows()
        rows.append(records)
        rows.trim(1, keeping: try core.snapshot(), seq: core.seq, fingerprint: 0)
        let trimmed = #expect(throws: RecoveryError.self) {
            try Recovery(First(), from: rows, coder: coder, through: Seq(1))
        }
        #expect(trimmed == .trimmed(oldest: Seq(2), damage: nil))
        rows.failure = .unreachable
        let error = #expect(throws: JournalError.self) {
            try Recovery(First(), from: rows, coder: coder, through: Seq(1))
        }
        #expect(error?.kind == .unreachable)
    }

    private func shown(_ seq: UInt64, of records: [Record], by definition: some Adding) throws -> Int {
        var journal = try MemoryRecords { History(8) }.open()
        _ = try journal.append(records, through: UInt64(records.count))
        return try Recovery(showing: Seq(seq), of: journal, definition, coder: coder).journaled.state(of: definition)
    }

    @Test func `is made of events of another definition with the same schema`() throws {
        let records = try records(First(), 1, seq: 1) + records(First(), 2, seq: 2)
        #expect(try shown(2, of: records, by: First(feedbackName: "three")) == 2)
    }

    @Test func `is not made of events of another schema, whatever was before them`() throws {
        let records = try records(First(), 1, seq: 1) + records(Second(), 2, seq: 2)
        for definition in [First(), First(feedbackName: "three")] {
            #expect(try shown(1, of: records, by: definition) == 1)
            #expect(throws: RecoveryError.ofAnotherSchema(Seq(2), schema: 2, own: 1, first: nil)) {
                try shown(2, of: records, by: definition)
            }
        }
    }
}
