import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
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
        let level = try await standby.status {
            $0.following?.lag == 0 && $0.following?.lagMilliseconds ?? .max < 1_000
        }
        #expect(level.seq == 3, "\(level)")
        // Both have the first event alone.
        let left = standby.log.lines.filter { $0.contains("lacks the leader's record") }
        #expect(left.count == 2 && left.allSatisfy { $0.contains("it reads elsewhere") }, "\(standby.log.lines)")
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

    /// What was followed and what the leader has written end at the same position.
    @Test func `compares records with the leader's, and does not count them`() async throws {
        let quorum = try await DatabaseQuorum()
        try quorum.primary.change("synchronous_standby_names=")
        let test = try TestJournal(at: try quorum.makeDatabase())
        let leader = try Member(test.url)
        let remote = try RemoteLoop(Counter.self, reducer: leader.address, log: .silent)
        for _ in 1...2 { _ = try await remote.sendAndConfirm(.add) }
        // A standby keeps to the first server of its URL only if that one has what the leader has written.
        try await quorum.wait(
            until: "SELECT count(*) = 2 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()")
        let hosts = quorum.url("").dropFirst("postgres://loop@".count).dropLast().split(separator: ",")
        func url(_ order: Int...) throws -> ConnectionString {
            try ConnectionString("postgres://loop@\(order.map { hosts[$0] }.joined(separator: ","))/test")
        }
        let standbys = [try Member(url(2, 1, 0)), try Member(url(1, 2, 0))]
        // They leave the journal to the leader, however late it renews its lease.
        func standBack() async throws {
            for address in standbys.map(\.address) {
                try await NodeThread.run("ask") {
                    var call = try AdministrationCall(reducer: address)
                    _ = try call.ask(.standBack(milliseconds: 60_000, who: "test"), \.done, within: TestJournal.limit)
                }
            }
        }
        try await standBack()
        for standby in standbys {
            _ = try await standby.status { $0.seq == 2 && $0.following?.lagMilliseconds ?? .max < 1_000 }
        }
        // The third server goes on alone, as an old primary does, and has another third event.
        let alone = quorum.servers[2]
        try alone.follow(nil)
        try alone.change("synchronous_standby_names=")
        try alone.promote(within: TestJournal.limit)
        let records = try test.records()
        guard case .event(var event)? = records.last else {
            Issue.record(
                "an event was the last record, and not \(records.last.map(String.init(describing:)) ?? "none")")
            return
        }
        event.seq = event.seq.next
        event.number += 1
        event.time = WallTime(milliseconds: event.time.milliseconds + 60_000)
        try await standBack()
        let fork = try TestJournal(at: url(2)).open { $0.waits = true }
        try fork.append([.event(event)])
        _ = try await standbys[0].status { $0.seq == 3 }
        _ = try await remote.sendAndConfirm(.add)
        #expect(try test.records().count == records.count + 1)
        _ = try await standbys[1].status { $0.seq == 3 && $0.following?.lagMilliseconds ?? .max < 1_000 }

        // The first one leaves it, and sees there that the journal has another record.
        let gone = "does not have record \(records.count + 1), seq 3, as it was followed"
        _ = try await standbys[0].status { _ in standbys[0].log.lines.contains { $0.contains(gone) } }
        #expect(standbys[0].log.lines.contains { $0.contains("it reads elsewhere") })
        _ = try await standbys[0].status { $0.seq == 3 && $0.following?.lagMilliseconds ?? .max < 1_000 }
        // The second one comes to it next, and takes nothing for lost.
        try await standBack()
        await quorum.servers[1].kill()
        _ = try await remote.sendAndConfirm(.add)
        _ = try await standbys[1].status { $0.seq == 4 }
        #expect(!standbys[1].log.lines.contains { $0.contains("as it was followed") }, "\(standbys[1].log.lines)")
        await remote.close()
        for member in standbys + [leader] { await member.stop() }
        fork.close()
    }

    /// The thread that renews the lease has the connection, and waits for the server.
    @Test func `that leads says what it waits for while its database is silent`() async throws {
        let quorum = try await DatabaseQuorum()
        let test = try TestJournal(at: try quorum.makeDatabase())
        let leader = try Member(test.url) { $0.journalDeadline = .seconds(60) }
        _ = try await leader.status { $0.isReady }
        quorum.primary.freeze()
        defer { quorum.primary.thaw() }
        let began = SystemClock.monotonic
        let report = try await leader.status { !$0.isReady }
        #expect(report.journalFault?.reason == .appendDeadline, "\(report)")
        #expect(SystemClock.monotonic - began < .seconds(30))
        quorum.primary.thaw()
        _ = try await leader.status { $0.isReady }
        await leader.stop()
    }

    @Test func `that leads warns of records that it had followed and that a failover has lost`() async throws {
        let test = try await TestJournal()
        let leader = try Member(test.url)
        let remote = try RemoteLoop(Counter.self, reducer: leader.address, log: .silent)
        for _ in 1...2 { _ = try await remote.sendAndConfirm(.add) }
        let standby = try Member(test.url)
        _ = try await standby.status { $0.isStandby && $0.seq == 2 && $0.following?.lag == 0 }
        // As after an asynchronous failover to a server that lacked the newest record. The lock keeps the standby from taking the
        // journal before that record is gone.
        var connection = try PostgresConnection(test.url, within: TestJournal.limit)
        try connection.transaction("test", within: TestJournal.limit) { connection throws(PostgresError) in
            _ = try connection.run("SELECT id FROM loop_journal FOR UPDATE", "test", within: TestJournal.limit)
            leader.node.kill()
            _ = try connection.run(
                "DELETE FROM loop_batch WHERE first_position = (SELECT max(first_position) FROM loop_batch)", "test",
                within: TestJournal.limit)
        }
        func warns(_ report: StatusReport) -> Bool {
            report.warnings.contains { $0.contains("RECORDS ARE GONE") && $0.contains(": event 2. The journal lacked") }
        }
        #expect(warns(try await standby.status { $0.isReady }))
        // It still says so when it has lost the journal for a while.
        try test.run("SELECT count(pg_terminate_backend(backend::int)) FROM loop_journal")
        #expect(warns(try await standby.status { $0.isReady && $0.epoch >= 3 }))
        #expect(standby.log.lines.count { $0.contains("RECORDS ARE GONE") } == 1, "\(standby.log.lines)")
        await standby.stop()
        await leader.stop()
        await remote.close()
    }
}
