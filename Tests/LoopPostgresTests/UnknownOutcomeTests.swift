import LoopCluster
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

/// The journal is opened again after an append with an unknown outcome. What it then holds is what happened.
@Suite(.timeLimit(.minutes(3))) struct `An append without a receipt` {
    @Test func `is not there where its backend ended before the commit`() async throws {
        let test = try await TestJournal()
        let memory = JournalMemory()
        let journal = try test.open(memory, renews: false)
        try journal.append([record(1)])
        var other = try PostgresConnection(test.url, within: TestJournal.limit)
        _ = try other.run("BEGIN", "test", within: TestJournal.limit)
        _ = try other.run("SELECT FROM loop_journal FOR UPDATE", "test", within: TestJournal.limit)
        let append = TestJournal.append(journal, [record(2)])
        let backend = try test.backend()
        try await test.wait(
            until: "SELECT count(*) FROM pg_stat_activity WHERE pid = \(backend) AND wait_event_type = 'Lock'")
        try test.run("SELECT pg_terminate_backend(\(backend))")
        #expect(try await append.value?.kind == .unreachable)
        other.drop()
        journal.close()

        let again = try test.open(memory)
        #expect(again.position == 1)
        try again.append([record(3)])
        #expect(try test.records() == [record(1), record(3)])
        again.close()
    }

    @Test func `leaves everything there that had one, when the server is killed`() async throws {
        let database = try await TestDatabase()
        let test = try TestJournal(in: database)
        let memory = JournalMemory()
        let journal = try test.open(memory)
        for number in 1...20 { try journal.append([record(UInt64(number))]) }
        await database.kill()
        #expect(#expect(throws: JournalError.self) { try journal.append([record(21)]) }?.kind == .unreachable)
        journal.close()
        #expect(#expect(throws: JournalError.self) { try test.open(memory) }?.kind == .unreachable)
        try await database.start()
        let again = try test.open(memory)
        #expect(try again.records(after: 0, bytesMax: 10_000) == (1...20).map { record($0) })
        try again.append([record(21)])
        again.close()
    }

    @Test func `waits for a server that does not answer, where it was asked to wait`() async throws {
        let database = try await TestDatabase()
        let test = try TestJournal(in: database)
        try test.open().close()
        await database.kill()
        let (notes, post) = AsyncStream<JournalFault.Reason?>.makeStream()
        let opening = Task {
            try await NodeThread.run("opening") {
                try test.open {
                    $0.waits = true
                    $0.whileWaiting = { owner in
                        post.yield(owner.obstacle?.fault.reason)
                        return true
                    }
                }.close()
            }
        }
        #expect(await notes.first { _ in true } == JournalFault.Reason.noDatabase)
        try await database.start()
        try await opening.value
        post.finish()
        // Before its commit, which may wait, it says that the server has answered.
        var last: JournalFault.Reason? = .unknown
        for await note in notes { last = note }
        #expect(last == nil)
    }

    /// Found by chaos: the server ended between the takeover and the reading of what had been taken.
    @Test func `is opened again where its server ends behind the takeover, if it was asked to wait`() async throws {
        let test = try await TestJournal()
        try test.open().close()
        try test.run("CREATE SEQUENCE deletions")
        try test.run(
            """
            CREATE FUNCTION end_the_first() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
                IF nextval(''deletions'') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                RETURN NULL;
            END'
            """)
        try test.run(
            "CREATE TRIGGER end_the_first AFTER DELETE ON loop_snapshot_piece EXECUTE FUNCTION end_the_first()")
        // The opening calls on this thread.
        nonisolated(unsafe) var faults: Set<JournalFault> = []
        let journal = try test.open {
            $0.waits = true
            $0.whileWaiting = { owner in
                if let error = owner.obstacle { faults.insert(error.fault) }
                return true
            }
        }
        #expect(faults.map(\.reason) == [.noDatabase], "\(faults)")
        try journal.append([record(1)])
        journal.close()
        #expect(try test.run("SELECT last_value FROM deletions") == 2)
    }

    /// A failover to a server that had not everything yet.
    @Test func `that had one and is gone is lost history, and stops the process that knows`() async throws {
        let test = try await TestJournal()
        let memory = JournalMemory()
        let journal = try test.open(memory)
        try journal.append([record(1)])
        let numbers = "SELECT position, seq, checksum FROM loop_journal"
        try test.run("CREATE TABLE before AS \(numbers)")
        try journal.append([record(2)])
        journal.close()
        try test.run("DELETE FROM loop_batch WHERE first_position = 2")
        try test.run("UPDATE loop_journal SET (position, seq, checksum) = (SELECT position, seq, checksum FROM before)")
        let error = #expect(throws: JournalError.self) { try test.open(memory) }
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.contains("acknowledged records are missing") == true)
        // Another process cannot know; the greetings of peers will tell it.
        let other = try test.open()
        #expect(other.position == 1)
        try other.append([record(3)])
        other.close()
        #expect(#expect(throws: JournalError.self) { try test.open(memory) }?.kind == .corrupt)
    }
}
