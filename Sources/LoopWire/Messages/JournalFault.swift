/// The reason why a reducer cannot use its journal now, as a value for programs: for status, log and metrics.
package struct JournalFault: Codable, Hashable, Sendable {
    /// The reasons. The raw values are stable names for programs. Later versions may have more, which are decoded as ``unknown``.
    package enum Reason: String, CaseIterable, Codable, Sendable {
        // A database.

        /// No server answers at any address, or the connection to it has ended.
        case noDatabase = "no_database"
        /// The server is starting, stopping or recovering, and accepts no connections yet.
        case databaseStarting = "database_starting"
        /// Servers answer, but none of them can be written: they are replicas, or `default_transaction_read_only` is on.
        case readOnlyOnly = "read_only_only"
        /// The server refuses the role or its password, or requires a password that was not given.
        case auth
        /// The server's `pg_hba.conf` has no line that lets this role connect from here.
        case pgHBA = "pg_hba"
        /// The server and this process do not agree on TLS, or a certificate cannot be verified.
        case tls
        /// The server has no database of that name.
        case unknownDatabase = "unknown_database"
        /// All connections of the server, the role or the database are taken.
        case tooManyConnections = "too_many_connections"
        /// The role lacks a privilege.
        case denied
        /// The database has no tables of journals.
        case noTables = "no_tables"
        /// The tables are of a version that this program does not know.
        case schemaVersion = "schema_version"
        /// The address leads to a connection pooler that gives each transaction another backend.
        case pooler
        /// The server may lose what it has acknowledged: `fsync`, `full_page_writes` or `synchronous_commit` is off.
        case unsafeSettings = "unsafe_settings"
        /// A commit waits for the confirmation of a synchronous standby, and none confirms it.
        case noSyncStandby = "no_sync_standby"
        /// A statement waits for a lock that another session has.
        case lockWait = "lock_wait"
        /// A statement got no answer in time, and the server does not say why.
        case appendDeadline = "append_deadline"
        /// The server refuses a statement or a connection, or warns about it, for a reason that has no name here. The SQLSTATE says
        /// which.
        case refused
        /// The database no longer names this process as the holder of the journal.
        case termLost = "term_lost"

        // A file.

        /// Another program, which is no reducer, uses the file, and is in the reducer's way.
        case inUse = "in_use"
        /// The file was moved, removed or replaced.
        case moved
        /// The file, its folder or its disk cannot be written, or the journal is open only for reading.
        case readOnly = "read_only"
        /// The disk failed to read, write or sync.
        case diskFailed = "disk_failed"

        // Files and databases.

        /// The disk has no room.
        case diskFull = "disk_full"
        /// Another reducer has the journal, and leads.
        case heldByAnother = "held_by_another"
        /// The journal is being read, and the state is rebuilt from it.
        case recovering
        /// Acknowledged records are missing.
        case historyLost = "history_lost"
        /// Bytes differ from those that were written.
        case corrupt
        /// What is there is no journal, is another loop's, or was moved to another place.
        case foreign
        /// An error in the program or its configuration.
        case mistake
        /// A reason that this version does not know.
        case unknown

        /// Decodes a reason by its name. A name that is not known becomes ``unknown``.
        package init(from decoder: any Decoder) throws {
            self = Reason(rawValue: try String(from: decoder)) ?? .unknown
        }
    }

    /// The reason.
    package var reason: Reason
    /// The five characters of the server's SQLSTATE, or nil if no server has sent one.
    package var sqlState: String?
    /// The database's host, with its port if that is not the default, or the folder of its socket. Nil if there are several hosts.
    package var host: String?

    /// Creates a fault from its parts.
    package init(_ reason: Reason, sqlState: String? = nil, host: String? = nil) {
        self.reason = reason
        self.sqlState = sqlState
        self.host = host
    }
}
