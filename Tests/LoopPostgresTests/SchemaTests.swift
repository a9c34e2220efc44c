import LoopCluster
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A database for journals` {
    private let database: TestDatabase
    private let url: ConnectionString

    init() async throws {
        database = try await TestDatabase.shared.value
        url = try database.makeDatabase()
    }

    private func open(
        _ loop: String = "test", _ url: ConnectionString? = nil, _ durability: Durability = .fsync
    ) throws -> PostgresJournal {
        var opening = JournalPlace.Opening(loop: loop)
        opening.durability = durability
        return try PostgresJournal.open(url ?? self.url, opening, newHistory: History(7), memory: JournalMemory())
    }

    private func run(_ sql: String) throws {
        var connection = try PostgresConnection(url, within: TestJournal.limit)
        _ = try connection.run(sql, "test", within: TestJournal.limit)
    }

    @Test func `needs its tables first, and is told how they are made`() throws {
        for use in [{ try open().close() }, { try PostgresJournal.read(url, loop: "test").close() }] {
            let error = #expect(throws: JournalError.self) { try use() }
            #expect(error?.kind == .foreign)
            #expect(error?.remedy == "make them: loopctl journal init \(url)")
        }
        #expect(try PostgresSchema.create(url))
        #expect(try !PostgresSchema.create(url))
        #expect(#expect(throws: JournalError.self) { try PostgresJournal.read(url, loop: "test") }?.kind == .readOnly)
        try open().close()
    }

    /// The role cannot use the schema of the tables, or does not search it, or cannot connect at all.
    @Test(arguments: [
        (
            "CREATE SCHEMA apart", "SET search_path = apart", JournalError.Kind.readOnly,
            "GRANT USAGE ON SCHEMA apart TO"
        ),
        (
            "CREATE SCHEMA apart; GRANT USAGE ON SCHEMA apart TO ROLE", "SET search_path = public", .foreign,
            "SET search_path = apart"
        ),
        ("CREATE SCHEMA apart; REVOKE CONNECT ON DATABASE NAME FROM PUBLIC", "RESET ALL", .readOnly, "GRANT CONNECT"),
    ])
    func `names what keeps a role from its tables`(
        _ sql: String, _ setting: String, _ kind: JournalError.Kind, _ remedy: String
    ) throws {
        let base = String(url.description.split(separator: "/").last ?? "")
        let role = "apart_\(base)"
        let owner = try ConnectionString("\(url)?options=-csearch_path%3Dapart")
        try run("CREATE ROLE \(role) LOGIN")
        for statement in sql.split(separator: "; ") {
            try run(String(statement).replacing("ROLE", with: role).replacing("NAME", with: base))
        }
        try run("ALTER ROLE \(role) \(setting)")
        try PostgresSchema.create(owner)
        let error = #expect(throws: JournalError.self) {
            try open("test", ConnectionString(url.description.replacing("loop@", with: "\(role)@"))).close()
        }
        #expect(error?.kind == kind && error?.fault.reason == (kind == .readOnly ? .denied : .noTables))
        #expect(error?.remedy.contains(remedy) == true, "\(error?.description ?? "")")
    }

    @Test(arguments: ["sslmode=nonsense", "target_session_attrs=any-at-all"])
    func `is not waited for if its URL has a value that means nothing`(_ option: String) throws {
        let error = #expect(throws: JournalError.self) {
            try open("test", ConnectionString("\(url)?\(option)")).close()
        }
        #expect(error?.kind == .misuse && error?.fault.reason == .mistake, "\(error?.description ?? "")")
    }

    @Test func `gets its tables once, however many make them at the same time`() async throws {
        let url = url
        let tries = (0..<4).map { _ in Task { try await NodeThread.run("init") { try PostgresSchema.create(url) } } }
        var made = 0
        for attempt in tries where try await attempt.value { made += 1 }
        #expect(made == 1)
    }

    @Test func `of another version is refused`() throws {
        try PostgresSchema.create(url)
        try run("INSERT INTO loop_schema VALUES (3)")
        for use in [{ try open().close() }, { _ = try PostgresSchema.create(url) }] {
            let error = #expect(throws: JournalError.self) { try use() }
            #expect(error?.kind == .foreign)
            #expect(error?.reason == "\(url) has version 3 of the tables of journals, this program knows 2")
        }
    }

    @Test func `is shared by loops that do not see each other`() throws {
        try PostgresSchema.create(url)
        let loops = ["one", "two", "three"]
        let journals = try loops.map { try open($0) }
        for (number, journal) in journals.enumerated() {
            for _ in 0...number { try journal.append([record(UInt64(number))]) }
        }
        for (number, loop) in loops.enumerated() {
            let reader = try PostgresJournal.read(url, loop: loop)
            #expect(
                try reader.records(after: 0, bytesMax: 1000)
                    == Array(repeating: record(UInt64(number)), count: number + 1))
            reader.close()
        }
        for journal in journals { journal.close() }
    }

    @Test func `tells a loop from another one whose number is the same`() throws {
        try PostgresSchema.create(url)
        try open().close()
        try run("UPDATE loop_journal SET loop = 'other'")
        let error = #expect(throws: JournalError.self) { try open() }
        #expect(error?.kind == .foreign)
    }

    @Test func `is used by a role that may only select, insert, update and delete`() async throws {
        try PostgresSchema.create(url)
        let role = url.description.split(separator: "/").last.map { "\($0)_reducer" } ?? ""
        try run("CREATE ROLE \(role) LOGIN")
        let narrow = try ConnectionString(url.description.replacing("loop@", with: "\(role)@"))
        let denied = #expect(throws: JournalError.self) { try open("test", narrow) }
        #expect(denied?.kind == .readOnly)
        try run("GRANT SELECT ON loop_schema TO \(role)")
        try run(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON loop_journal, loop_renewal, loop_batch, loop_snapshot, loop_snapshot_piece TO \(role)"
        )
        let journal = try open("test", narrow)
        try journal.append([record(1)])
        let write = try #require(journal.snapshotWriter)
        try journal.add(try write(SnapshotEntry(position: 1, seq: .initial, fingerprint: 1), [1, 2, 3]))
        try journal.markEnded()
        journal.close()
        let next = try open("test", narrow)
        #expect(next.position == 0)
        next.close()
        let previous = try PostgresJournal.read(narrow, loop: "test", keptAs: .previous)
        #expect(previous.hasEnded)
        #expect(try previous.content(of: previous.snapshots()[0]) == [1, 2, 3])
        previous.close()
    }

    @Test func `that loses what it has acknowledged is refused, unless that was asked for`() throws {
        try PostgresSchema.create(url)
        let name = url.description.split(separator: "/").last ?? ""
        try run("ALTER DATABASE \(name) SET synchronous_commit = off")
        let error = #expect(throws: JournalError.self) { try open() }
        #expect(error?.kind == .foreign)
        #expect(error?.reason.contains("synchronous_commit is off") == true)
        let journal = try open("test", nil, .os)
        try journal.append([record(1)])
        journal.close()
    }

    @Test func `whose own time limits would end a statement is not asked for them`() throws {
        try PostgresSchema.create(url)
        let name = url.description.split(separator: "/").last ?? ""
        try run("ALTER DATABASE \(name) SET client_min_messages = 'error'")
        // Last: it holds for each later connection that does not ask for another limit, this test's own included.
        try run("ALTER DATABASE \(name) SET statement_timeout = '1ms'")
        let journal = try open()
        try journal.append((0..<10_000).map { record(UInt64($0)) })
        #expect(try journal.records(after: 0, bytesMax: 1 << 20).count == 10_000)
        journal.close()
    }

    @Test func `is damaged where a row was changed, and says from which record on`() throws {
        try PostgresSchema.create(url)
        let journal = try open()
        for number in 1...3 { try journal.append([record(UInt64(number)), record(9)]) }
        journal.close()
        try run("UPDATE loop_batch SET records = set_byte(records, 2, 77) WHERE first_position = 3")
        let again = try open()
        #expect(try again.records(after: 0, bytesMax: 1000).count == 2)
        let error = #expect(throws: JournalError.self) { try again.records(after: 2, bytesMax: 1000) }
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.contains("at position 3") == true)
        #expect(error?.remedy.contains("loop-reducer test trim --after 0 \(url)") == true)
        again.close()
        try run("DELETE FROM loop_batch WHERE first_position = 5")
        #expect(#expect(throws: JournalError.self) { try open() }?.kind == .corrupt)
    }
}
