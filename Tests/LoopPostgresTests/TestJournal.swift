import LoopCluster
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase

/// One loop's journal in a database, and what a test does to it behind its back.
struct TestJournal {
    let url: ConnectionString
    static let limit = Duration.seconds(20)
    static let lease = Duration.milliseconds(200)

    init(at url: ConnectionString) throws {
        self.url = url
        try PostgresSchema.create(url)
    }

    init(in database: TestDatabase) throws { try self.init(at: try database.makeDatabase()) }

    init() async throws { try self.init(in: try await TestDatabase.shared.value) }

    /// Opens it as a process does that remembers `memory`.
    func open(
        _ memory: JournalMemory = JournalMemory(), renews: Bool = true,
        _ change: (inout JournalPlace.Opening) -> Void = { _ in }
    ) throws -> PostgresJournal {
        var opening = JournalPlace.Opening(loop: "test")
        opening.lease = Self.lease
        // A test that holds a lock may have no turn for seconds on a busy machine.
        opening.deadline = Self.limit
        change(&opening)
        return try PostgresJournal.open(url, opening, newHistory: History(7), memory: memory, renews: renews)
    }

    /// Everything that is there.
    func records() throws -> [Record] {
        let reader = try PostgresJournal.read(url, loop: "test")
        defer { reader.close() }
        return try reader.records(after: 0, bytesMax: 1 << 20)
    }

    /// Runs a statement on a connection of the test's own.
    @discardableResult
    func run(_ sql: String) throws -> Int64? {
        var connection = try PostgresConnection(url, within: Self.limit)
        return try connection.run(sql, "test", within: Self.limit).integer(0, 0)
    }

    /// The backend of the holder.
    func backend() throws -> Int64 { try run("SELECT backend FROM loop_journal") ?? 0 }

    /// Waits until a query has a row whose first column is not 0.
    func wait(until sql: String) async throws {
        var connection = try PostgresConnection(url, within: Self.limit)
        while try connection.run(sql, "test", within: Self.limit).integer(0, 0) ?? 0 == 0 { await Task.yield() }
    }

    /// Appends on a thread of its own, for an append that does not come back at once.
    static func append(_ journal: PostgresJournal, _ records: [Record]) -> Task<JournalError?, any Error> {
        // One thread after the other has it.
        nonisolated(unsafe) let journal = journal
        return Task {
            try await NodeThread.run("append") {
                do throws(JournalError) {
                    _ = try journal.append(RecordLog(records), through: journal.position + UInt64(records.count))
                    return nil
                } catch {
                    return error
                }
            }
        }
    }
}

extension PostgresJournal {
    func append(_ records: [Record]) throws(JournalError) {
        _ = try append(RecordLog(records), through: position + UInt64(records.count))
    }
}

/// A record that is told from others by its number.
func record(_ number: UInt64) -> Record { .skipped(SessionID(2), number: number) }
