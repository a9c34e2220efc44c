import LoopCluster
import LoopNode
import LoopWire
import TestDatabase
import Testing

@testable import LoopPostgres

@Suite(.timeLimit(.minutes(2))) struct `A server that is examined` {
    private let url: ConnectionString

    init() async throws { url = try await TestDatabase.shared.value.makeDatabase() }

    private func facts(_ url: ConnectionString) throws -> DatabaseFacts {
        let servers = DatabaseInquiry.servers(of: url)
        #expect(servers.count == 1)
        return try servers[0].facts.get()
    }

    private func run(_ statements: String...) throws {
        var connection = try PostgresConnection(url, within: TestJournal.limit)
        for statement in statements { _ = try connection.run(statement, "test", within: TestJournal.limit) }
    }

    @Test func `says its version, its settings, its tables and its clock`() throws {
        let before = try facts(url)
        #expect(before.tablesVersion == nil && before.missingPrivileges == [])
        try PostgresSchema.create(url)
        let facts = try facts(url)
        #expect(facts.version.hasPrefix("15") && !facts.isReplica && !facts.isPooled && !facts.isReadOnly)
        #expect(facts.settings["synchronous_commit"] == "on" && facts.settings["fsync"] == "on")
        #expect(facts.tablesVersion == PostgresSchema.version)
        #expect(facts.connections > 0 && facts.connectionsMax >= facts.connections)
        // It runs on this machine.
        #expect(facts.clockAhead < facts.clockError + .milliseconds(5))
        #expect(facts.clockAhead > .zero - facts.clockError - .milliseconds(5))
        #expect(facts.isEncrypted == nil && facts.seesOthers)
    }

    @Test func `says which privileges and settings a role lacks`() throws {
        try PostgresSchema.create(url)
        let role = "examined_\(url.description.split(separator: "/").last ?? "")"
        try run(
            "CREATE ROLE \(role) LOGIN", "GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(role)",
            "GRANT INSERT, UPDATE, DELETE ON loop_journal, loop_renewal, loop_snapshot, loop_snapshot_piece TO \(role)",
            "GRANT INSERT, UPDATE ON loop_batch TO \(role)", "ALTER ROLE \(role) SET synchronous_commit = off",
            "ALTER ROLE \(role) SET default_transaction_read_only = on")
        let facts = try facts(ConnectionString(url.description.replacing("loop@", with: "\(role)@")))
        #expect(facts.missingPrivileges == ["DELETE on loop_batch"])
        #expect(facts.settings["synchronous_commit"] == "off" && facts.isReadOnly && !facts.seesOthers)
    }

    @Test func `is named with the reason if it does not answer`() throws {
        let servers = DatabaseInquiry.servers(of: try ConnectionString("postgres://loop@127.0.0.1:1,127.0.0.1:2/x"))
        #expect(servers.map(\.name) == ["127.0.0.1:1", "127.0.0.1:2"])
        for server in servers {
            let error = #expect(throws: JournalError.self) { try server.facts.get() }
            #expect(error?.fault.reason == .noDatabase)
        }
    }

    @Test func `lists its journals, with their holders`() throws {
        #expect(throws: JournalError.self) { try DatabaseInquiry.journals(in: url) }
        try PostgresSchema.create(url)
        #expect(try DatabaseInquiry.journals(in: url) == [])
        let journal = try PostgresJournal.open(
            url, JournalPlace.Opening(loop: "orders"), newHistory: History(7), memory: JournalMemory())
        let held = try #require(try DatabaseInquiry.journals(in: url).first)
        #expect(held.loop == "orders" && held.keptAs == "current" && held.term == 1 && !held.isReleased)
        #expect(held.seq == 0 && held.firstSeq == 1 && held.snapshotSeq == nil && held.holder != "")
        journal.close()
        #expect(try DatabaseInquiry.journals(in: url).first?.isReleased == true)
    }
}
