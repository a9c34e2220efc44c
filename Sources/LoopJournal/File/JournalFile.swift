internal import Linux
internal import LoopCluster
internal import LoopWire

/// The database of a journal: its schema, and the statements that are reused.
final class JournalFile: BatchRows {
    /// "Loop" in ASCII, in the header of the file.
    static let applicationID: Int64 = 0x4c6f_6f70
    /// The version of the schema, in the header of the file.
    static let version: Int64 = 1

    /// The tables, exactly.
    static let schema = Schema([
        "meta": "CREATE TABLE meta(name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID",
        "batches": """
        CREATE TABLE batches(
            first_position INTEGER PRIMARY KEY, last_position INTEGER NOT NULL,
            first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
            length INTEGER NOT NULL, checksum INTEGER NOT NULL, records BLOB NOT NULL) STRICT
        """,
        "snapshots": """
        CREATE TABLE snapshots(
            position INTEGER PRIMARY KEY, seq INTEGER NOT NULL, fingerprint INTEGER NOT NULL,
            file TEXT NOT NULL, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT
        """,
    ])

    let database: Database
    private var insertion: KeptStatement?
    private var selection: KeptStatement?
    private var lookup: KeptStatement?

    init(_ path: String, _ access: Database.Access, system: String?) throws(JournalError) {
        database = try naming("be opened") { () throws(SQLiteError) in
            try Database(path, access, system: system)
        }
        database.waitForOthers(milliseconds: 10_000)
    }

    // MARK: Identity

    /// Whether nothing was ever stored in it.
    func isEmpty() throws(JournalError) -> Bool {
        let tables = try number("SELECT count(*) FROM sqlite_schema")
        let owner = try number("PRAGMA application_id")
        return tables == 0 && owner == 0
    }

    /// Refuses a file that is no journal, or one of a newer version. Changes nothing.
    func checkVersion(_ path: String) throws(JournalError) {
        guard try number("PRAGMA application_id") == Self.applicationID else {
            throw JournalError(.foreign, "be opened", "\(path) is a database of another program")
        }
        let version = try number("PRAGMA user_version") ?? 0
        guard version == Self.version else {
            throw JournalError(
                .foreign, operation: "be opened",
                reason: "\(path) has version \(version) of the journal's schema, this program knows \(Self.version)",
                remedy: "use the program that wrote it, or choose another file: --journal FILE")
        }
        let difference = try naming("be opened") { () throws(SQLiteError) in try Self.schema.difference(in: database) }
        if let difference {
            throw JournalError(.foreign, "be opened", "\(path) has not the tables of a journal: \(difference)")
        }
    }

    /// Refuses a file that has replaced the one that was checked before.
    func checkIsOne(of files: borrowing DatabaseFiles) throws(JournalError) {
        let hasMoved = try hasMoved()
        try naming("be opened") { () throws(OpeningError) in try files.checkAgain(hasMoved: hasMoved) }
    }

    /// Whether the file has another name by now, or none.
    func hasMoved() throws(JournalError) -> Bool {
        try naming("be opened") { () throws(SQLiteError) in try database.hasMoved() }
    }

