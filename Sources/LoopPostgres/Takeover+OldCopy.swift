internal import LoopCluster
internal import LoopWire

extension Takeover {
    /// Rejects a server that lacks what this process knows to be committed, unless each other host of the URL lacks it too. A
    /// standby that was cut off and then promoted takes connections, but has only older records.
    /// - Parameter row: the journal's row at that server, or nil if it has none.
    /// - Throws: `JournalError` of kind `.unreachable` if another host has what is missing, or cannot be asked. `.corrupt` if no
    ///   host has the journal.
    func refuseOldCopy(_ row: JournalRow?, _ session: inout PostgresSession) throws(JournalError) {
        // A journal with a greater number was made later.
        guard let known = memory.withState({ $0.known }), row?.id ?? 0 <= known.journal else { return }
        let here = try session.run(Self.lookup, known.parameters, "be opened")
        let hasTerm = here.integer(0, 0) == 1
        guard here.count == 0 || !hasTerm || here.integer(0, 1) != 1 else { return }
        let others = OtherHosts(
            of: url, than: session.connection.host, have: "SELECT term AND record FROM (\(Self.lookup)) AS known",
            known.parameters)
        let host = session.connection.hostName
        let missing =
            if hasTerm || here.count == 0, let end = known.end {
                "record \(end.position), seq \(end.seq), which was committed"
            } else {
                "term \(known.term), which this process has led or followed"
            }
        guard others.lackIt else {
            memory.hosts.leave(session.connection.host)
            throw JournalError(
                .unreachable, operation: "be opened",
                reason: "\(host) \(others.haveIt ? "is" : "may be") an old copy: it lacks \(missing), and"
                    + " \(others.text)",
                remedy: others.remedy(for: host), fault: JournalFault(.termLost, host: host))
        }
        // The checks after the takeover find out what its rows lack.
        if row?.id == known.journal { return }
        // An isolated old primary cannot commit this.
        _ = try session.run("SELECT pg_logical_emit_message(true, 'loop', '')", "be opened")
        throw JournalError(
            .corrupt, operation: "be opened",
            reason: "the journal of \(loop) is missing from \(url): \(host) lacks \(missing), and no other host of"
                + " the URL has it",
            remedy: "put back a copy of the database that has it; a reducer that is started again begins an empty"
                + " journal",
            fault: JournalFault(.historyLost, host: host))
    }

    /// Rejects a server without a journal of the loop while another server that can be written to has one, or has not answered in
    /// time.
    /// - Returns: a line for people if a journal is made although another server cannot be asked, or nil.
    func refuseSecond(_ session: borrowing PostgresSession) throws(JournalError) -> String? {
        let others = OtherHosts(
            of: url, than: session.connection.host,
            have: """
                SELECT NOT pg_is_in_recovery() AND EXISTS (
                    SELECT FROM loop_journal WHERE loop_id = $1 AND kept_as = 'current')
                """, [.integer(Int64(bitPattern: LoopID(name: loop).value))])
        let host = session.connection.hostName
        guard others.haveIt || others.isLate else {
            return others.lackIt ? nil : "a new journal of the loop \(loop) is made at \(host), although \(others.text)"
        }
        memory.hosts.leave(session.connection.host)
        throw JournalError(
            .unreachable, operation: "be opened",
            reason: "\(host) has no journal of the loop \(loop), and \(others.text)",
            remedy: others.remedy(for: host),
            fault: JournalFault(others.haveIt ? .termLost : .noDatabase, host: host))
    }

    /// Whether a server has a term of a journal, and a record or a trim behind it. No row if the server does not have the journal.
    private static let lookup = """
        SELECT term >= $2 AS term, trimmed_position >= $3 OR coalesce((SELECT last_position = $3 AND checksum = $4
                FROM loop_batch WHERE journal_id = $1 AND first_position <= $3 ORDER BY first_position DESC LIMIT 1),
                false) AS record
            FROM loop_journal WHERE id = $1
        """
}

extension KnownJournal {
    fileprivate var parameters: [Parameter] {
        [
            .integer(journal), .integer(term), .number(end?.position ?? 0), .number(end?.checksum ?? 0),
        ]
    }
}
