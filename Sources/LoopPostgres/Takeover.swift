internal import Glibc
internal import Linux
internal import LoopCluster
internal import LoopCore
internal import LoopJournal
internal import LoopNode
internal import LoopWire

/// Takes ownership of a loop's journal. It waits until the holder has released the journal or gives no sign of life, and then
/// begins a new term. Everything is read from the journal after that commit, on the same connection.
struct Takeover {
    let url: ConnectionString
    /// The loop, and how its journal is opened.
    let opening: JournalPlace.Opening
    let memory: JournalMemory
    /// The history of the journal that is made if the loop has none, or nil if none is made.
    var newHistory: History?
    /// Whether to renew the lease. False is for tests of a holder that is frozen.
    var renews = true
    /// The address to which this process moves the journal, which an earlier call may have begun. If nil, it opens no journal that
    /// is being moved.
    var movesTo: String?

    var loop: String { opening.loop }

    /// How long it waits between two looks, in microseconds.
    private static let looksEvery: UInt32 = 50_000
    /// How long it waits for the lock of the journal's row before it ends the backend that has the lock, in milliseconds.
    private static let lockTimeout = "200"
    /// How long its commit may take before it asks the server for the reason.
    private static let asksAfter = Duration.seconds(1)
    /// How long it waits for the lock before it asks whose it is. The first time it does not ask: a holder that is frozen has the
    /// lock, and asking takes time.
    private static let asksForLockAfter = Duration.milliseconds(100)
    /// How often it tries to end that backend. After that, the lock is not the holder's.
    private static let evictionsMax = 25

    /// Connects and takes the journal.
    /// - Returns: the connection, and the journal's row as it was when the term began.
    /// - Throws: `JournalError` of kind `.locked` if another process has the journal and this one does not wait, or stops waiting.
    ///   `.unreachable` if the database does not answer.
    func run() throws(JournalError) -> (HeldConnection, JournalRow, report: [String]) {
        var session = try PostgresSchema.session(
            url, for: .writing(opening.durability), name: applicationName, hosts: memory.hosts, limit: opening.deadline)
        // The newest free row, and when it was first seen free.
        var free: (row: JournalRow, since: MonotonicTime)?
        // The number of the row that was compared with what this process knows.
        var checked: Int64?
        var notes: [String] = []
        while true {
            let found = try row(&session)
            if found == nil || found?.id != checked { try refuseOldCopy(found, &session) }
            checked = found?.id
            guard let row = found else {
                guard let newHistory else { throw .none(of: loop, .current, "be opened for writing", at: url) }
                if let note = try refuseSecond(session) { notes.append(note) }
                try session.makeJournal(
                    of: loop, keptAs: KeptAs.current.rawValue, history: Int64(bitPattern: newHistory.value), "be made")
                continue
            }
            let verdict = row.isReleased || row.holder == memory.holder ? .free : watch(row)
            switch verdict {
            case .free where standsBack(from: row):
                guard pause(JournalOwner()) else { throw locked(row) }
            case .free where try leavesToOthers(row, &free, &session):
                guard pause(JournalOwner()) else { throw locked(row) }
            case .free:
                // Reports first that the database answers and names no owner, because the commit may take long.
                if let whileWaiting = opening.whileWaiting, !whileWaiting(JournalOwner()) { throw locked(row) }
                let began = SystemClock.monotonic
                guard let taken = try take(row, &session) else { continue }
                let report = session.report + notes + noteStandbys(of: session) + noteHolder(of: row)
                let held = HeldConnection(
                    session, journalID: taken.id, term: taken.term, lease: opening.lease, provenAt: began)
                do throws(JournalError) {
                    // Renewals begin now, because the replay may take longer than a lease.
                    if renews { try held.beginRenewals() }
                } catch {
                    held.close(releases: true)
                    throw error
                }
                return (held, taken, report)
            case .renewed where !opening.waits: throw locked(row)
            case .renewed, .watched:
                if verdict == .renewed { opening.hears?(RowEnd(row.tail)) }
                if opening.isStopping() { throw locked(row) }
                let owner = JournalOwner(address: row.address.isEmpty ? nil : row.address, obstacle: locked(row))
                guard pause(owner) else { throw locked(row) }
            }
        }
    }

