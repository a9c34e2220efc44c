import LoopCollections
import LoopPostgres
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A connection to PostgreSQL` {
    private let url: ConnectionString

    init() async throws { url = try await TestDatabase.shared.value.makeDatabase() }

    private func connect() throws -> PostgresConnection { try PostgresConnection(url, within: .seconds(20)) }

    @Test func `carries numbers, texts and bytes there and back`() throws {
        var connection = try connect()
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let result = try connection.run(
            "SELECT $1::bigint, $2::text, $3::bytea, NULL::bigint, $1::bigint < 0, ''::bytea, 7::integer",
            [.integer(.min), .text("größe"), .bytes(bytes)], "select", within: .seconds(20))
        #expect(result.count == 1)
        #expect(result.integer(0, 0) == .min)
        #expect(result.text(0, 1) == "größe")
        #expect(result.withBytes(0, 2) { $0.count } == bytes.count)
        #expect(result.withBytes(0, 2) { span in bytes.indices.allSatisfy { span[$0] == bytes[$0] } } == true)
        #expect(result.integer(0, 3) == nil)
        #expect(result.integer(0, 4) == 1)
        #expect(result.withBytes(0, 5) { $0.count } == 0)
        #expect(result.integer(0, 6) == 7)
        // What is not there is absent, and ends no process.
        #expect(result.integer(1, 0) == nil && result.integer(0, 7) == nil && result.text(-1, 0) == nil)
    }

    @Test func `sends an empty value as one, and not as an absent one`() throws {
        var connection = try connect()
        let result = try connection.run(
            "SELECT $1::bytea IS NULL, $2::text IS NULL", [.bytes([]), .text("")], "select", within: .seconds(20))
        #expect(result.integer(0, 0) == 0 && result.integer(0, 1) == 0)
    }

    @Test func `runs a statement again that it has prepared once`() throws {
        var connection = try connect()
        let statement = PreparedStatement("sum", "SELECT $1 + $2")
        for number in 0..<3 {
            let result = try connection.run(
                statement, [.integer(Int64(number)), .integer(1)], "add", within: .seconds(20))
            #expect(result.integer(0, 0) == Int64(number + 1))
        }
        #expect(
            try connection.run("SELECT count(*) FROM pg_prepared_statements", "count", within: .seconds(20))
                .integer(0, 0) == 1)
    }

    @Test func `tells why the server refuses, and can be used again`() throws {
        var connection = try connect()
        let error = #expect(throws: PostgresError.self) {
            _ = try connection.run("SELECT * FROM nothing", "look", within: .seconds(20)).count
        }
        #expect(error == PostgresError(.refused, "look", code: "42P01", text: "relation \"nothing\" does not exist"))
        #expect(try connection.run("SELECT 1::bigint", "look", within: .seconds(20)).integer(0, 0) == 1)
    }

    @Test func `takes a warning for no success`() throws {
        var connection = try connect()
        let error = #expect(throws: PostgresError.self) {
            _ = try connection.run(
                "DO $$ BEGIN RAISE WARNING 'committed locally'; END $$", "warn", within: .seconds(20)
            ).count
        }
        #expect(error == PostgresError(.warned, "warn", code: "01000", text: "committed locally"))
        // A notice says nothing of the outcome.
        _ = try connection.run("DO $$ BEGIN RAISE NOTICE 'by the way'; END $$", "note", within: .seconds(20))
    }

    @Test func `is dropped when a deadline has passed`() throws {
        var connection = try connect()
        let error = #expect(throws: PostgresError.self) {
            _ = try connection.run("SELECT pg_sleep(60)", "wait", within: .milliseconds(50)).count
        }
        #expect(error?.kind == .late)
        let isOpen = connection.isOpen
        #expect(!isOpen)
        let later = #expect(throws: PostgresError.self) {
            _ = try connection.run("SELECT 1", "look", within: .seconds(20)).count
        }
        #expect(later?.kind == .lost)
    }

    @Test func `is lost when its backend ends, whatever the statement did`() throws {
        var connection = try connect()
        var other = try connect()
        let pid = Int64(connection.backendPID)
        _ = try other.run("SELECT pg_terminate_backend($1::integer)", [.integer(pid)], "end it", within: .seconds(20))
        let error = #expect(throws: PostgresError.self) {
            _ = try connection.run("SELECT 1", "look", within: .seconds(20)).count
        }
        #expect(error?.kind == .lost)
        let isOpen = connection.isOpen
        #expect(!isOpen)
    }

    @Test func `gives up a transaction that cannot be committed`() throws {
        var connection = try connect()
        _ = try connection.run("CREATE TABLE t (n bigint)", "make a table", within: .seconds(20))
        let error = #expect(throws: PostgresError.self) {
            try connection.transaction("insert", within: .seconds(20)) { connection throws(PostgresError) in
                _ = try connection.run("INSERT INTO t VALUES (1)", "insert", within: .seconds(20))
                _ = try? connection.run("SELECT 1 / 0", "divide", within: .seconds(20)).count
            }
        }
        #expect(error?.text == "the server answered ROLLBACK to COMMIT")
        var other = try connect()
        #expect(try other.run("SELECT count(*) FROM t", "count", within: .seconds(20)).integer(0, 0) == 0)
    }

    @Test func `takes the first host that answers, and names them all if none does`() async throws {
        let folder = url.description.dropFirst("postgres://loop@".count).prefix { $0 != "/" }
        let name = url.description.split(separator: "/").last.map(String.init) ?? ""
        var connection = try PostgresConnection(
            ConnectionString("postgres://loop@127.0.0.1:1,\(folder)/\(name)"), within: .seconds(20))
        #expect(try connection.run("SELECT 1::bigint", "look", within: .seconds(20)).integer(0, 0) == 1)
        let error = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(
                ConnectionString("postgres://loop:secret@127.0.0.1:1,127.0.0.1:2/x"), within: .seconds(20)
            ).isOpen
        }
        #expect(error?.kind == .lost)
        #expect(
            error?.description.contains("port 1 failed") == true && error?.description.contains("port 2 failed") == true
        )
        #expect(error?.description.contains("secret") == false)
    }
}
