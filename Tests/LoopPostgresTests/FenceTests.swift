import Glibc
import LoopCluster
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A journal in a database has one holder` {
    private let test: TestJournal

    init() async throws { test = try await TestJournal() }

    @Test func `who appends nothing after a takeover, and learns it in the next turn without records`() throws {
        let deposed = try test.open(renews: false)
        try deposed.append([record(1)])
        let successor = try test.open()
        #expect(successor.openReport.contains { $0.contains("has not renewed its lease for 200 ms: it is taken over") })
        #expect(try successor.records(after: 0, bytesMax: 1000) == [record(1)])
        let error = #expect(throws: JournalError.self) { try deposed.append([record(2)]) }
        #expect(error?.kind == .unreachable)
        #expect(try test.records() == [record(1)])
        try successor.append([record(3)])
        #expect(#expect(throws: JournalError.self) { try deposed.append([record(4)]) }?.kind == .unreachable)
        #expect(#expect(throws: JournalError.self) { try deposed.markEnded() }?.kind == .unreachable)
        deposed.close()
        #expect(try test.records() == [record(1), record(3)])
        try successor.append([record(5)])
    }

    @Test func `who gives no receipt without records either once it may have been deposed`() async throws {
        let deposed = try test.open(renews: false)
        let successor = try test.open()
        let error = #expect(throws: JournalError.self) { try deposed.append([]) }
        #expect(error?.kind == .unreachable)
        try successor.append([])
    }

    @Test func `who is deposed is told so, in whatever it does then and afterwards`() throws {
        for step in [{ try $0.append([record(1)]) }, { try $0.markEnded() }, { try $0.prove() }]
            as [(PostgresJournal) throws -> Void]
        {
            let deposed = try test.open(renews: false)
            let successor = try test.open()
            for _ in 0..<2 {
                let error = #expect(throws: JournalError.self) { try step(deposed) }
                #expect(error?.fault.reason == .termLost, "\(error?.description ?? "")")
            }
            deposed.close()
            successor.close()
        }
    }

    /// The tables may come back: their names were changed, or the database is being restored.
    @Test func `who has led waits for tables that are gone`() throws {
        let memory = JournalMemory()
        let holder = try test.open(memory)
        try holder.append([record(1)])
        try test.run("ALTER TABLE loop_batch RENAME TO other")
        #expect(#expect(throws: JournalError.self) { try holder.append([record(2)]) }?.kind == .unreachable)
        holder.close()
        #expect(#expect(throws: JournalError.self) { try test.open(memory) }?.kind == .unreachable)
        try test.run("ALTER TABLE other RENAME TO loop_batch")
        try test.open(memory).close()
    }

    @Test func `who keeps it by renewals alone, and is named to others`() async throws {
        let holder = try test.open { $0.address = "tcp://here:7710" }
        let before = try test.run("SELECT max(number) FROM loop_renewal") ?? 0
        for _ in 0..<3 {
            let error = #expect(throws: JournalError.self) { try test.open() }
            #expect(error?.kind == .locked)
            #expect(error?.reason.contains("process ") == true && error?.reason.contains("tcp://here:7710") == true)
        }
        try await test.wait(until: "SELECT max(number) > \(before + 3) FROM loop_renewal")
        try holder.append([record(1)])
        holder.close()
    }

    /// A managed database may keep its transactions from the role.
    @Test func `who keeps it where long transactions cannot be looked for`() async throws {
        try test.run("CREATE ROLE fenced LOGIN")
        try test.run("GRANT ALL ON ALL TABLES IN SCHEMA public TO fenced")
        try test.run("REVOKE SELECT ON pg_prepared_xacts FROM PUBLIC")
        let url = try ConnectionString(test.url.description.replacing("loop@", with: "fenced@"))
        var opening = JournalPlace.Opening(loop: "test")
        opening.lease = TestJournal.lease
        let holder = try PostgresJournal.open(url, opening, newHistory: History(7), memory: JournalMemory())
        defer { holder.close() }
        let before = try test.run("SELECT max(number) FROM loop_renewal") ?? 0
        // Its first look for long transactions is refused.
        while try test.run("SELECT max(number) FROM loop_renewal") ?? 0 < before + 3 { try holder.append([]) }
        try holder.append([record(1)])
        #expect(holder.lease?.database?.oldestTransaction == nil)
    }

    @Test func `who keeps it also says how the database is`() async throws {
        let first = try test.open()
        try first.append([record(1)])
        first.close()
        try test.run("VACUUM loop_batch")
        var other = try PostgresConnection(test.url, within: TestJournal.limit)
        _ = try other.run("BEGIN ISOLATION LEVEL REPEATABLE READ", "test", within: TestJournal.limit)
        _ = try other.run("SELECT count(*) FROM loop_batch", "test", within: TestJournal.limit)
        try await test.wait(
            until:
                "SELECT (now() - xact_start > '1 s')::int::bigint FROM pg_stat_activity WHERE xact_start IS NOT NULL AND backend_xmin IS NOT NULL AND datname = current_database() ORDER BY xact_start LIMIT 1"
        )
        let holder = try test.open()
        defer { holder.close() }
        while holder.lease?.database == nil { await Task.yield() }
        let figures = try #require(holder.lease?.database)
        #expect(try #require(figures.oldestTransaction) >= .seconds(1))
        #expect(try #require(figures.tableBytes) >= 8192)
        #expect(figures.deadRows != nil && figures.syncStandbys == 0 && figures.oldestSeq == 0)
        #expect(figures.hosts.count == 1 && figures.host == 0)
        other.drop()
    }

    @Test func `who leaves it to the next one at once when it closes`() throws {
        try test.open { $0.lease = .seconds(3600) }.close()
        try test.open().close()
    }

    @Test func `who may come back to it at once after an error, while others wait`() throws {
        let memory = JournalMemory()
        let first = try test.open(memory) { $0.lease = .seconds(3600) }
        try first.append([record(1)])
        try test.run("SELECT count(pg_terminate_backend(\(test.backend()))) FROM loop_journal")
        #expect(#expect(throws: JournalError.self) { try first.append([record(2)]) }?.kind == .unreachable)
        first.close()
        let again = try test.open(memory)
        #expect(try again.records(after: 0, bytesMax: 1000) == [record(1)])
        try again.append([record(2)])
        // It is not open twice in one process.
        #expect(#expect(throws: JournalError.self) { try test.open(memory) }?.kind == .locked)
        again.close()
    }

    @Test func `who has stepped down takes it back when another one has had it, or when none wants it`() async throws {
        let memory = JournalMemory()
        try test.open(memory).close()
        let test = test
        let back = Task {
            try await NodeThread.run("back") {
                let journal = try test.open(memory) {
                    $0.waits = true
                    $0.standsBackUntil = SystemClock.monotonic + .seconds(3600)
                }
                try journal.append([record(2)])
                journal.close()
            }
        }
        let other = try test.open()
        try other.append([record(1)])
        other.close()
        try await back.value
        #expect(try test.records() == [record(1), record(2)])
        let again = try test.open(memory) {
            $0.waits = true
            $0.standsBackUntil = SystemClock.monotonic + .milliseconds(100)
        }
        try again.append([record(3)])
        again.close()
    }

    @Test func `who may say how long its lease is, and how long a statement may take`() throws {
        let holder = try test.open {
            $0.lease = .seconds(7)
            $0.deadline = .milliseconds(300)
        }
        #expect(try test.run("SELECT lease_ms FROM loop_journal") == 7000)
        try holder.append([record(1)])
        let lease = try #require(holder.lease)
        #expect(lease.duration == .seconds(7) && lease.provenAt <= SystemClock.monotonic)
        // Another transaction keeps the row: the append is given up after that time.
        var other = try PostgresConnection(test.url, within: TestJournal.limit)
        _ = try other.run("BEGIN", "test", within: TestJournal.limit)
        _ = try other.run("SELECT FROM loop_journal FOR UPDATE", "test", within: TestJournal.limit)
        let began = SystemClock.monotonic
        #expect(#expect(throws: JournalError.self) { try holder.append([record(2)]) }?.kind == .unreachable)
        #expect(SystemClock.monotonic - began >= .milliseconds(300))
        holder.close()
    }

    @Test func `of two who want it at the same time`() async throws {
        try test.open(renews: false).abandon()
        let test = test
        let tries = (0..<2).map { _ in
            Task {
                try await NodeThread.run("candidate") { () -> JournalError? in
                    do {
                        // Held for as long as the other one looks.
                        let journal = try test.open { $0.lease = .seconds(1) }
                        try journal.append([record(1)])
                        usleep(1_500_000)
                        journal.close()
                        return nil
                    } catch {
                        return error as? JournalError
                    }
                }
            }
        }
        var errors: [JournalError?] = []
        for attempt in tries { errors.append(try await attempt.value) }
        #expect(errors.compactMap { $0?.kind } == [.locked])
        #expect(try test.records() == [record(1)])
    }

    @Test func `whose backend is ended by the successor where it stands still in an append`() throws {
        let half = try test.open(renews: false)
        try half.append([record(1)])
        // The holder's process stops with its row locked and its transaction open.
        var standing = try PostgresConnection(test.url, within: TestJournal.limit)
        let name = try test.run(
            "SELECT length(application_name)::bigint FROM pg_stat_activity WHERE pid = \(test.backend())")
        #expect(name == 21)
        _ = try standing.run(
            "SELECT set_config('application_name', application_name, false) FROM pg_stat_activity WHERE pid = \(test.backend())",
            "test", within: TestJournal.limit)
        try test.run("UPDATE loop_journal SET backend = \(standing.backendPID)")
        _ = try standing.run("BEGIN", "test", within: TestJournal.limit)
        _ = try standing.run(
            "UPDATE loop_journal SET position = position + 1", "test", within: TestJournal.limit)

        let successor = try test.open()
        let error = #expect(throws: PostgresError.self) {
            _ = try standing.run("COMMIT", "test", within: TestJournal.limit).count
        }
        #expect(error?.kind == .lost)
        #expect(try successor.records(after: 0, bytesMax: 1000) == [record(1)])
        try successor.append([record(2)])
        #expect(throws: JournalError.self) { try half.append([record(3)]) }
    }

    /// A connection that has locked the row and is not the holder's is left alone, and named as the reason.
    @Test func `and is not taken while another connection has locked its row`() throws {
        try test.open(renews: false).abandon()
        var other = try PostgresConnection(test.url, within: TestJournal.limit)
        _ = try other.run("BEGIN", "test", within: TestJournal.limit)
        _ = try other.run("SELECT FROM loop_journal FOR UPDATE", "test", within: TestJournal.limit)
        let error = #expect(throws: JournalError.self) { try test.open() }
        #expect(error?.kind == .unreachable)
        #expect(error?.reason.contains("is locked, and not by its holder") == true)
        _ = try other.run("COMMIT", "test", within: TestJournal.limit)
        try test.open().close()
    }

    @Test func `and another newest row ends its term, whatever has put it there`() throws {
        let holder = try test.open()
        try holder.append([record(1)])
        try test.run("UPDATE loop_batch SET checksum = checksum # 1")
        #expect(#expect(throws: JournalError.self) { try holder.append([record(2)]) }?.kind == .unreachable)
        holder.close()
        #expect(#expect(throws: JournalError.self) { try test.open() }?.kind == .corrupt)
    }

    @Test func `whose appends and renewals leave nothing behind that a later one has to read`() async throws {
        let holder = try test.open()
        try holder.append([record(1)])
        var reader = try PostgresConnection(test.url, within: TestJournal.limit)
        _ = try reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ", "test", within: TestJournal.limit)
        _ = try reader.run("SELECT count(*) FROM loop_journal", "test", within: TestJournal.limit)
        let row = try test.run(
            "SELECT (ctid::text::point)[0]::bigint * 1000 + (ctid::text::point)[1]::bigint FROM loop_journal")
        for number in 2...300 { try holder.append([record(UInt64(number))]) }
        let renewals = try test.run("SELECT max(number) FROM loop_renewal") ?? 0
        try await test.wait(until: "SELECT max(number) > \(renewals + 3) FROM loop_renewal")
        // The row of the journal is where it was: it has no other version.
        let after = try test.run(
            "SELECT (ctid::text::point)[0]::bigint * 1000 + (ctid::text::point)[1]::bigint FROM loop_journal")
        #expect(row == after)
        #expect(try test.run("SELECT count(*) FROM loop_renewal") == 1)
        reader.drop()
        holder.close()
    }

    /// What a successor may do between the takeover of one process and its look at the newest rows.
    enum Successor: String, CaseIterable {
        case appends, trims, cuts

        /// Behind a takeover of its own. `kept` has the second batch, and what the row says with it.
        var statements: [String] {
            let takes =
                "UPDATE loop_journal SET term = term + 1, nonce = nonce + 1, released = false"
            let end = "position, seq, checksum"
            switch self {
            case .appends:
                return [
                    takes, "INSERT INTO loop_batch SELECT * FROM kept",
                    "UPDATE loop_journal SET (\(end)) = (SELECT \(end) FROM later)",
                ]
            case .trims:
                return [
                    takes,
                    "UPDATE loop_journal SET (trimmed_position, trimmed_seq, trimmed_checksum) = (SELECT last_position,"
                        + " last_seq, checksum FROM loop_batch ORDER BY first_position DESC LIMIT 1)",
                    "DELETE FROM loop_batch",
                ]
            case .cuts:
                return [takes, "UPDATE loop_journal SET position = 0, seq = 0, checksum = 0", "DELETE FROM loop_batch"]
            }
        }
    }

    @Test(arguments: Successor.allCases)
    func `and who was overtaken before it saw the newest rows does not call them damaged`(
        successor: Successor
    ) async throws {
        let memory = JournalMemory()
        let holder = try test.open(memory, renews: false)
        try holder.append([record(1)])
        try test.run("CREATE TABLE earlier AS SELECT position, seq, checksum FROM loop_journal")
        try holder.append([record(2)])
        try test.run("CREATE TABLE later AS SELECT position, seq, checksum FROM loop_journal")
        try test.run("CREATE TABLE kept AS SELECT * FROM loop_batch WHERE first_position = 2")
        if successor == .appends {
            try test.run("DELETE FROM loop_batch WHERE first_position = 2")
            try test.run(
                "UPDATE loop_journal SET (position, seq, checksum) = (SELECT position, seq, checksum FROM earlier)")
        }
        holder.abandon()
        // It has its term, and waits for the rows.
        var other = try PostgresConnection(test.url, within: TestJournal.limit)
        for statement in ["BEGIN", "LOCK TABLE loop_snapshot"] {
            _ = try other.run(statement, "test", within: TestJournal.limit)
        }
        let test = test
        let overtaken = Task {
            try await NodeThread.run("overtaken") { () -> JournalError? in
                do {
                    // Where the rows are gone, its own memory accuses, too.
                    try test.open(successor == .appends ? JournalMemory() : memory, renews: false).close()
                    return nil
                } catch {
                    return error as? JournalError
                }
            }
        }
        try await test.wait(
            until:
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                + " AND query LIKE '%loop_snapshot%'")
        for statement in successor.statements + ["COMMIT"] {
            _ = try other.run(statement, "test", within: TestJournal.limit)
        }
        let error = try await overtaken.value
        #expect(error?.kind == .unreachable, "\(error?.description ?? "it leads")")
        #expect(error?.description.contains("trim") == false)
    }
}