    /// Reads the journal's row, or returns nil if the loop has none.
    /// - Throws: `JournalError` of kind `.foreign` or `.corrupt` only if the server confirms a commit that began after the reading.
    ///   An isolated old primary cannot confirm one.
    private func row(_ session: inout PostgresSession) throws(JournalError) -> JournalRow? {
        do throws(JournalError) {
            let row = try session.row(of: loop, .current)
            guard let place = row?.movedTo, place != movesTo else { return row }
            throw JournalError(
                .foreign, operation: "be opened",
                reason: "the journal of \(loop) in \(url) is being moved, or was moved, to \(place)",
                remedy: "open it there (--journal \(place.shellWord)), or finish the move: loopctl journal copy "
                    + "\(url.description.shellWord) \(place.shellWord)")
        } catch {
            guard !error.kind.mayPass else { throw error }
            _ = try session.run(
                "UPDATE loop_journal SET released = released WHERE loop_id = $1 AND kept_as = 'current'",
                [.integer(Int64(bitPattern: LoopID(name: loop).value))], error.operation)
            throw error
        }
    }

    /// Waits a moment if the database did not answer in any step of the opening, and this process waits for the journal.
    /// - Parameter error: the error that ended the opening.
    /// - Throws: the error if this process does not wait. `JournalError` of kind `.locked` if it stops.
    func waitOut(_ error: JournalError) throws(JournalError) {
        guard error.kind.mayPass, error.kind != .locked, opening.waits || opening.isStopping() else { throw error }
        if opening.isStopping() { throw Self.stopped(url) }
        for _ in 1...4 {
            guard pause(JournalOwner(obstacle: error)) else { throw Self.stopped(url) }
        }
    }

    /// Waits a moment, even if requests arrive meanwhile.
    /// - Returns: whether to go on waiting.
    private func pause(_ owner: JournalOwner) -> Bool {
        if let whileWaiting = opening.whileWaiting, !whileWaiting(owner) || opening.isStopping() { return false }
        // The database has no event to wait for, so the lease is judged by reading the row again.
        usleep(Self.looksEvery)
        return true
    }

    /// Whether to wait, so that a process that is closer to the journal's end can take it first. The wait is in
    /// proportion to the records that this process would have to read.
    private func leavesToOthers(
        _ row: JournalRow, _ free: inout (row: JournalRow, since: MonotonicTime)?, _ session: inout PostgresSession
    ) throws(JournalError) -> Bool {
        let now = SystemClock.monotonic
        if free?.row != row { free = (row, now) }
        let waited = now - (free?.since ?? now)
        let newest = row.tail.position
        guard opening.headStart(newest: newest) > waited else { return false }
        // The follower continues to read, and notices records that are gone.
        opening.hears?(RowEnd(row.tail))
        // A process that cannot follow begins at the newest snapshot.
        return try opening.headStart(newest: newest, snapshot: session.newestSnapshot(of: row.id)) > waited
    }

    /// Whether to let another process take the journal first, after a step down or at an operator's request.
    private func standsBack(from row: JournalRow) -> Bool {
        if SystemClock.monotonic < opening.leavesItUntil() { return true }
        guard let standsBackUntil = opening.standsBackUntil, row.holder == memory.holder else { return false }
        return SystemClock.monotonic < standsBackUntil
    }

    /// Whether commits wait for other standbys than when this process had the journal last, at the same host.
    private func noteStandbys(of session: borrowing PostgresSession) -> [String] {
        let (host, names) = (session.connection.host, session.standbyNames)
        let before = memory.withState { $0.standbyNames.updateValue(names, forKey: host) }
        guard let before, before != names else { return [] }
        return [
            "synchronous_standby_names of \(url) was '\(before)' and is '\(names)' now: what a receipt means has changed with it"
        ]
    }

    /// Whether another process had the journal, and did not release it.
    private func noteHolder(of row: JournalRow) -> [String] {
        if row.isReleased || row.holder == memory.holder { return [] }
        return [
            "\(row.holderName) had the journal, and has not renewed its lease for \(row.leaseMilliseconds) ms: it is taken over"
        ]
    }

    private func watch(_ row: JournalRow) -> HolderWatch.Verdict {
        let sign = HolderWatch.Sign(
            journal: row.id, term: row.term.number, nonce: row.term.nonce, renewals: row.renewals,
            position: row.tail.position)
        return memory.withState { state in
            let isSameTerm = state.watch.sign.map {
                ($0.journal, $0.term, $0.nonce) == (sign.journal, sign.term, sign.nonce)
            }
            let verdict = state.watch.verdict(
                on: sign, lease: .milliseconds(row.leaseMilliseconds), at: SystemClock.monotonic)
            // A takeover may be visible and not confirmed. Its holder continues only after the receipt.
            if verdict == .renewed, isSameTerm == true { state.note(term: sign.term, of: sign.journal) }
            return verdict
        }
    }

    private static let statement = PreparedStatement(
        "take",
        """
        UPDATE loop_journal SET term = term + 1, nonce = $5, holder = $6, holder_name = $7, address = $10,
                backend = pg_backend_pid(), lease_ms = $8, released = false
            WHERE id = $1 AND term = $2 AND nonce = $3 AND kept_as = 'current' AND (moved_to IS NULL OR moved_to = $9)
                AND \(JournalRow.renewals) = $4
                AND coalesce((SELECT last_position FROM \(JournalRow.newest) AS newest), trimmed_position) = $11
        """)

