import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopSimulation

@Suite struct `A simulated database` {
    private let session = Record.sessionOpened(SessionID(1), PeerID(high: 0, low: 1))

    private func skipped(_ number: UInt64) -> Record { .skipped(SessionID(1), number: number) }

    private func batch(_ records: [Record], after end: RowEnd = .start) -> SimulatedBatch {
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
        #expect(try !database.append(batch([skipped(1)], after: RowEnd(position: 1, checksum: 3)), in: term))
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
        let sent = [10, 5].map { connection.send(.renew(.none), arrival: $0) }
        #expect(sent == [10, 10])
        var arrivals: [UInt64?] = []
        for (time, isConfirmed) in [(20, true), (21, false), (22, true)] as [(UInt64, Bool)] {
            arrivals.append(connection.answer(.changed(true), isConfirmed: isConfirmed, arrival: time))
        }
        #expect(arrivals == [20, nil, nil])
        let confirmed = connection.confirm(arrival: 30)
        #expect(confirmed == [30, 30])
        #expect(connection.unconfirmedCount == 0)
    }

    @Test func `that is cut may run what it was sent, and answers no more`() {
        var connection = DatabaseConnection(of: 0)
        for _ in 1...3 { _ = connection.send(.renew(.none), arrival: 1) }
        connection.cut(running: 2)
        #expect(connection.statementCount == 2)
        let statement = connection.nextStatement()
        #expect(statement != nil)
        let arrival = connection.answer(.changed(true), isConfirmed: true, arrival: 2)
        #expect(arrival == nil)
        let answer = connection.nextAnswer()
        #expect(answer == nil)
    }
}

@Suite struct `Turns under way` {
    private func turn() -> TurnUnderWay {
        let start = Moment(monotonic: .zero, wall: WallTime(milliseconds: 0))
        var machine = ReducerMachine(
            definition: SlotLoop(hasTimers: false), configuration: ReducerConfiguration(), coder: SlotCoder(),
            history: History(1), seed: 1, nonce: 1, at: start)
        return TurnUnderWay(machine.turn(at: start), at: TurnMoment())
    }

    @Test func `are as many as may wait, and none begins behind a wish for rest`() {
        var turns = TurnsUnderWay()
        #expect(turns.mayBegin(1))
        turns.append(turn())
        #expect(!turns.mayBegin(1) && turns.mayBegin(2))
        turns.mustRest = true
        #expect(!turns.mayBegin(2))
        let first = turns.removeFirst()
        #expect(first != nil)
        #expect(turns.mayBegin(2) && !turns.mustRest)
        let second = turns.removeFirst()
        #expect(second == nil)
    }

    @Test func `are written one behind the other`() {
        var turns = TurnsUnderWay()
        let times = [20, 10, 30].map { turns.write(at: $0) }
        #expect(times == [20, 20, 30])
    }
}
