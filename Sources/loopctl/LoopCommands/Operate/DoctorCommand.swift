import CBOR
import Linux
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire

/// `loopctl doctor` examines what a reducer depends on, before it starts or after it has failed.
enum DoctorCommand {
    static let journal = Option(
        optionalPositional: "JOURNAL", .string,
        help: "the URL of a database, or a file; without it the reducers are asked")
    static let json = Option(flag: "json", help: "print a JSON document for each finding", environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "doctor", abstract: "Examine a database, a file or reducers, and say what to mend.",
            discussion: """
                Of each server of a URL: whether it answers, its clock, encryption, a pooler on the way, settings that decide \
                about durability, privileges, tables, connections, long transactions, and whether a replica receives. Of a file: \
                whether it can be written, whether its records since the newest snapshot can be read, and room on its disk. Run it where a reducer runs, as its user. Of reducers: whether they \
                answer, lead and warn, and whether two lead. It changes nothing.

                Exit codes: 0 nothing to mend but warnings, 1 a failure was found, 2 could not run, 64 wrong usage.
                """,
            groups: [ConnectionOptions.group, OptionGroup("Output", [json])], positionals: [journal]),
        run: { arguments, _ in
            let findings = try examine(arguments)
            for finding in findings {
                try StandardOutput.line(
                    arguments[json] ? CBOR.json(CBOR.encode(finding)) : JSONText.onOneLine(finding.text))
            }
            return findings.contains { $0.level == .failure } ? 1 : 0
        })

    private static func examine(_ arguments: ParsedArguments) throws -> [Finding] {
        guard let place = arguments[journal] else {
            return try reducers(arguments)
        }
        guard ConnectionString.isURL(place) else { return JournalFileLook.findings(of: place) }
        return DatabaseInquiry.servers(of: try JournalCommand.url(of: place)).database
    }

    private static func reducers(_ arguments: ParsedArguments) throws -> [Finding] {
        let limit = arguments[ConnectionOptions.timeout]
        var leadersCount = 0
        var findings = try arguments.reducer.each.flatMap { address -> [Finding] in
            do {
                let report = try StatusProbe.ask(address, within: limit)
                if !report.isStandby { leadersCount += 1 }
                return report.findings(of: address)
            } catch NodeError.noAnswer(_, _, let why) {
                return [Finding(.failure, address.description, "no answer: \(why ?? AddressLook.text(at: address))")]
            } catch NodeError.refused(let why) {
                return [Finding(.failure, address.description, why)]
            }
        }
        // An error of one address is among the findings.
        if leadersCount > 1, let (leaders, advice) = try? ReadyCommand.lastingLeaders(arguments) {
            findings.append(Finding(.failure, "all", "two reducers lead: \(leaders)", advice))
        }
        return findings
    }
}

/// Something that `loopctl doctor` has found.
struct Finding: Codable, Equatable {
    enum Level: String, Codable { case fine, warning, failure }

    let level: Level
    /// What was examined: a server, an address or a file.
    let subject: String
    let finding: String
    /// What to do, or nil if nothing is to be done.
    let remedy: String?

    init(_ level: Level, _ subject: String, _ finding: String, _ remedy: String? = nil) {
        (self.level, self.subject, self.finding, self.remedy) = (level, subject, finding, remedy)
    }

    /// A line for people.
    var text: String {
        let label = level.rawValue + String(repeating: " ", count: 8 - level.rawValue.count)
        return "\(label) \(subject): \(finding)" + (remedy.map { "; \($0)" } ?? "")
    }
}

extension StatusReport {
    /// What is to be said of the reducer at an address.
    func findings(of address: ReducerAddress) -> [Finding] {
        let isFine = isReady || isStandby && journalFault == nil
        let role = isStandby ? "a standby" : "it leads"
        var findings = [
            Finding(isFine ? .fine : .failure, address.description, isFine ? "\(loop), \(role)" : notReadyLine)
        ]
        findings += warnings.filter { $0 != notReadyBecause }.map { Finding(.warning, address.description, $0) }
        let parkedCount = parked.count + (parkedLeftOut ?? 0)
        if parkedCount > 0 {
            findings.append(
                Finding(
                    .warning, address.description,
                    "\(parkedCount) \(parkedCount == 1 ? "effect is" : "effects are") parked",
                    "see: loopctl effects --state parked"))
        }
        return findings
    }
}

