import LoopCluster
import LoopCollections
import LoopNode
import LoopWire
import TestDatabase
import Testing

@testable import LoopPostgres

@Suite(.timeLimit(.minutes(2))) struct `A journal that is gone` {
    private static let tables = "loop_journal, loop_renewal, loop_batch, loop_snapshot, loop_snapshot_piece"

    /// Looks at the journal once, as a process that waits for it does.
    private func look(_ test: TestJournal, _ memory: JournalMemory) {
        #expect(throws: JournalError.self) {
            try test.open(memory) {
                $0.waits = true
                $0.whileWaiting = { _ in false }
            }
        }
    }

    @Test(arguments: [true, false])
    func `is not replaced by an empty one by who has led or followed it`(_ isLeader: Bool) async throws {
        let test = try await TestJournal()
        let (leading, following) = (JournalMemory(), JournalMemory())
        let holder = try test.open(leading) { $0.lease = .seconds(60) }
        look(test, following)
        try holder.append([record(1)])
        look(test, following)
        try test.run("TRUNCATE \(Self.tables)")
        #expect(throws: JournalError.self) { try holder.append([record(2)]) }
        holder.close()
        let memory = isLeader ? leading : following
        let lost = #expect(throws: JournalError.self) { try test.open(memory) { $0.waits = true } }
        #expect(lost?.kind == .corrupt && lost?.fault.reason == .historyLost, "\(lost?.description ?? "")")
        #expect(lost?.reason.contains(isLeader ? "lacks record 1, seq 0" : "lacks term 1") == true)
        #expect(try test.run("SELECT count(*) FROM loop_journal") == 0)

        // An older one in its place is not the one that was led.
        try test.open().close()
        try test.run("UPDATE loop_batch SET journal_id = 0")
        try test.run("ALTER TABLE loop_journal ALTER id DROP IDENTITY")
        try test.run("UPDATE loop_journal SET id = 0")
        let older = #expect(throws: JournalError.self) { try test.open(memory) }
        #expect(older?.fault.reason == .historyLost, "\(older?.description ?? "")")
    }

    @Test func `is not replaced by who waits for it meanwhile`() async throws {
        let test = try await TestJournal()
        // The opening calls on this thread.
        nonisolated(unsafe) let holder = try test.open { $0.lease = .seconds(60) }
        let memory = JournalMemory()
        nonisolated(unsafe) var isGone = false
        let lost = #expect(throws: JournalError.self) {
            try test.open(memory) {
                $0.waits = true
                $0.whileWaiting = { _ in
                    if isGone { return true }
                    isGone = memory.withState({ $0.known }) != nil
                    do {
                        if isGone { try test.run("TRUNCATE \(Self.tables)") } else { try holder.append([record(1)]) }
                        return true
                    } catch {
                        return false
                    }
                }
            }
        }
        #expect(lost?.fault.reason == .historyLost, "\(lost?.description ?? "")")
        holder.close()
    }

    @Test func `is no news where its run has ended and it was set aside`() async throws {
        let test = try await TestJournal()
        let memory = JournalMemory()
        let holder = try test.open(memory)
        try holder.append([record(1)])
        holder.close()
        try test.run("UPDATE loop_journal SET kept_as = 'previous'")
        try test.open(memory).close()
    }

    /// A takeover that no standby has confirmed may be seen, and be gone after a failover.
    @Test func `is not known by a term that was seen once`() async throws {
        let test = try await TestJournal()
        let memory = JournalMemory()
        try test.open(renews: false) { $0.lease = .seconds(60) }.abandon()
        look(test, memory)
        #expect(memory.withState { $0.known } == nil)
        try test.run("UPDATE loop_journal SET term = 2")
        look(test, memory)
        #expect(memory.withState { $0.known } == nil)
        try test.run("INSERT INTO loop_renewal SELECT id, 1000 FROM loop_journal")
        look(test, memory)
        #expect(memory.withState { $0.known?.term } == 2)
    }
}

