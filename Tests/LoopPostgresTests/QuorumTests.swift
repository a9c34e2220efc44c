import LoopCluster
import LoopCollections
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import TestDatabase
import Testing

/// Three servers, of which two must have an append before it has a receipt.
@Suite(.timeLimit(.minutes(3))) struct `A journal with a quorum of three servers` {
    private let quorum: DatabaseQuorum
    private let test: TestJournal
    private let memory = JournalMemory()

    init() async throws {
        quorum = try await DatabaseQuorum()
        test = try TestJournal(at: try quorum.makeDatabase())
    }

    private func waitForAnAppend() async throws {
        try await quorum.wait(until: "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    }

    @Test func `gives a receipt once one standby has the records, and none while no standby has`() async throws {
        let standbys = quorum.standbys
        var journal = try test.open(memory, renews: false)
        try journal.append([record(1)])
        await standbys[0].kill()
        try journal.append([record(2)])

        standbys[1].freeze()
        let late = TestJournal.append(journal, [record(3)])
        try await waitForAnAppend()
        standbys[1].thaw()
        #expect(try await late.value == nil)

        // Another warning comes before the one that the wait was ended.
        try test.run(
            """
            CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN IF NEW.first_position = 4 THEN RAISE WARNING 'the disk is tired'; END IF; RETURN NEW; END $$
            """)
        try test.run("CREATE TRIGGER warn BEFORE INSERT ON loop_batch FOR EACH ROW EXECUTE FUNCTION warn()")
        // What is committed on the primary alone is there, and has no receipt.
        for (number, end) in [(4, "pg_cancel_backend"), (5, "pg_terminate_backend")] as [(UInt64, String)] {
            standbys[1].freeze()
            let ended = TestJournal.append(journal, [record(number)])
            try await waitForAnAppend()
            try await quorum.wait(
                until: "SELECT count(\(end)(pid)) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            let error = try await ended.value
            #expect(error?.kind == .unreachable, "\(end)")
            // A session that was ended gives no reason.
            #expect(error?.fault.reason == (number == 4 ? .noSyncStandby : .noDatabase), "\(end)")
            journal.close()
            standbys[1].thaw()
            journal = try test.open(memory, renews: false)
            #expect(try journal.records(after: 0, bytesMax: 10_000) == (1...number).map { record($0) }, "\(end)")
        }

        await standbys[1].kill()
        #expect(#expect(throws: JournalError.self) { try journal.append([record(6)]) }?.kind == .unreachable)
        journal.close()
        try await standbys[0].start()
        journal = try test.open(memory)
        #expect(try journal.records(after: 0, bytesMax: 10_000) == (1...6).map { record($0) })
        try journal.append([record(7)])
        journal.close()
    }

    @Test func `is opened again when commits wait for other standbys, and says so`() async throws {
        var lines: [String] = []
        func open() throws -> PostgresJournal {
            let journal = try test.open(memory)
            lines += journal.openReport
            return journal
        }
        var journal = try open()
        try journal.append([record(1)])
        let name = quorum.standbys[0].place.name
        try quorum.primary.change("synchronous_standby_names=ANY 1 (\(name))")
        // The backend learns of it between two statements.
        var failure: JournalError?
        while failure == nil {
            do throws(JournalError) { try journal.append([record(2)]) } catch { failure = error }
        }
        #expect(failure?.kind == .unreachable)
        #expect(failure?.reason.contains("waits for other standbys") == true)
        journal.close()
        #expect(lines == [])
        journal = try open()
        try journal.append([record(3)])
        journal.close()
        #expect(lines.count == 1)
        #expect(lines.first?.contains("was 'ANY 1 (n2,n3)' and is 'ANY 1 (\(name))' now") == true, "\(lines)")
    }

    /// Appends until one has no receipt.
    /// - Returns: a task that gives the newest record with a receipt, and how many there are so far.
    private func appendOn(
        _ journal: PostgresJournal, from first: UInt64
    ) -> (end: Task<UInt64, any Error>, count: Monitor<Int>) {
        // One thread after the other has it.
        nonisolated(unsafe) let journal = journal
        let count = Monitor(0)
        let end = Task {
            try await NodeThread.run("appends") {
                var number = first
                while (try? journal.append([record(number)])) != nil {
                    number += 1
                    count.withLock { $0 += 1 }
                    count.broadcast()
                }
                return number - 1
            }
        }
        return (end, count)
    }

    private func wait(for appends: Int, of count: Monitor<Int>) async throws {
        while count.withLock({ $0 }) < appends { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// The records up to the newest with a receipt, and perhaps the one whose outcome is unknown.
    private func expect(_ journal: PostgresJournal, through acknowledged: UInt64) throws -> UInt64 {
        let there = try journal.records(after: 0, bytesMax: 1 << 20)
        #expect(there == (1...UInt64(there.count)).map { record($0) })
        #expect([acknowledged, acknowledged + 1].contains(UInt64(there.count)))
        return UInt64(there.count)
    }

    @Test func `loses nothing that had a receipt when its primary is killed and all standbys start again`() async throws
    {
        var journal = try test.open(memory)
        let appends = appendOn(journal, from: 1)
        try await wait(for: 50, of: appends.count)
        await quorum.primary.kill()
        let acknowledged = try await appends.end.value
        journal.close()
        // After a start a standby says of what it has received only where the segment begins.
        for server in quorum.standbys { await server.kill() }
        for server in quorum.standbys { try await server.start() }
        try await quorum.promote()
        journal = try test.open(memory) { $0.waits = true }
        let count = try expect(journal, through: acknowledged)
        try journal.append([record(count + 1)])
        journal.close()
    }

    /// It is the first host of the URL, it takes connections, and no commit of it ever has a receipt.
    @Test func `is written at the new primary while the old one has come back alone`() async throws {
        let old = quorum.primary
        var journal = try test.open(memory)
        let appends = appendOn(journal, from: 1)
        try await wait(for: 50, of: appends.count)
        old.freeze()
        try await quorum.promote()
        let acknowledged = try await appends.end.value
        journal.close()
        old.thaw()
        journal = try test.open(memory) { $0.waits = true }
        let count = try expect(journal, through: acknowledged)
        try journal.append([record(count + 1)])
        // A snapshot's bytes go over a connection of their own.
        let write = try #require(journal.snapshotWriter)
        let entry = SnapshotEntry(position: journal.position, seq: Seq(0), fingerprint: 1)
        try journal.add(try write(entry, [1, 2, 3]))
        journal.close()
        // Another process, which has never seen another primary.
        journal = try test.open { $0.waits = true }
        #expect(try expect(journal, through: count + 1) == count + 1)
        journal.close()
    }

    @Test func `is taken over later if no standby confirms it, and the reason is told meanwhile`() throws {
        try test.open(memory).close()
        for server in quorum.standbys { server.freeze() }
        defer { for server in quorum.standbys { server.thaw() } }
        // The opening calls on this thread.
        nonisolated(unsafe) var told: [JournalError] = []
        let error = #expect(throws: JournalError.self) {
            try test.open(memory) {
                $0.deadline = .seconds(3)
                $0.whileWaiting = { owner in
                    if let error = owner.obstacle { told.append(error) }
                    return true
                }
            }
        }
        #expect(error?.fault.reason == .noSyncStandby)
        #expect(told.map(\.fault.reason) == [.noSyncStandby], "\(told)")
        #expect(told.first?.reason.contains("it is not committed yet") == true)
    }

    /// The first host of the URL that answers is a standby, and has not got the snapshot.
    @Test func `is cut by the snapshots of the primary`() async throws {
        let journal = try test.open(memory)
        try journal.append([record(1)])
        try await quorum.wait(
            until: "SELECT count(*) = 2 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()")
        try quorum.servers[1].follow(nil)
        let write = try #require(journal.snapshotWriter)
        try journal.add(try write(SnapshotEntry(position: 1, seq: Seq(1), fingerprint: 1), [1, 2, 3]))
        journal.close()
        let urls = [1, 0].map { quorum.servers[$0].url("test") }
        let hosts = urls.map { $0.split(separator: "@")[1].split(separator: "/")[0] }
        let url = try ConnectionString("postgres://loop@\(hosts.joined(separator: ","))/test")
        let error = #expect(throws: JournalError.self) {
            try PostgresJournal.cut(
                url, loop: "test", after: Seq(0), newHistory: History(9), at: SystemClock.wall,
                memory: JournalMemory())
        }
        #expect(error?.kind == .misuse && error?.reason.contains("is intact") == true, "\(error?.description ?? "")")

        await quorum.primary.kill()
        let readOnly = #expect(throws: PostgresError.self) {
            _ = try PostgresConnection(
                test.url, defaults: ["target_session_attrs": "read-write"], within: TestJournal.limit
            ).host
        }
        #expect(readOnly?.readOnlyHosts == [1, 2])
    }

    // MARK: An old copy

    /// Cuts the third server off and promotes it. It then takes connections, and its commits wait for no other server.
    private func promoteACopy() async throws -> DatabaseServer {
        let copy = quorum.servers[2]
        try await quorum.wait(
            until: "SELECT count(*) = 2 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()")
        try copy.follow(nil)
        try copy.change("synchronous_standby_names=")
        try copy.promote(within: TestJournal.limit)
        return copy
    }

    /// A process that waits for the journal.
    private struct WaitingProcess {
        struct Seen {
            var errors: [JournalError] = []
            /// How often the holder gave a sign of life.
            var signs = 0
            var isOver = false

            /// The errors that name an old copy.
            var refusals: [JournalError] { errors.filter { $0.reason.contains("an old copy") } }
        }

        let journal: Task<Exclusive<PostgresJournal>, any Error>
        let seen: Monitor<Seen>

        /// Waits until the process has seen something. It fails if the process has stopped waiting for the journal.
        func wait(until condition: (Seen) -> Bool) async throws {
            while true {
                let seen = seen.withLock { $0 }
                if condition(seen) { return }
                try #require(!seen.isOver, "it took the journal, or gave up")
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// Opens the journal and waits for it, on a thread of its own.
    private func openLater(_ memory: JournalMemory) -> WaitingProcess {
        let seen = Monitor(WaitingProcess.Seen())
        let test = test
        let journal = Task {
            defer { seen.withLock { $0.isOver = true } }
            return try await NodeThread.run("opens") {
                let journal = try test.open(memory, renews: false) {
                    $0.waits = true
                    // A process that knows nothing yet would take the old copy if the primary did not answer in time.
                    $0.deadline = .seconds(5)
                    $0.hears = { _ in seen.withLock { $0.signs += 1 } }
                    $0.whileWaiting = { owner in
                        if let error = owner.obstacle { seen.withLock { $0.errors.append(error) } }
                        return true
                    }
                }
                // One thread after the other has it.
                nonisolated(unsafe) let opened = journal
                return Exclusive(opened)
            }
        }
        return WaitingProcess(journal: journal, seen: seen)
    }

    @Test func `is left alone at an old copy that was promoted, and lost only if no host has it`() async throws {
        var journal = try test.open(memory, renews: false) { $0.deadline = .seconds(1) }
        try journal.append([record(1)])
        let copy = try await promoteACopy()
        try journal.append([record(2)])
        quorum.servers[1].freeze()
        #expect(#expect(throws: JournalError.self) { try journal.append([record(3)]) }?.kind == .unreachable)
        journal.close()
        let later = openLater(memory)
        try await later.wait { !$0.refusals.isEmpty }
        let errors = later.seen.withLock { $0.refusals }
        #expect(errors.allSatisfy { $0.fault.reason == .termLost && $0.reason.contains("record 2, ") }, "\(errors)")
        quorum.servers[1].thaw()
        journal = try await later.journal.value.withValue { $0 }
        let count = try expect(journal, through: 2)
        try journal.append([record(count + 1)])
        journal.abandon()

        var primary = try quorum.primary.connect("test")
        _ = try primary.run(
            "DELETE FROM loop_batch WHERE last_position = \(count + 1)", "test", within: TestJournal.limit)
        try await quorum.wait(
            until: "SELECT count(*) = 1 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_insert_lsn()")
        let lost = #expect(throws: JournalError.self) { try test.open(memory) }
        #expect(lost?.kind == .corrupt && lost?.fault.reason == .historyLost, "\(lost?.description ?? "")")
        await copy.kill()
        let unknown = #expect(throws: JournalError.self) { try test.open(memory) }
        #expect(unknown?.kind == .unreachable, "\(unknown?.description ?? "")")
        #expect(unknown?.reason.contains("cannot be asked") == true)
    }

    @Test func `is not taken at an old copy by a process that has followed a newer term`() async throws {
        try test.open().close()
        _ = try await promoteACopy()
        // The lease is longer than a busy machine keeps the leader from renewing it.
        let leader = try test.open { $0.lease = .seconds(3) }
        let later = openLater(memory)
        // The first sign may be the takeover itself, which counts once the leader goes on.
        try await later.wait { $0.signs >= 2 }
        quorum.primary.freeze()
        try await later.wait { !$0.refusals.isEmpty }
        #expect(later.seen.withLock { $0.refusals.last }?.reason.contains("term 2") == true)
        quorum.primary.thaw()
        leader.abandon()
        let journal = try await later.journal.value.withValue { $0 }
        try journal.append([record(1)])
        journal.close()
    }
}
