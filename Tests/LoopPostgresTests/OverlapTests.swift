import LoopCluster
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

/// Several appends are on their way at the same time, and what follows a lost one is lost with it.
@Suite(.timeLimit(.minutes(2))) struct `Appends that overlap` {
    private let test: TestJournal

    init() async throws { test = try await TestJournal() }

    /// Has the database say something about the row that begins at a position, when it is inserted.
    private func meddle(at position: UInt64, _ statement: String) throws {
        try test.run(
            """
            CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF NEW.first_position = \(position) THEN \(statement); END IF; RETURN NEW; END $$
            """)
        try test.run(
            "CREATE TRIGGER meddle BEFORE INSERT ON loop_batch FOR EACH ROW EXECUTE FUNCTION meddle()")
    }

    /// A connection that keeps all appends waiting until it is dropped.
    private func lock() throws -> PostgresConnection {
        var other = try PostgresConnection(test.url, within: TestJournal.limit)
        _ = try other.run("BEGIN", "test", within: TestJournal.limit)
        _ = try other.run("SELECT FROM loop_journal FOR UPDATE", "test", within: TestJournal.limit)
        return other
    }

    @Test func `have their receipts in order, each with its commit`() throws {
        let journal = try test.open()
        try journal.append([record(1)])
        var other = try lock()
        try journal.begin([2, 3, 4])
        #expect(journal.position == 1)
        #expect(try journal.takeReceipt(waits: false) == nil)
        // A turn without records depends on what is ahead.
        #expect(try journal.beginAppend(RecordLog(), through: 4) == nil)
        other.drop()
        for position in 2...4 { #expect(try journal.takeReceipt(waits: true)?.position == UInt64(position)) }
        #expect(journal.position == 4)
        #expect(try journal.takeReceipt(waits: true) == nil)
        #expect(try test.records() == (1...4).map { record($0) })
        #expect(try journal.beginAppend(RecordLog(), through: 4)?.position == 4)
    }

    @Test func `have no receipt from one on that fails, and are not in the journal`() throws {
        let memory = JournalMemory()
        let journal = try test.open(memory, renews: false)
        try meddle(at: 3, "RAISE EXCEPTION 'the disk is tired'")
        try journal.begin([1, 2, 3, 4, 5])
        for position in 1...2 { #expect(try journal.takeReceipt(waits: true)?.position == UInt64(position)) }
        let error = #expect(throws: JournalError.self) { try journal.takeReceipt(waits: true) }
        #expect(error?.kind == .unreachable && error?.operation == "append the records through 3")
        #expect(error?.reason.contains("the disk is tired") == true)
        // Nothing more comes, and nothing more goes.
        #expect(#expect(throws: JournalError.self) { try journal.takeReceipt(waits: true) }?.kind == .unreachable)
        #expect(#expect(throws: JournalError.self) { try journal.begin([3]) }?.kind == .unreachable)
        journal.close()
        try test.run("DROP TRIGGER meddle ON loop_batch")

        let again = try test.open(memory)
        #expect(try again.records(after: 0, bytesMax: 1000) == [record(1), record(2)])
        try again.append([record(7)])
    }

    @Test func `have no receipt from a warning on, and are there when the journal is opened again`() throws {
        let memory = JournalMemory()
        let journal = try test.open(memory, renews: false)
        try meddle(at: 2, "RAISE WARNING 'the disk is tired'")
        var other = try lock()
        try journal.begin([1, 2, 3])
        other.drop()
        var positions: [UInt64] = []
        let error = #expect(throws: JournalError.self) {
            while let receipt = try journal.takeReceipt(waits: true) { positions.append(receipt.position) }
        }
        #expect(error?.kind == .unreachable && error?.reason.contains("the disk is tired") == true)
        #expect(positions == [] || positions == [1])
        journal.close()

        let again = try test.open(memory)
        #expect(again.position >= 2)
        #expect(try again.records(after: 0, bytesMax: 1000) == (1...again.position).map { record($0) })
    }

    @Test func `have no receipt when the connection is lost, and are not there where the backend had not committed`()
        async throws
    {
        let memory = JournalMemory()
        let journal = try test.open(memory, renews: false)
        try journal.append([record(1)])
        let backend = try test.backend()
        var other = try lock()
        try journal.begin([2, 3, 4])
        try await test.wait(
            until: "SELECT count(*) FROM pg_stat_activity WHERE pid = \(backend) AND wait_event_type = 'Lock'")
        try test.run("SELECT pg_terminate_backend(\(backend))")
        #expect(#expect(throws: JournalError.self) { try journal.takeReceipt(waits: true) }?.kind == .unreachable)
        other.drop()
        journal.close()
        let again = try test.open(memory)
        #expect(again.position == 1)
        try again.append([record(5)])
        #expect(try test.records() == [record(1), record(5)])
    }

    @Test func `are refused all at once after a takeover`() throws {
        let deposed = try test.open(renews: false)
        try deposed.append([record(1)])
        let successor = try test.open()
        try deposed.begin([2, 3, 4])
        let error = #expect(throws: JournalError.self) { try deposed.takeReceipt(waits: true) }
        #expect(error?.kind == .unreachable && error?.operation == "append the records through 2")
        #expect(try test.records() == [record(1)])
        try successor.append([record(5)])
    }

    /// The reducer's thread reduces for longer than a lease, and takes no receipts meanwhile.
    @Test func `leave the lease to the thread that renews it, which keeps their receipts`() async throws {
        let journal = try test.open()
        try journal.begin([1, 2])
        let renewals = try test.run("SELECT max(number) FROM loop_renewal") ?? 0
        try await test.wait(until: "SELECT max(number) > \(renewals + 3) FROM loop_renewal")
        #expect(#expect(throws: JournalError.self) { try test.open() }?.kind == .locked)
        try journal.begin([3])
        for position in 1...3 { #expect(try journal.takeReceipt(waits: true)?.position == UInt64(position)) }
    }

    @Test func `are taken in before anything else is done with the journal`() throws {
        let journal = try test.open()
        try journal.begin([1, 2])
        try journal.prove()
        try journal.begin([3])
        try journal.markEnded()
        #expect(try test.records() == (1...3).map { record($0) })
        for position in 1...3 { #expect(try journal.takeReceipt(waits: false)?.position == UInt64(position)) }
    }

    @Test func `are committed before the journal is let go`() throws {
        let journal = try test.open { $0.lease = .seconds(3600) }
        try journal.begin([1, 2, 3])
        journal.close()
        let next = try test.open()
        #expect(next.position == 3)
    }

    /// With a durability that promises less, some records are as durable as the server makes them nevertheless.
    @Test func `have receipts in order where one of them is more durable than the others`() throws {
        let journal = try test.open { $0.durability = .os }
        try journal.begin([1])
        let epoch = Record.epochBegun(Epoch(number: 1, nonce: 2), WallTime(milliseconds: 0))
        #expect(try journal.beginAppend(RecordLog([epoch]), through: 2) == nil)
        try journal.begin([3])
        for position in 1...3 { #expect(try journal.takeReceipt(waits: true)?.position == UInt64(position)) }
        #expect(try test.records() == [record(1), epoch, record(3)])
    }
}

extension PostgresJournal {
    /// Begins to append a record each, whose numbers are their positions.
    fileprivate func begin(_ positions: [UInt64]) throws(JournalError) {
        for position in positions { _ = try beginAppend(RecordLog([record(position)]), through: position) }
    }
}