extension [DatabaseInquiry.Server] {
    /// What the servers of one URL say of themselves, and what one alone cannot say.
    var database: [Finding] {
        var findings = flatMap { server -> [Finding] in
            switch server.facts {
            case .success(let facts): facts.findings(of: server.name)
            case .failure(let error): [Finding(.failure, server.name, error.reason, error.remedy)]
            }
        }
        let facts = compactMap { try? $0.facts.get() }
        if count > 1, facts.contains(where: { !$0.isReplica && $0.settings["synchronous_standby_names"] == "" }) {
            findings.append(
                Finding(
                    .warning, "all", "commits wait for no standby, so that a failover can lose some",
                    "set synchronous_standby_names at the primary"))
        }
        let primaries = facts.count { !$0.isReplica && $0.tablesVersion != nil }
        if primaries > 1 {
            findings.append(
                Finding(
                    .failure, "all", "\(primaries) servers are no replicas and have the tables",
                    "stop the one that is not the primary any more, or rebuild it as a replica"))
        } else if !facts.isEmpty, facts.allSatisfy(\.isReplica) {
            findings.append(Finding(.failure, "all", "every server is a replica", "promote one of them"))
        }
        return findings
    }
}

extension DatabaseFacts {
    /// What is to be said of one server.
    func findings(of name: String) -> [Finding] {
        var findings: [Finding] = []
        func find(_ level: Finding.Level, _ text: String, _ remedy: String? = nil) {
            findings.append(Finding(level, name, text, remedy))
        }
        find(
            .fine,
            "PostgreSQL \(version), \(isReplica ? "a replica" : "a primary"), \(connections) of \(connectionsMax) connections"
        )
        if isPooled { find(.failure, "the address leads to a pooler", "connect to PostgreSQL directly") }
        if isEncrypted == false {
            find(.warning, "the connection is not encrypted", "set sslmode=verify-full and sslrootcert in the URL")
        }
        let difference = max(clockAhead, .zero - clockAhead)
        if difference > clockError + .seconds(1) {
            let seconds = difference.wholeNanoseconds / 1_000_000_000
            find(
                .warning, "its clock and this machine's differ by \(seconds) s", "let both follow the same time servers"
            )
        }
        durability(find)
        switch tablesVersion {
        case PostgresSchema.version: break
        case let version?:
            find(
                .failure, "the tables are of version \(version), not \(PostgresSchema.version)",
                "use the program that made them")
        case nil where missingPrivileges.isEmpty:
            find(.failure, "it lacks the tables of journals", "make them: loopctl journal init URL")
        case nil: break
        }
        if !missingPrivileges.isEmpty {
            find(.failure, "the role lacks \(missingPrivileges.joined(separator: ", "))", "grant it")
        }
        if !seesOthers {
            find(
                .warning, "the role does not see other sessions",
                "GRANT pg_read_all_stats, so that status names what others hold")
        }
        if connections * 10 > connectionsMax * 9 {
            find(
                .warning, "\(connections) of \(connectionsMax) connections are taken",
                "raise max_connections, or end some")
        }
        if oldestTransaction > .seconds(300) {
            find(
                .warning, "a transaction has been open for \(oldestTransaction.wholeNanoseconds / 1_000_000_000) s",
                "see pg_stat_activity and pg_prepared_xacts")
        }
        if isReplica, receives == false || receives == nil && seesOthers {
            find(.failure, "it receives nothing from a primary", "see primary_conninfo, and the server's log")
        }
        if isReplica, reconnectsAfter > .seconds(1) {
            find(
                .warning,
                "after a restart of its primary it waits \(reconnectsAfter.wholeNanoseconds / 1_000_000) ms to connect",
                "set wal_retrieve_retry_interval to 500ms")
        }
        return findings
    }

    private func durability(_ find: (Finding.Level, String, String?) -> Void) {
        for setting in ["synchronous_commit", "fsync", "full_page_writes"] where settings[setting] == "off" {
            find(
                .failure, "\(setting) is off, so that acknowledged records can be lost",
                "turn it on, or pass --durability os")
        }
        if isReadOnly, !isReplica {
            find(
                .failure, "default_transaction_read_only is on", "turn it off for the role, the database or the server")
        }
        guard !isReplica, settings["synchronous_standby_names"] != "" else { return }
        if let commit = settings["synchronous_commit"], ["local", "remote_write"].contains(commit) {
            find(
                .warning, "synchronous_commit is \(commit), so that a commit is not on a standby's disk", "set it to on"
            )
        }
    }
}
