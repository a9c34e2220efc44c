import Foundation
import LoopPostgres
import TestDatabase

/// The PostgreSQL servers of the cases that want one: of this process, on sockets, and gone with it. They sync.
actor Databases {
    enum Kind: Sendable {
        /// A server alone.
        case one
        /// A primary with two standbys: one of these must have synced a commit too.
        case quorum
    }

    static let shared = Databases()

    private static let server = "/usr/lib/postgresql/15/bin/postgres"
    private var quorum: DatabaseQuorum?
    private var count = 0

    /// An empty database with the tables of journals.
    /// - Returns: its URL.
    func make(_ kind: Kind) async throws -> String {
        guard FileManager.default.isExecutableFile(atPath: Self.server) else {
            throw BenchmarkError.leftOut("there is no \(Self.server) (Debian package postgresql-15)")
        }
        let url =
            switch kind {
            case .one: try await TestDatabase.shared.value.makeDatabase()
            case .quorum: try await startedQuorum().makeDatabase("bench\(nextNumber())")
            }
        try PostgresSchema.create(url)
        return url.description
    }

    private func nextNumber() -> Int {
        count += 1
        return count
    }

    private func startedQuorum() async throws -> DatabaseQuorum {
        if let quorum { return quorum }
        let started = try await DatabaseQuorum()
        quorum = started
        return started
    }

    /// Ends those that do not end with the process.
    func end() { quorum = nil }
}
