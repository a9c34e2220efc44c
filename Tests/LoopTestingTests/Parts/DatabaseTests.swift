import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopTesting

@Suite struct `A simulated database` {
    private let session = Record.sessionOpened(SessionID(1), PeerID(high: 0, low: 1))

    private func skipped(_ number: UInt64) -> Record { .skipped(SessionID(1), number: number) }

    private func batch(_ records: [Record], after end: BatchLink = BatchLink()) -> SimulatedBatch {
        SimulatedBatch(RecordLog(records), after: end)
    }

    private func held(
        breaking rules: [Rule] = []
    ) throws -> (database: SimulatedDatabase, term: SimulatedTerm) {
        let database = SimulatedDatabase(history: History(1), breaking: BrokenRules(rules))
        let row = try #require(database.takeOver(database.row.sign, by: 7, at: "a", nonce: 1))
        return (database, row.term)
    }

    @Test func `appends a batch only in its term and behind the batch that is expected`() throws {
        let (database, term) = try held()
        let first = batch([session])
        #expect(try database.append(first, in: term))
        #expect(try !database.append(first, in: term))
        #expect(try !database.append(batch([skipped(1)], after: BatchLink(position: 1, checksum: 3)), in: term))
        #expect(try !database.append(batch([skipped(2)], after: batch([skipped(1)], after: first.end).end), in: term))
        let second = batch([skipped(1), skipped(2)], after: first.end)
        var other = term
        other.nonce = 2
        #expect(try !database.append(second, in: other))
        #expect(try database.append(second, in: term))
        #expect(database.disk.records == [session, skipped(1), skipped(2)])
        #expect(database.row.end == second.end)
        #expect(second.end.position == 3)
        #expect(database.contains(first.end) && database.contains(second.end))
    }

    @Test func `gives the journal to one of two that have seen the same`() throws {
        let (database, term) = try held()
        let seen = database.row.sign
        let taken = try #require(database.takeOver(seen, by: 8, at: "b", nonce: 5))
        #expect(taken.term == SimulatedTerm(number: 2, nonce: 5))
        #expect(database.takeOver(seen, by: 9, at: "c", nonce: 6) == nil)
        #expect(database.row.address == "b")
        #expect(!database.renew(term) && !database.release(term))
        #expect(database.renew(taken.term))
        #expect(database.takeOver(taken.sign, by: 9, at: "c", nonce: 6) == nil)
        #expect(database.release(taken.term))
        #expect(database.row.isReleased)
    }

    @Test func `a failover takes back what no standby has confirmed`() throws {
        let (database, term) = try held()
        let (first, second) = (batch([session]), batch([skipped(1)], after: batch([session]).end))
        #expect(try database.append(first, in: term))
        database.stopConfirming()
        #expect(try database.append(second, in: term))
        #expect(database.takeOver(database.row.sign, by: 8, at: "b", nonce: 5) != nil)
        #expect(database.failOver() == [skipped(1)])
        #expect(database.row.term == term)
        #expect(database.row.end == first.end)
        #expect(!database.contains(second.end))
        #expect(try database.append(second, in: term))
        database.stopConfirming()
        database.confirm()
        #expect(database.failOver() == [])
        #expect(database.contains(second.end))
    }

    @Test func `a batch of an earlier term that follows a takeover is a violation`() throws {
        let (database, term) = try held(breaking: [.appendsCompareTheTerm])
        #expect(database.takeOver(database.row.sign, by: 8, at: "b", nonce: 5) != nil)
        #expect(throws: Violation.self) { try database.append(batch([session]), in: term) }
    }
}

@Suite struct `A connection to the simulated database` {
    @Test func `answers in order, and holds back what is not confirmed`() {
        var connection = DatabaseConnection(of: 0)
        #expect(connection.send(.renew(.none), arrival: 10) == 10)
        #expect(connection.send(.renew(.none), arrival: 5) == 10)
        #expect(connection.answer(.changed(true), isConfirmed: true, arrival: 20) == 20)
        #expect(connection.answer(.changed(true), isConfirmed: false, arrival: 21) == nil)
        #expect(connection.answer(.changed(true), isConfirmed: true, arrival: 22) == nil)
        #expect(connection.confirm(arrival: 30) == [30, 30])
        #expect(connection.unconfirmedCount == 0)
    }

    @Test func `that is cut may run what it was sent, and answers no more`() {
        var connection = DatabaseConnection(of: 0)
        for _ in 1...3 { _ = connection.send(.renew(.none), arrival: 1) }
        connection.cut(running: 2)
        #expect(connection.statementCount == 2)
        #expect(connection.nextStatement() != nil)
        #expect(connection.answer(.changed(true), isConfirmed: true, arrival: 2) == nil)
        #expect(connection.nextAnswer() == nil)
    }
}

@Suite struct `The watch on a journal's holder` {
    @Test func `calls it silent after 1.15 leases without a change`() {
        var watch = HolderWatch()
        let sign = JournalRow.Sign(term: SimulatedTerm(number: 1, nonce: 1), renewals: 4)
        #expect(!watch.isSilent(sign, lease: 1000, at: 100))
        #expect(!watch.isSilent(sign, lease: 1000, at: 1249))
        #expect(watch.isSilent(sign, lease: 1000, at: 1250))
        let renewed = JournalRow.Sign(term: sign.term, renewals: 5)
        #expect(!watch.isSilent(renewed, lease: 1000, at: 1260))
        #expect(!watch.isSilent(renewed, lease: 1000, at: 2409))
    }
}

@Suite struct `Turns under way` {
    private func turn(_ records: [Record] = []) -> TurnUnderWay {
        var machine = ReducerMachine(
            definition: SlotLoop(hasTimers: false), configuration: ReducerConfiguration(), coder: SlotCoder(),
            history: History(1), seed: 1, nonce: 1, at: Moment(monotonic: .zero, wall: WallTime(milliseconds: 0)))
        return TurnUnderWay(
            machine.turn(at: Moment(monotonic: .zero, wall: WallTime(milliseconds: 0))), at: TurnMoment())
    }

    @Test func `are as many as may wait, and none begins behind a wish for rest`() {
        var turns = TurnsUnderWay()
        #expect(turns.mayBegin(1))
        turns.append(turn())
        #expect(!turns.mayBegin(1) && turns.mayBegin(2))
        turns.mustRest = true
        #expect(!turns.mayBegin(2))
        #expect(turns.removeFirst() != nil)
        #expect(turns.mayBegin(2) && !turns.mustRest)
        #expect(turns.removeFirst() == nil)
    }

    @Test func `are written one behind the other`() {
        var turns = TurnsUnderWay()
        #expect(turns.write(at: 20) == 20)
        #expect(turns.write(at: 10) == 20)
        #expect(turns.write(at: 30) == 30)
    }
}
