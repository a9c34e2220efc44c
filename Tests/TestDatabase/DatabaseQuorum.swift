internal import Glibc
internal import Linux
internal import LoopCollections
internal import LoopCore
internal import LoopNode
package import LoopPostgres

/// PostgreSQL servers of a test's own: a primary and two that follow it, one of which must confirm each commit; or a primary alone.
/// They are promoted and joined by the rules of docs/high-availability.md.
package final class DatabaseQuorum: Sendable {
    package let servers: [DatabaseServer]
    private let folder: TemporaryFolder
    private let leading = Locked(0)

    /// How long a step may take in which the servers have to do something.
    private static let limit = Duration.seconds(30)

    /// Makes the servers, and returns when both others follow the first.
    /// - Parameter places: one or three, in the order in which they are in the URL.
    package init(_ places: [DatabaseServer.Place] = ["n1", "n2", "n3"].map { .init($0) }) async throws {
        let folder = try TemporaryFolder("pg")
        self.folder = folder
        // Servers that run as another user have to come to their own folders.
        chmod(folder.path, 0o711)
        servers = try places.enumerated().map { index, place in
            let path = "\(folder.path)/\(index + 1)"
            try FileSystem.makeFolder(path, mode: 0o700)
            let others = places.filter { $0.name != place.name }.map(\.name).joined(separator: ",")
            return try DatabaseServer(
                place, in: path,
                settings: (others.isEmpty ? [] : ["synchronous_standby_names=ANY 1 (\(others))"]) + [
                    "wal_retrieve_retry_interval=100ms",
                    "wal_receiver_timeout=3s", "wal_sender_timeout=3s", "wal_keep_size=512MB", "max_connections=50",
                ])
        }
        try await servers[0].initialize()
        try await servers[0].start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for server in servers.dropFirst() { group.addTask { try await self.join(server) } }
            try await group.waitForAll()
        }
        try await wait(
            until: "SELECT count(*) = \(servers.count - 1) FROM pg_stat_replication WHERE state = 'streaming'")
    }

    deinit {
        for server in servers { server.end() }
        folder.remove()
    }

    /// The one that was started or promoted last.
    package var primary: DatabaseServer { servers[leading.withLock { $0 }] }

    /// The others.
    package var standbys: [DatabaseServer] { servers.filter { $0 !== primary } }

    /// The database on whichever of them can be written, the hosts in the order of the servers.
    package func url(_ database: String) -> String {
        "postgres://loop@\(servers.map(\.urlHost).joined(separator: ","))/\(database)"
    }

    /// Makes an empty database.
    /// - Returns: its URL, with all hosts.
    package func makeDatabase(_ name: String = "test") throws -> ConnectionString {
        var connection = try primary.connect()
        _ = try connection.run("CREATE DATABASE \(name)", "make a database", within: Self.limit)
        return try ConnectionString(url(name))
    }

    /// Makes a server follow the primary, with a copy of its files in place of what it had.
    package func join(_ server: DatabaseServer) async throws {
        try await server.copy(primary)
        try server.follow(primary)
        try await server.start()
    }

    /// Promotes the most advanced of the others, which both run, and makes the third follow it. Whatever the primary does meanwhile,
    /// nothing that it acknowledges is lost: first those stop receiving that are asked how far they are, and they are a majority.
    package func promote() async throws {
        let candidates = standbys
        for server in candidates { try server.follow(nil) }
        var best: (server: DatabaseServer, end: Int64)?
        for server in candidates {
            let end = try await server.end(within: Self.limit)
            if best.map({ end > $0.end }) ?? true { best = (server, end) }
        }
        guard let chosen = best?.server else { return }
        try chosen.promote(within: Self.limit)
        leading.withLock { $0 = servers.firstIndex { $0 === chosen } ?? $0 }
        for server in candidates where server !== chosen { try server.follow(chosen) }
    }

    /// Waits until a query of the primary has a true first column.
    package func wait(until query: String, in database: String = "postgres") async throws {
        var connection = try primary.connect(database)
        let deadline = SystemClock.monotonic + Self.limit
        while true {
            let found = try connection.run(
                "SELECT (\(query))::int::bigint", "wait for the servers", within: Self.limit)
            if found.integer(0, 0) == 1 { return }
            guard SystemClock.monotonic < deadline else { throw NodeError.system("it never came true: \(query)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
