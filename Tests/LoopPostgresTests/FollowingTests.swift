import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import PostgreSQL
import TestDatabase
import Testing

@Suite(.timeLimit(.minutes(3))) struct `A standby of a journal in a database` {
    /// Two servers that stand still are the first ones of its URL.
    @Test func `measures its lag against the leader, and leaves servers that do not move while the leader does`()
        async throws
    {
        let quorum = try await DatabaseQuorum()
        let test = try TestJournal(at: try quorum.makeDatabase())
        let leader = try Member(test.url)
        #expect(try await leader.send().value == Seq(1))
        for server in quorum.standbys {
            var connection = try server.connect("test")
            func wait(until query: String) async throws {
                let deadline = SystemClock.monotonic + .seconds(30)
                while try connection.run("SELECT (\(query))::int::bigint", "test", within: TestJournal.limit)
                    .integer(0, 0) != 1
                {
                    try #require(SystemClock.monotonic < deadline, "\(query)")
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            try await wait(until: "SELECT count(*) > 0 FROM loop_batch WHERE last_seq = 1")
            _ = try connection.run("SELECT count(pg_wal_replay_pause())", "test", within: TestJournal.limit)
            try await wait(until: "SELECT pg_get_wal_replay_pause_state() = 'paused'")
        }
        for seq in 2...3 { #expect(try await leader.send().value == Seq(UInt64(seq))) }

        let hosts = quorum.url("").dropFirst("postgres://loop@".count).dropLast().split(separator: ",")
        let standby = try Member(ConnectionString("postgres://loop@\(hosts.reversed().joined(separator: ","))/test"))
        // Both have the first event alone.
        _ = try await standby.status { $0.seq == 1 && $0.following?.lag ?? 0 > 0 }
        let level = try await standby.status {
            $0.following?.lag == 0 && $0.following?.lagMilliseconds ?? .max < 1_000
        }
        #expect(level.seq == 3, "\(level)")
        #expect(standby.log.lines.count { $0.contains("it reads elsewhere") } == 2, "\(standby.log.lines)")
        await standby.stop()
        await leader.stop()
    }

    /// The leader has nothing to say for a quarter of its lease, and the standby sees nothing new.
    @Test func `is level as of the time when the leader was heard`() async throws {
        let test = try await TestJournal()
        let leader = try Member(test.url) { $0.journalLease = .seconds(60) }
        _ = try await leader.status { $0.isReady }
        let standby = try Member(test.url)
        _ = try await standby.status { $0.isStandby && $0.following?.coldBecause == nil }
        #expect(try await leader.send().value == Seq(1))
        let level = try await standby.status { $0.seq == 1 && $0.following?.lagMilliseconds ?? .max < 1_000 }
        #expect(level.following?.lag == 0)
        let later = try await standby.status { $0.following?.lagMilliseconds ?? 0 > 2_000 }
        #expect(later.seq == 1 && later.following?.lag == 0)
        await standby.stop()
        await leader.stop()
    }
}
