internal import LoopCluster
internal import LoopWire
internal import PostgreSQL

extension Takeover {
    /// Leaves a server that lacks what this process knows to be committed, unless each other host of the URL lacks it too. A standby
    /// of the database that was cut off and then promoted takes connections, and has only the records of before.
    /// - Parameter row: the journal's row at that server, or nil if it has none.
    /// - Throws: of kind `.unreachable` if another host has what is missing, or cannot be asked.
    func refuseOldCopy(_ row: JournalRow?, _ session: inout PostgresSession) throws(JournalError) {
        // A journal with a greater number was made later.
        guard let known = memory.withState({ $0.known }), row?.id ?? 0 <= known.journal else { return }
        let here = try session.run(Self.lookup, known.parameters, "be opened")
        let hasTerm = here.integer(0, 0) == 1
        guard here.count == 0 || !hasTerm || here.integer(0, 1) != 1 else { return }
        let own = session.connection.host
        var (better, silent): ([String], [String]) = ([], [])
        for number in 0..<url.hostCount where number != own {
            do throws(PostgresError) {
                if let host = try Self.hostThatHas(known, at: url.only(number)) { better.append(host) }
            } catch {
                // Without the database or the tables it has nothing.
                if ["3D000", "42P01"].contains(error.code) { continue }
                silent.append("\(error.host.isEmpty ? "host \(number + 1)" : error.host) (\(error.reason))")
            }
        }
        guard !better.isEmpty || !silent.isEmpty else { return }
        memory.hosts.leave(own)
        let host = session.connection.hostName
        let missing =
            if hasTerm, let end = known.end {
                "record \(end.position), seq \(end.seq), which was committed"
            } else {
                "term \(known.term), which this process has led or followed"
            }
        let (others, remedy) =
            better.isEmpty
            ? (
                "\(silent.joined(separator: ", ")) cannot be asked",
                "start the host that cannot be asked, or take it out of the URL if it is lost"
            )
            : ("\(better.joined(separator: ", ")) has it", "take \(host) out of the URL, or let it follow the primary")
        throw JournalError(
            .unreachable, operation: "be opened",
            reason: "\(host) \(better.isEmpty ? "may be" : "is") an old copy: it lacks \(missing), and \(others)",
            remedy: remedy, fault: JournalFault(.termLost, host: host))
    }

    /// How long a host may take to be connected to, and to answer.
    private static let askLimit = Duration.seconds(1)

    /// - Returns: the name of the host if it has all that is known.
    private static func hostThatHas(
        _ known: KnownJournal, at url: ConnectionString
    ) throws(PostgresError) -> String? {
        var connection = try PostgresConnection(
            url, defaults: ["connect_timeout": "1"], settings: ["application_name": "loop/look"], within: askLimit)
        let host = connection.hostName
        do throws(PostgresError) {
            let found = try connection.run(lookup, known.parameters, "look for records", within: askLimit)
            return found.integer(0, 0) == 1 && found.integer(0, 1) == 1 ? host : nil
        } catch {
            throw PostgresError(error.kind, error.operation, code: error.code, text: error.text, host: host)
        }
    }

    /// Whether a server has a term of a journal, and a record or a trim behind it; no row if it does not have the journal.
    private static let lookup = """
        SELECT term >= $2, trimmed_position >= $3 OR coalesce((SELECT last_position = $3 AND checksum = $4
                FROM loop_batch WHERE journal_id = $1 AND first_position <= $3 ORDER BY first_position DESC LIMIT 1),
                false)
            FROM loop_journal WHERE id = $1
        """
}

extension KnownJournal {
    fileprivate var parameters: [Parameter] {
        [
            .integer(journal), .integer(term), .integer(Int64(clamping: end?.position ?? 0)),
            .integer(Int64(end?.checksum ?? 0)),
        ]
    }
}