    /// - Returns: the row of the new term, or nil if the row has changed since it was read.
    private func take(_ row: JournalRow, _ session: inout PostgresSession) throws(JournalError) -> JournalRow? {
        let operation = "be taken over"
        _ = try session.run(
            "SELECT set_config('lock_timeout', $1, false)", [.text(Self.lockTimeout)], operation)
        let nonce = Int64(bitPattern: SystemRandom.uint64())
        let parameters: [Parameter] = [
            .integer(row.id), .integer(row.term.number), .integer(row.term.nonce), .integer(row.renewals),
            .integer(nonce), .integer(memory.holder), .text(who),
            .integer(Int64(opening.lease / .milliseconds(1))), .text(movesTo ?? ""), .text(opening.address ?? ""),
            .number(row.tail.position),
        ]
        var cause: StatementWait?
        var found = try attempt(parameters, &session, asksAfter: Self.asksAfter, &cause)
        for _ in 1...Self.evictionsMax where found == nil {
            try evict(row, &session)
            found = try attempt(parameters, &session, asksAfter: Self.asksForLockAfter, &cause)
        }
        guard let found else {
            // At an old primary, the lock may be that of another process's commit that waits forever.
            memory.hosts.leave(session.connection.host)
            let waiting = try session.run(
                """
                SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'
                    AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'loop_journal'::regclass)
                """, operation)
            if waiting.integer(0, 0) ?? 0 > 0 {
                throw JournalError(
                    .unreachable, operation: operation,
                    reason: "its row in \(url) is locked by a commit that waits for a synchronous standby"
                        + " (synchronous_standby_names is '\(session.standbyNames)')",
                    remedy: "start a standby that synchronous_standby_names names, or change that setting",
                    fault: JournalFault(.noSyncStandby, host: session.connection.hostName))
            }
            throw JournalError(
                .unreachable, operation: operation,
                reason: "its row in \(url) is locked, and not by its holder"
                    + (cause.map { "; the statement waits for \($0.text)" } ?? ""),
                remedy: "end the transaction that has locked it (pg_locks says whose it is)",
                fault: JournalFault(.lockWait, sqlState: "55P03", host: session.connection.hostName))
        }
        _ = try session.run("SELECT set_config('lock_timeout', '0', false)", operation)
        // Read the row after the takeover: an append may have been committed while the takeover waited for its lock.
        guard found, let taken = try session.row(of: loop, .current),
            taken.term == Term(number: row.term.number + 1, nonce: nonce)
        else { return nil }
        return taken
    }

    /// - Parameters:
    ///   - pause: after what time the server is asked what the statement waits for.
    ///   - cause: receives its answer.
    /// - Returns: whether the row was unchanged, or nil if another transaction has it locked.
    private func attempt(
        _ parameters: [Parameter], _ session: inout PostgresSession, asksAfter pause: Duration,
        _ cause: inout StatementWait?
    ) throws(JournalError) -> Bool? {
        let operation = "be taken over"
        let wait = session.wait
        let found: QueryResult
        do throws(PostgresError) {
            found = try session.connection.run(
                Self.statement, parameters, operation, within: session.limit, after: pause
            ) {
                guard let found = wait.ask() else { return }
                cause = found
                let late = PostgresError(.late, operation, text: "it is not committed yet", host: wait.host)
                _ = opening.whileWaiting?(JournalOwner(obstacle: .postgres(operation, late, at: url, cause: found)))
            }
        } catch {
            if error.isLockTimeout { return nil }
            throw session.failure(operation, error)
        }
        return found.affectedCount == 1
    }

    /// Ends the connection of a holder. A holder that is frozen in the middle of an append has the row locked until then.
    private func evict(_ row: JournalRow, _ session: inout PostgresSession) throws(JournalError) {
        _ = try session.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid = $1 AND application_name = $2 AND usename = current_user AND pid <> pg_backend_pid()
            """, [.integer(row.backend), .text(applicationName)], "end the connection of \(row.holderName)")
    }

    private var applicationName: String { "loop/\(LoopID(name: loop))" }

    private var who: String { "process \(getpid()) on \(System.hostName)" + (opening.address.map { " (\($0))" } ?? "") }

    private func locked(_ row: JournalRow) -> JournalError {
        JournalError(.locked, "be opened for writing", "\(row.holderName) has it (\(url))")
    }

    private static func stopped(_ url: ConnectionString) -> JournalError {
        JournalError(.locked, "be opened for writing", "\(url) does not answer")
    }
}
