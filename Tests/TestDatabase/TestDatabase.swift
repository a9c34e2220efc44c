internal import Glibc
internal import LoopCollections
internal import LoopNode
package import LoopPostgres

/// A PostgreSQL server of a test's own, which listens on a socket in a folder of its own and on no port. It syncs, as one that is
/// relied on does. It ends with this process, however that ends.
package final class TestDatabase: Sendable {
    private let folder: TemporaryFolder
    private let server: DatabaseServer
    private let databasesCount = Locked(0)

    /// One for all tests of a process that do not stop it. Each makes a database of its own.
    package static let shared = Task {
        let database = try await TestDatabase()
        atexit { lastDatabase.withLock { $0 }?.end() }
        lastDatabase.withLock { $0 = database }
        return database
    }

    /// Makes the server's files, and starts it.
    /// - Parameter settings: more of its settings, such as `max_connections=20`.
    package init(_ settings: [String] = []) async throws {
        folder = try TemporaryFolder("pg")
        server = try DatabaseServer(.init("alone"), in: folder.path, settings: settings)
        try await server.initialize()
        try await start()
    }

    deinit { end() }

    fileprivate func end() {
        server.end()
        folder.remove()
    }

    /// Starts the server, or starts it again, and waits until it takes connections.
    package func start() async throws { try await server.start() }

    /// Ends the server as a loss of its machine's power would, but for what the system has in memory.
    package func kill() async { await server.kill() }

    /// Changes a setting of the running server.
    /// - Parameter setting: such as `max_connections=20`.
    package func change(_ setting: String) throws { try server.change(setting) }

    /// Says which roles may connect from where.
    /// - Parameter lines: of `pg_hba.conf`; all of them.
    package func admit(_ lines: [String]) throws { try server.admit(lines) }

    /// Where a database of the server is.
    package func url(_ name: String = "postgres", user: String = "loop") -> String { server.url(name, user: user) }

    /// An empty database for the caller alone.
    /// - Returns: its URL.
    package func makeDatabase() throws -> ConnectionString {
        let number = databasesCount.withLock { count in
            count += 1
            return count
        }
        var connection = try server.connect()
        _ = try connection.run("CREATE DATABASE test\(number)", "make a database", within: .seconds(60))
        return try ConnectionString(url("test\(number)"))
    }

    /// A connection of the tests' own.
    package func connect(_ url: String) throws -> PostgresConnection {
        try PostgresConnection(ConnectionString(url), within: .seconds(20))
    }
}

/// The shared one, which is ended when the process exits.
private let lastDatabase = Locked<TestDatabase?>(nil)
