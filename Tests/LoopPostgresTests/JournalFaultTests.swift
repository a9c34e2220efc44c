import Glibc
import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestDatabase
import Testing

@testable import LoopPostgres

extension Member {
    fileprivate func fault(_ reason: JournalFault.Reason) async throws -> StatusReport {
        let report = try await status { $0.journalFault?.reason == reason }
        #expect(!report.isReady && report.notReadyBecause != nil)
        return report
    }

    /// Since the first failure the log has said nothing else, and this no more than every half minute.
    fileprivate func expectTold(_ reason: JournalFault.Reason, isAlone: Bool = true) {
        let events = log.events.drop { $0.kind != .journalFailed }
        let told = events.filter { $0.fields.contains(.fault(reason)) }
        guard let first = told.first, let last = told.last else {
            Issue.record("nothing is told of \(reason)")
            return
        }
        #expect(told.count <= 1 + Int((last.time.milliseconds - first.time.milliseconds) / 29_000), "\(log.lines)")
        if isAlone { #expect(told.count == events.count, "\(events.map(\.line))") }
    }
}

@Suite(.timeLimit(.minutes(3))) struct `The reason why a journal in a database cannot be used` {
    private let database: TestDatabase
    private let test: TestJournal

    init() async throws {
        database = try await TestDatabase()
        test = try TestJournal(in: database)
    }

    private func url(user: String) throws -> ConnectionString {
        let parts = user.split(separator: "?")
        let url = test.url.description.replacing("loop@", with: "\(parts[0])@")
        return try ConnectionString(([url] + parts.dropFirst().map(String.init)).joined(separator: "?"))
    }

    /// What keeps a role from connecting, and what a standby then says.
    @Test(arguments: [
        ("CREATE ROLE one LOGIN PASSWORD 'right'", "one", JournalFault.Reason.auth, String?.none),
        ("CREATE ROLE one LOGIN PASSWORD 'right'", "one:wrong", .auth, "28P01"),
        ("CREATE ROLE two LOGIN", "two", .pgHBA, "28000"),
        ("CREATE ROLE loop2 LOGIN CONNECTION LIMIT 0", "loop2", .tooManyConnections, "53300"),
        ("CREATE ROLE loop2 LOGIN", "loop2", .denied, "42501"),
        ("CREATE ROLE loop2 NOLOGIN", "loop2", .auth, "28000"),
        ("SELECT 1", "loop2", .auth, "28000"),
        (
            "CREATE ROLE loop2 LOGIN; ALTER ROLE loop2 SET default_transaction_read_only = on", "loop2", .readOnlyOnly,
            nil
        ),
        (
            "CREATE ROLE loop2 LOGIN; ALTER ROLE loop2 SET default_transaction_read_only = on",
            "loop2?target_session_attrs=read-write", .readOnlyOnly, nil
        ),
    ])
    func `is told by a standby that cannot connect`(
        _ sql: String, _ user: String, _ reason: JournalFault.Reason, _ code: String?
    ) async throws {
        for statement in sql.split(separator: "; ") { try test.run(String(statement)) }
        try database.admit(["local all loop,loop2 trust", "local all one scram-sha-256"])
        let member = try Member(try url(user: user))
        let report = try await member.fault(reason)
        #expect(report.journalFault?.sqlState == code)
        #expect(report.journalFault?.host?.hasPrefix("/") == true)
        #expect(report.notReadyBecause?.contains("wrong@") == false)
        if reason == .readOnlyOnly {
            // A report lacks this if the host has not answered the look for a primary in time.
            _ = try await member.status {
                $0.journalFault?.reason == reason
                    && $0.notReadyBecause?.contains("default_transaction_read_only off") == true
            }
        }
        try await Task.sleep(for: .seconds(1))
        member.expectTold(reason, isAlone: false)
        await member.stop()
    }

    @Test func `is that no server answers, and it is told by a standby and by the one that has led`() async throws {
        let leader = try Member(test.url)
        _ = try await leader.status { $0.isReady }
        let standby = try Member(test.url)
        _ = try await standby.status { $0.isStandby }
        await database.kill()
        let report = try await leader.fault(.noDatabase)
        #expect(try #require(report.journalFaultMilliseconds) >= 0)
        _ = try await standby.fault(.noDatabase)
        try await database.start()
        _ = try await [leader.status { $0.journalFault == nil }, standby.status { $0.journalFault == nil }]
        await standby.stop()
        await leader.stop()
    }

    @Test(arguments: [true, false])
    func `is a lock, and the leader says whose it is while its append waits`(_ isStandby: Bool) async throws {
        // The append does not end before: it is told while the append waits.
        let leader = try Member(test.url) {
            $0.succession = isStandby ? .standby : .refuse
            $0.journalDeadline = .seconds(60)
        }
        _ = try await leader.status { $0.isReady }
        var other = try PostgresConnection(
            test.url, settings: ["application_name": "backup"], within: TestJournal.limit)
        _ = try other.run("BEGIN", "test", within: TestJournal.limit)
        _ = try other.run("LOCK TABLE loop_batch IN SHARE MODE", "test", within: TestJournal.limit)
        let sent = try leader.send()
        let report = try await leader.fault(.lockWait)
        #expect(report.notReadyBecause?.contains("(backup) has") == true, "\(report.notReadyBecause ?? "")")
        other.drop()
        #expect(try await sent.value == Seq(1))
        _ = try await leader.status { $0.isReady }
        await leader.stop()
    }

    /// A session that has the lock of a statement until it is dropped.
    private func locking(_ statement: String) async throws -> PostgresConnection {
        try await test.wait(until: "SELECT count(*) FROM loop_renewal")
        var other = try PostgresConnection(
            test.url, settings: ["application_name": "backup"], within: TestJournal.limit)
        _ = try other.run("BEGIN", "test", within: TestJournal.limit)
        _ = try other.run(statement, "test", within: TestJournal.limit)
        return other
    }

    @Test(arguments: ["loop_renewal", "loop_journal"])
    func `is a lock, and a leader without an event says whose it is`(_ table: String) async throws {
        let leader = try Member(test.url) {
            $0.succession = .refuse
            $0.journalDeadline = .seconds(60)
        }
        _ = try await leader.status { $0.isReady }
        var other = try await locking("SELECT * FROM \(table) FOR UPDATE")
        let report = try await leader.fault(.lockWait)
        #expect(report.notReadyBecause?.contains("(backup) has") == true, "\(report.notReadyBecause ?? "")")
        #expect(report.epoch == 1 && !report.history.isEmpty)
        other.drop()
        _ = try await leader.status { $0.isReady }
        await leader.stop()
    }

    @Test(arguments: ["loop_renewal", "loop_journal"])
    func `is a lock, and those who take the journal from each other say whose it is`(_ table: String) async throws {
        let (one, two) = try (Member(test.url), Member(test.url))
        _ = try await one.status { $0.isReady || $0.isStandby }
        _ = try await two.status { $0.isReady || $0.isStandby }
        var other = try await locking("SELECT * FROM \(table) FOR UPDATE")
        let isKnown: @Sendable (StatusReport) -> Bool = {
            $0.journalFault?.reason == .lockWait && $0.notReadyBecause?.contains("(backup) has") == true
        }
        _ = try await [one.status(isKnown), two.status(isKnown)]
        other.drop()
        for member in [one, two] {
            let told = member.log.events.filter { $0.kind == .journalFailed }
            #expect(told.allSatisfy { $0.fields.contains(.fault(.lockWait)) }, "\(told.map(\.line))")
        }
        _ = try await [one.status { $0.journalFault == nil }, two.status { $0.journalFault == nil }]
        await one.stop()
        await two.stop()
    }

    @Test func `is a lock, and status is answered while records without a receipt are appended again`() async throws {
        let leader = try Member(test.url) {
            $0.succession = .refuse
            $0.journalDeadline = .seconds(3)
        }
        _ = try await leader.status { $0.isReady }
        var other = try await locking("LOCK TABLE loop_batch IN EXCLUSIVE MODE")
        let sent = try leader.send()
        // It fails after three seconds, and is then appended again for three.
        let end = SystemClock.monotonic + .seconds(8)
        while SystemClock.monotonic < end {
            _ = try await NodeThread.run("probe") { [address = leader.address] in
                try StatusProbe.ask(address, within: .seconds(1))
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        other.drop()
        #expect(try await sent.value == Seq(1))
        await leader.stop()
    }

    @Test(arguments: [true, false])
    func `is that no synchronous standby confirms`(_ isStandby: Bool) async throws {
        let leader = try Member(test.url) {
            $0.succession = isStandby ? .standby : .refuse
            $0.journalDeadline = .seconds(1)
        }
        _ = try await leader.status { $0.isReady }
        try database.change("synchronous_standby_names=ANY 1 (nowhere)")
        let report = try await leader.fault(.noSyncStandby)
        #expect(report.notReadyBecause?.contains("ANY 1 (nowhere)") == true)
        try database.change("synchronous_standby_names=")
        _ = try await leader.status { $0.isReady }
        await leader.stop()
    }

    @Test func `is a full disk, of which the log hears once`() async throws {
        let leader = try Member(test.url)
        _ = try await leader.status { $0.isReady }
        try test.run(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION USING ERRCODE = ''53100'', MESSAGE = ''no space left''; END'
            """)
        try test.run("CREATE TRIGGER refuse BEFORE INSERT ON loop_batch EXECUTE FUNCTION refuse()")
        let sent = try leader.send()
        let report = try await leader.fault(.diskFull)
        #expect(report.journalFault?.sqlState == "53100")
        // What has a receipt is there, and known.
        #expect(report.epoch == 1 && !report.history.isEmpty)
        try await Task.sleep(for: .seconds(6))
        leader.expectTold(.diskFull)
        try test.run("DROP TRIGGER refuse ON loop_batch")
        #expect(try await sent.value == Seq(1))
        await leader.stop()
    }

    @Test func `is that there are no tables, until someone makes them`() async throws {
        let url = try database.makeDatabase()
        let member = try Member(url)
        let report = try await member.fault(.noTables)
        #expect(report.notReadyBecause?.contains("loopctl journal init") == true)
        try PostgresSchema.create(url)
        _ = try await member.status { $0.isReady }
        await member.stop()
    }

    @Test func `is that the state is being rebuilt, and how far that is`() async throws {
        let first = try Member(test.url)
        for _ in 0..<60 { _ = try await first.send().value }
        await first.stop()
        try test.run("DELETE FROM loop_snapshot")
        Counter.pause.withLock { $0 = 50_000 }
        // A standby would have applied the records before it leads.
        let second = try Member(test.url) { $0.succession = .refuse }
        let report = try await second.fault(.recovering)
        #expect(report.notReadyBecause?.contains(" records are applied") == true)
        Counter.pause.withLock { $0 = 0 }
        _ = try await second.status { $0.isReady }
        await second.stop()
    }
}

@Suite struct `The reason that a database gives` {
    private let url: ConnectionString

    init() throws { url = try ConnectionString("postgres://ada@db/loops") }

    /// The reason of a refusal, by what the server says.
    @Test(arguments: [
        (PostgresError.Kind.refused, "57014", "canceling statement due to user request", JournalFault.Reason.refused),
        (.refused, "53200", "out of memory", .refused), (.refused, "XX000", "cache lookup failed", .refused),
        (.refused, "42703", "column \"x\" does not exist", .mistake), (.refused, "42601", "syntax error", .mistake),
        (.lost, "57P01", "terminating connection", .noDatabase), (.lost, "", "connection refused", .noDatabase),
        (.lost, "22023", "invalid value for parameter", .refused),
        (
            .unconfirmed, "01000", "storniere Warten auf synchrone Replikation wegen Benutzeraufforderung",
            .noSyncStandby
        ),
        (.warned, "01000", "database \"x\" has a collation version mismatch", .refused),
    ])
    func `is a refusal where no other has a name`(
        _ kind: PostgresError.Kind, _ code: String, _ text: String, _ reason: JournalFault.Reason
    ) {
        let error = JournalError.postgres(
            "append", PostgresError(kind, "append", code: code, text: text), at: url)
        #expect(error.fault.reason == reason)
        if reason == .mistake { #expect(error.remedy == "this is a mistake in the program") }
    }

    /// What a person is told to do, by the code and the text of the server.
    @Test(arguments: [
        (PostgresError.Kind.lost, "28000", "role \"x\" does not exist", "CREATE ROLE"),
        (.lost, "28000", "role \"x\" is not permitted to log in", "CREATE ROLE"),
        (
            .lost, "28000", "Peer authentication failed for user \"x\"",
            "let pg_hba.conf admit this role from here in another way"
        ),
        (.lost, "28000", "no pg_hba.conf entry for host \"::1\"", "add a line for this role and machine"),
        (.lost, "28P01", "password authentication failed for user \"x\"", "PGPASSWORD"),
        (.lost, "42501", "permission denied for database \"x\"", "GRANT CONNECT"),
        (
            .lost, "42501", "permission denied to set parameter \"lc_messages\"",
            "leave it out of the options of the URL"
        ),
        (.refused, "42501", "permission denied for table loop_journal", "in the tables loop_"),
        (.refused, "42501", "permission denied for schema public", "let the role do that (GRANT)"),
        (.lost, "53300", "too many connections for role \"x\"", "that of the role"),
    ])
    func `is not guessed by its code alone`(
        _ kind: PostgresError.Kind, _ code: String, _ text: String, _ remedy: String
    ) {
        let error = JournalError.postgres(
            "connect", PostgresError(kind, "connect", code: code, text: text), at: url)
        #expect(error.remedy.contains(remedy), "\(error)")
    }
}
