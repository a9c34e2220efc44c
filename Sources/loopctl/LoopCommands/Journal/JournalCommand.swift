import CBOR
import Linux
import LoopCluster
import LoopNode
import LoopPostgres

/// `loopctl journal` prepares databases for journals, and moves journals between files and databases.
enum JournalCommand {
    static let database = Option(
        positional: "URL", .string, help: "the database, such as postgres://user@host/database")

    static let from = Option(positional: "FROM", .string, help: "the file or the URL where the journal is")
    static let to = Option(positional: "TO", .string, help: "the URL or the file that receives it")
    static let loop = Option(
        optional: "loop", .string.named("NAME"), help: "whose journal of a database it is, where there are several",
        environment: .none)

    static let subcommand = Subcommand(
        command: Command(
            "journal", abstract: "Prepare a database for journals; list them; move a journal there or back.",
            discussion: """
                A password is best kept in ~/.pgpass or in PGPASSWORD: a command line can be read by every user of the machine.

                Exit codes: 0 done, 2 could not be done, 64 wrong usage.
                """,
            subcommands: [
                Command(
                    "init", abstract: "Make the tables of journals where they are missing.",
                    discussion: """
                        The role that runs this must be allowed to make tables. A reducer's role then needs SELECT on \
                        loop_schema, and SELECT, INSERT, UPDATE and DELETE on loop_journal, loop_batch, loop_snapshot and \
                        loop_snapshot_piece.
                        """, positionals: [database]),
                Command(
                    "status", abstract: "List the journals of a database.",
                    discussion: """
                        Of each journal: the newest seq, the first one that was not trimmed, that of the newest snapshot, the term, \
                        and who took it last. loopctl doctor examines the database itself.
                        """, groups: [JournalOptions.output], positionals: [database]),
                Command(
                    "copy", abstract: "Move a journal from a file into a database, or back.",
                    discussion: """
                        Rows, history, sessions and snapshots are copied as they are, so that workers and senders go on. No \
                        reducer may have the journal. The one that was copied is kept, and no reducer opens it any more. What \
                        was interrupted is finished by the same command.
                        """, groups: [OptionGroup("Journal", [loop])], positionals: [from, to]),
            ]),
        run: { arguments, _ in
            if arguments.path.last == "copy" {
                return try copy(arguments[from], arguments[to], loop: arguments[loop])
            }
            let url = try url(of: arguments[database])
            if arguments.path.last == "status" {
                let journals = try DatabaseInquiry.journals(in: url)
                try StandardOutput.line(
                    arguments[JournalOptions.json]
                        ? CBOR.json(CBOR.encode(journals))
                        : journals.isEmpty ? "\(url) has no journal" : table(journals))
                return 0
            }
            let isNew = try PostgresSchema.create(url) { StandardError.line($0) }
            try StandardOutput.line(
                isNew ? "\(url) has the tables of journals now" : "\(url) had the tables of journals before")
            return 0
        })

    private static func copy(_ from: String, _ to: String, loop: String?) throws -> Int32 {
        for place in [from, to] where !ConnectionString.isURL(place) {
            if let flaw = FileName.flaw(in: place) { throw UsageError(message: "'\(place)' cannot be used: \(flaw)") }
        }
        let moved: JournalMove.Moved
        switch (ConnectionString.isURL(from), ConnectionString.isURL(to)) {
        case (false, true): moved = try JournalMove.file(from, to: url(of: to))
        case (true, false): moved = try JournalMove.database(url(of: from), loop: loop, to: to)
        case (false, false), (true, true):
            throw UsageError(
                message: "one of FROM and TO must be a file, and the other the URL of a database",
                hint: "see loopctl journal copy --help")
        }
        let place = ConnectionString.isURL(to) ? try url(of: to).description : to
        try StandardOutput.line(
            "the journal of \(moved.loop), \(moved.position) records up to seq \(moved.seq), is in \(place) now")
        return 0
    }

    private static func table(_ journals: [DatabaseInquiry.Journal]) -> String {
        let rows = journals.map { journal -> [String] in
            let holder =
                journal.movedTo.map { "moved to \($0)" }
                ?? (journal.isReleased ? "none" : journal.holder)
            let texts = [journal.loop + (journal.hasEnded ? ", ended" : ""), journal.keptAs, holder].map {
                JSONText.onOneLine($0)
            }
            return [
                texts[0], texts[1], "\(journal.seq)", "\(journal.firstSeq)", journal.snapshotSeq.map { "\($0)" } ?? "-",
                "\(journal.term)", texts[2],
            ]
        }
        return StatusTable.table(
            ["LOOP", "KEPT AS", "SEQ", "FROM", "SNAPSHOT", "TERM", "HOLDER"], rows, left: [0, 1, 6])
    }

    /// - Throws: `UsageError` if the text is no URL of a database.
    static func url(of text: String) throws(UsageError) -> ConnectionString {
        do throws(PostgresError) {
            return try ConnectionString(text)
        } catch {
            throw UsageError(message: "URL cannot be used: \(error)", hint: "see loopctl journal --help")
        }
    }
}