    func create(loop: String, history: History) throws(JournalError) {
        try naming("be made") { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                for table in Self.schema.statements { try database.execute(table) }
                try database.execute(
                    "PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(Self.version)")
                try setText("loop", loop)
                try set("history", Int64(bitPattern: history.value))
                try set("identity", Self.identity(loop, history))
            }
        }
    }

    /// The checksum that binds the journal to its loop and history.
    static func identity(_ loop: String, _ history: History) -> Int64 {
        var sum = Checksum()
        sum.add(Array(loop.utf8).span)
        sum.add(history.value)
        return Int64(sum.value)
    }

    /// Sets the connection up for one writer and many readers.
    func prepare(isNew: Bool, _ layer: FileLayer, durability: Durability) throws(JournalError) {
        try naming("be opened for writing") { () throws(SQLiteError) in
            if isNew { try database.execute("PRAGMA page_size = \(layer.pageBytes)") }
            guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
                throw SQLiteError(
                    "use a write-ahead log", code: 1,
                    text: "the file system has no shared memory maps; use a local disk")
            }
            // Appends write new bytes, so deleted content need not be overwritten when it is freed.
            try database.execute("PRAGMA secure_delete = OFF")
            try setSynchronous(durability)
        }
    }

    /// Sets the durability of the next rows. A row that is synced also syncs those before it.
    func setSynchronous(_ durability: Durability) throws(SQLiteError) {
        try database.execute("PRAGMA synchronous = \(durability == .fsync ? "FULL" : "NORMAL")")
    }

    // MARK: Meta

    /// The largest length of a text in `meta`, in characters. This program writes no longer text, so a longer one is read
    /// only in part.
    private static let textMax = 1000

    func meta(_ name: String) throws(JournalError) -> Int64? {
        try naming("be read") { () throws(SQLiteError) in
            try database.integer("SELECT value FROM meta WHERE name = '\(name)'")
        }
    }

    func metaText(_ name: String) throws(JournalError) -> String? {
        try naming("be read") { () throws(SQLiteError) in
            try database.text("SELECT substr(value, 1, \(Self.textMax)) FROM meta WHERE name = '\(name)'")
        }
    }

    func set(_ name: String, _ value: Int64) throws(SQLiteError) {
        var statement = try Statement("REPLACE INTO meta VALUES ('\(name)', ?1)", in: database)
        try statement.bind(1, value)
        try statement.run()
    }

    func setText(_ name: String, _ value: String) throws(SQLiteError) {
        var statement = try Statement("REPLACE INTO meta VALUES ('\(name)', ?1)", in: database)
        try statement.bind(1, value)
        try statement.run()
    }

    // MARK: Batches

    /// Reads and checks the newest row. It returns the row's end, and the row behind it if that one is short.
    func checkedTail(
        after base: ChainLink, loop: String, path: String
    ) throws(JournalError) -> (tail: ChainLink, short: BatchRow?) {
        let newest = try rows(through: .max, max: 2)
        guard let last = newest.first else { return (base, nil) }
        let before = newest.count == 2 ? newest[1]?.link : base
        guard let last, let before else {
            throw .damaged(
                loop: loop, path: path, position: base.position + 1, seq: base.seq + 1, "a row's numbers cannot be")
        }
        try checkTrimmed(base, last)
        // The last row may be cut off, and then the journal ends here.
        if newest.count == 2 { try checkTrimmed(base, newest[1]) }
        var end = last.link
        var isShort = false
        try forEachRow(from: last.firstPosition, bytesMax: 0) { row, bytes throws(JournalError) in
            isShort = UInt64(bytes.count) < last.length
            if !isShort { end = try last.checked(after: before, bytes, loop: loop, path: path).link }
            return true
        }
        return isShort ? (before, last) : (end, nil)
    }

    func remove(_ row: BatchRow) throws(JournalError) {
        try naming("cut off its last row") { () throws(SQLiteError) in
            try database.execute("DELETE FROM batches WHERE first_position = \(row.firstPosition)")
        }
    }

    /// Adds a row in a transaction of its own, and syncs as the durability says.
    func insert(_ row: BatchRow, _ records: Span<UInt8>) throws(SQLiteError) {
        let insertion = try kept(&self.insertion, "INSERT INTO batches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        try insertion.statement.bind(1, Int64(bitPattern: row.firstPosition))
        try insertion.statement.bind(2, Int64(bitPattern: row.lastPosition))
        try insertion.statement.bind(3, Int64(bitPattern: row.firstSeq))
        try insertion.statement.bind(4, Int64(bitPattern: row.lastSeq))
        try insertion.statement.bind(5, Int64(bitPattern: row.length))
        try insertion.statement.bind(6, Int64(row.checksum))
        try insertion.statement.run(7, lending: records)
    }

    /// Calls `body` with the rows from a position on, in order, until it returns false. A row with impossible numbers is nil.
    func forEachRow(
        from position: UInt64, bytesMax: Int, _ body: (BatchRow?, Span<UInt8>) throws(JournalError) -> Bool
    ) throws(JournalError) {
        let selection = try naming("be read") { () throws(SQLiteError) in
            let found = try kept(
                &self.selection,
                "SELECT \(Self.columns), records FROM batches WHERE first_position >= ?1 ORDER BY first_position")
            try found.statement.bind(1, Int64(clamping: position))
            return found
        }
        while try naming("be read", { () throws(SQLiteError) in try selection.statement.step() }) {
            let row = Self.row(selection.statement)
            let goesOn: Bool
            do throws(JournalError) {
                goesOn = try selection.statement.withBytes(6) { bytes throws(JournalError) in try body(row, bytes) }
            } catch {
                selection.statement.reset()
                throw error
            }
            if !goesOn {
                selection.statement.reset()
                return
            }
        }
    }

    /// The newest rows that begin at or before a position, the newest first, without their records.
    func rows(through position: UInt64, max: Int) throws(JournalError) -> [BatchRow?] {
        var rows: [BatchRow?] = []
        try naming("be read") { () throws(SQLiteError) in
            let lookup = try kept(
                &self.lookup,
                "SELECT \(Self.columns) FROM batches WHERE first_position <= ?1 ORDER BY first_position DESC LIMIT ?2")
            try lookup.statement.bind(1, Int64(clamping: position))
            try lookup.statement.bind(2, Int64(max))
            while try lookup.statement.step() { rows.append(Self.row(lookup.statement)) }
        }
        return rows
    }

    /// Returns the statement, and prepares it at its first use.
    private func kept(
        _ kept: inout KeptStatement?, _ sql: @autoclosure () -> String
    ) throws(SQLiteError) -> KeptStatement {
        if let kept { return kept }
        let new = KeptStatement(try Statement(sql(), in: database))
        kept = new
        return new
    }

    private static let columns = "first_position, last_position, first_seq, last_seq, length, checksum"

    private static func row(_ statement: borrowing Statement) -> BatchRow? {
        BatchRow(
            first: statement.integer(0), last: statement.integer(1), firstSeq: statement.integer(2),
            lastSeq: statement.integer(3), length: statement.integer(4), checksum: statement.integer(5))
    }

    // MARK: Anything else

    func statement(_ sql: String) throws(JournalError) -> Statement {
        try naming("be read") { () throws(SQLiteError) in try Statement(sql, in: database) }
    }

    func number(_ sql: String) throws(JournalError) -> Int64? {
        try naming("be read") { () throws(SQLiteError) in try database.integer(sql) }
    }

    /// The size of the log in bytes, by its count of pages.
    var logBytes: Int {
        get throws(JournalError) { 32 + database.logPages * (24 + Int(try number("PRAGMA page_size") ?? 0)) }
    }

    /// Moves the log into the file, as far as no reader needs older pages.
    /// - Returns: whether the whole log is in the file now.
    @discardableResult
    func checkpoint() throws(SQLiteError) -> Bool { try database.checkpoint(.passive) }
}

/// A statement that is reused.
private final class KeptStatement {
    var statement: Statement

    init(_ statement: consuming Statement) { self.statement = statement }
}
