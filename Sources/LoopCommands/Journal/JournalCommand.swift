import LoopNode
import LoopOptions
import LoopPostgres
import PostgreSQL

/// `loopctl journal`: prepares databases for journals.
enum JournalCommand {
    static let database = Positional(
        "URL", .string, help: "the database, such as postgres://user@host/database", environment: nil)

    static let subcommand = Subcommand(
        command: Command(
            "journal", abstract: "Prepare a database for journals.",
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
                        """, positionals: [database])
            ]),
        run: { arguments, _ in
            let url = try url(of: arguments[database])
            let isNew = try PostgresSchema.create(url)
            StandardOutput.line(
                isNew ? "\(url) has the tables of journals now" : "\(url) had the tables of journals before")
            return 0
        })

    private static func url(of text: String) throws(UsageError) -> ConnectionString {
        do throws(PostgresError) {
            return try ConnectionString(text)
        } catch {
            throw UsageError(message: "URL cannot be used: \(error)", hint: "see loopctl journal init --help")
        }
    }
}