/// Two servers that know nothing of each other: one was rebuilt.
@Suite(.timeLimit(.minutes(3))) struct `A host without the journal` {
    private let servers: [DatabaseServer]
    /// They end with these.
    private let owners: [DatabaseQuorum]
    /// The first one is empty.
    private let url: ConnectionString
    private let own: [ConnectionString]

    init() async throws {
        let owners = [try await DatabaseQuorum([.init("b")]), try await DatabaseQuorum([.init("a")])]
        own = try owners.map { try $0.makeDatabase() }
        servers = owners.map(\.primary)
        let hosts = own.map { $0.description.split(separator: "@")[1].split(separator: "/")[0] }
        url = try ConnectionString("postgres://loop@\(hosts.joined(separator: ","))/test")
        self.owners = owners
    }

    private func open(_ memory: JournalMemory = JournalMemory()) throws -> PostgresJournal {
        var opening = JournalPlace.Opening(loop: "test")
        opening.lease = TestJournal.lease
        return try PostgresJournal.open(url, opening, newHistory: History(7), memory: memory)
    }

    private func run(_ sql: String, at host: Int) throws {
        var connection = try PostgresConnection(own[host], within: TestJournal.limit)
        _ = try connection.run(sql, "test", within: TestJournal.limit)
    }

    /// It has no tables, those of another version, or tables without the journal.
    @Test(arguments: [[], ["INSERT INTO loop_schema VALUES (77)"], ["SELECT 1"]])
    func `is left for one that has it, and no second one is made`(_ sql: [String]) async throws {
        if !sql.isEmpty { try PostgresSchema.create(own[0]) }
        for statement in sql { try run(statement, at: 0) }
        try TestJournal(at: own[1]).open().close()

        // A process that was never there, one that comes back, and one that reads.
        let memory = JournalMemory()
        for _ in 0..<2 {
            var journal: PostgresJournal?
            while journal == nil {
                do throws(JournalError) {
                    var opening = JournalPlace.Opening(loop: "test")
                    opening.lease = TestJournal.lease
                    journal = try PostgresJournal.open(url, opening, newHistory: History(7), memory: memory)
                } catch {
                    try #require(error.kind == .unreachable && sql == ["SELECT 1"], "\(error)")
                }
            }
            try journal?.append([record(1)])
            journal?.close()
            memory.hosts.prefer(0)
        }
        #expect(try TestJournal(at: own[1]).records() == [record(1), record(1)])
        if sql != ["SELECT 1"] { try PostgresJournal.read(url, loop: "test").close() }
        if sql.isEmpty {
            let second = #expect(throws: JournalError.self) { try PostgresSchema.create(url) }
            #expect(second?.kind == .foreign && second?.reason.contains(" has it") == true)
        }

        // Only a host that was asked is known to lack it.
        await servers[1].kill()
        if sql == ["SELECT 1"] {
            // It refuses connections, so it may be gone for good.
            let journal = try open()
            #expect(journal.openReport.contains { $0.contains("is made at") && $0.contains("cannot be asked") })
            journal.close()
            return
        }
        let error = #expect(throws: JournalError.self) { try open() }
        #expect(error?.kind == .unreachable, "\(error?.description ?? "")")
        #expect(error?.reason.contains("cannot be asked") == true && error?.remedy.contains("init") == false)
    }

    /// A synchronous standby shows the tables before its primary does, which waits for it.
    @Test func `is not accused while another process makes its tables`() async throws {
        try PostgresSchema.create(own[1])
        var maker = try PostgresConnection(own[0], within: TestJournal.limit)
        let lock = "SELECT pg_advisory_xact_lock(\(0x4c6f_6f70_4c6f_6f70))"
        for statement in [
            "BEGIN", lock, "CREATE TABLE loop_journal ()", "CREATE TABLE loop_schema AS SELECT 2::bigint AS version",
        ] {
            _ = try maker.run(statement, "test", within: TestJournal.limit)
        }
        let url = url
        let isOver = Locked(false)
        let creation = Task {
            defer { isOver.withLock { $0 = true } }
            return try await NodeThread.run("init") { try PostgresSchema.create(url) }
        }
        let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while try maker.run(waits, "test", within: TestJournal.limit).integer(0, 0) == 0, !isOver.withLock({ $0 }) {
            await Task.yield()
        }
        _ = try maker.run("COMMIT", "test", within: TestJournal.limit)
        #expect(try await creation.value == false)
    }

    @Test func `is told to be made if each host was asked`() throws {
        let error = #expect(throws: JournalError.self) { try open() }
        #expect(error?.kind == .foreign && error?.remedy == "make them: loopctl journal init \(url)")
    }
}
