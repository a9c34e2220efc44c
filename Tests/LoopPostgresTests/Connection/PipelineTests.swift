import LoopPostgres
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(2))) struct `Statements that are sent one behind the other` {
    private let url: ConnectionString
    private static let insertion = PreparedStatement("insert", "INSERT INTO t VALUES ($1, $2)")
    private static let limit = Duration.seconds(20)

    /// A table that refuses a number twice, and warns of the number 13.
    init() async throws {
        url = try await TestDatabase.shared.value.makeDatabase()
        var connection = try connect()
        for sql in [
            "CREATE TABLE t (n bigint PRIMARY KEY, content bytea)",
            """
            CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF NEW.n = 13 THEN RAISE WARNING 'committed locally'; END IF; RETURN NEW; END $$
            """, "CREATE TRIGGER warn BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION warn()",
        ] {
            _ = try connection.run(sql, "prepare the test", within: Self.limit)
        }
    }

    private func connect() throws -> PostgresConnection { try PostgresConnection(url, within: Self.limit) }

    /// A connection that has sent these numbers.
    private func sending(
        _ numbers: [Int64], within limit: Duration = Self.limit
    ) throws(PostgresError) -> PostgresConnection {
        var connection = try PostgresConnection(url, within: Self.limit)
        for number in numbers {
            try connection.send(
                Self.insertion, [.integer(number), .bytes([1])], "insert \(number)", within: limit)
        }
        return connection
    }

    private func count() throws -> Int64? {
        var connection = try connect()
        return try connection.run("SELECT count(*) FROM t", "count", within: Self.limit).integer(0, 0)
    }

    /// Another connection that keeps the insertion of a number waiting until it is dropped.
    private func keep(_ number: Int64) throws -> PostgresConnection {
        var connection = try connect()
        _ = try connection.run("BEGIN", "keep", within: Self.limit)
        _ = try connection.run("INSERT INTO t VALUES ($1)", [.integer(number)], "keep", within: Self.limit)
        return connection
    }

    @Test func `have their outcomes in that order, and then others can run`() throws {
        var connection = try sending([1, 2, 3])
        #expect(connection.sentCount == 3 && connection.descriptor >= 0)
        let early = #expect(throws: PostgresError.self) {
            _ = try connection.run("SELECT 1", "look", within: Self.limit).count
        }
        #expect(early?.kind == .misuse)
        for number in 1...3 {
            #expect(connection.sentOperation == "insert \(number)")
            #expect(try connection.takeSent(waits: true)?.affectedCount == 1)
        }
        #expect(try connection.takeSent(waits: true)?.count == nil)
        #expect(try connection.run("SELECT count(*) FROM t", "count", within: Self.limit).integer(0, 0) == 3)
        try connection.send(Self.insertion, [.integer(4), .bytes([])], "insert 4", within: Self.limit)
        #expect(try connection.takeSent(waits: true)?.affectedCount == 1)
    }

    @Test func `are not waited for where that is not wanted`() throws {
        var other = try keep(1)
        var connection = try sending([1, 2])
        #expect(try connection.takeSent(waits: false)?.count == nil)
        other.drop()
        var taken = 0
        while taken < 2 { taken += try connection.takeSent(waits: false)?.affectedCount ?? 0 }
        #expect(try connection.takeSent(waits: false)?.count == nil)
    }

    @Test func `are more than the system takes at once`() throws {
        var connection = try sending([])
        let content = [UInt8](repeating: 7, count: 6 << 20)
        for number in 1...4 {
            try connection.send(
                Self.insertion, [.integer(Int64(number)), .bytes(content)], "insert", within: Self.limit)
        }
        for _ in 1...4 { #expect(try connection.takeSent(waits: true)?.affectedCount == 1) }
        #expect(try count() == 4)
    }

    @Test func `have no outcome behind one that the server refuses`() throws {
        var connection = try sending([1, 2, 2, 3, 4])
        for _ in 1...2 { #expect(try connection.takeSent(waits: true)?.affectedCount == 1) }
        let error = #expect(throws: PostgresError.self) { _ = try connection.takeSent(waits: true)?.count }
        #expect(error?.kind == .refused && error?.code == "23505" && error?.operation == "insert 2")
        let isOpen = connection.isOpen
        #expect(!isOpen && connection.sentCount == 0)
    }

    @Test func `have no outcome from a warning on`() throws {
        var other = try keep(12)
        var connection = try sending([12, 13, 14])
        other.drop()
        // The warning may be heard before what was sent earlier is taken.
        var taken = 0
        let error = #expect(throws: PostgresError.self) {
            while try connection.takeSent(waits: true)?.affectedCount == 1 { taken += 1 }
        }
        #expect(taken <= 1)
        #expect(error?.kind == .warned && error?.text == "committed locally")
        let isOpen = connection.isOpen
        #expect(!isOpen)
    }

    @Test func `have none when the backend ends, and are not there where it had not begun with them`() throws {
        var other = try keep(1)
        var connection = try sending([1, 2, 3])
        var killer = try connect()
        _ = try killer.run(
            "SELECT pg_terminate_backend($1::integer)", [.integer(Int64(connection.backendPID))], "end it",
            within: Self.limit)
        let error = #expect(throws: PostgresError.self) { _ = try connection.takeSent(waits: true)?.count }
        #expect(error?.kind == .lost)
        let later = #expect(throws: PostgresError.self) {
            try connection.send(Self.insertion, [.integer(5), .bytes([])], "insert 5", within: Self.limit)
        }
        #expect(later?.kind == .lost)
        other.drop()
        #expect(try count() == 0)
    }

    @Test(arguments: [true, false]) func `have until their deadline, each from its own sending`(waits: Bool) throws {
        var other = try keep(1)
        var connection = try sending([1], within: .milliseconds(50))
        try connection.send(Self.insertion, [.integer(2), .bytes([])], "insert 2", within: Self.limit)
        let error = #expect(throws: PostgresError.self) {
            while try connection.takeSent(waits: waits)?.count == nil {}
        }
        #expect(error?.kind == .late && error?.operation == "insert 1")
        let isOpen = connection.isOpen
        #expect(!isOpen)
        other.drop()
    }
}
