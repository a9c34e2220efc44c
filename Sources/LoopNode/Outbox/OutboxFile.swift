import CBOR
import Linux
package import LoopCluster
package import LoopCore
import LoopJournal
package import LoopWire

/// A sender's stream on disk, so that it outlives the sender's process. One process at a time can use it, on one thread.
///
/// Commits are synced: an entry is in the file before it leaves (protocol, section 7). Entries with a known outcome are deleted
/// with the next commit that has another reason, or a little later.
package final class OutboxFile {
    /// "LoOb" in the header of the file.
    static let applicationID: Int64 = 0x4c6f_4f62
    /// The version of the schema, in the header of the file.
    static let version: Int64 = 1
    /// How long the deletion of settled entries may be delayed.
    static let settlingLag = Duration.milliseconds(250)
    /// How many settled entries the file may contain.
    static let settledMax: UInt64 = 1024

    let path: String
    /// The loop that the stream is for, empty until it is known.
    package private(set) var loop = ""
    /// The ID of the sender that has the session. It names the inbox.
    package private(set) var peer: PeerID
    /// The stream in the file, without its entries.
    private(set) var head = PeerStream()
    /// The number of the newest entry that was ever written.
    private var last: UInt64 = 0
    private var committedAt = MonotonicTime.zero

    /// A line for people if other users may replace the file, else nil.
    let warning: String?

    private let database: Database
    private var insertion: Statement
    private var deletion: Statement
    private var update: Statement

    /// Opens the file, or creates it, and locks out other processes.
    package init(_ path: String) throws(OutboxError) {
        self.path = path
        // A peer without a session gets a new ID, because an earlier one of the same ID may have a session at the reducer.
        peer = PeerID(high: SystemRandom.uint64(), low: SystemRandom.uint64())
        database = try Self.opened(path)
        warning = DatabaseFiles.warning(of: path)
        do throws(SQLiteError) {
            guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
                throw SQLiteError("use a write-ahead log", code: 1, text: "the file system does not let it")
            }
            try database.execute("PRAGMA synchronous = FULL")
            try Self.prepare(database)
            insertion = try Statement("INSERT INTO entry VALUES (?1, ?2)", in: database)
            deletion = try Statement("DELETE FROM entry WHERE number <= ?1", in: database)
            update = try Statement(
                """
                UPDATE stream SET loop = ?1, peer_high = ?2, peer_low = ?3, history = ?4, epoch = ?5, nonce = ?6,
                    session = ?7, base = ?8, settled = ?9, offered = ?10
                """, in: database)
        } catch {
            throw OutboxError(path, error)
        }
    }

    /// The tables, which must match exactly.
    private static let schema = Schema([
        "stream": """
        CREATE TABLE stream (
            one INTEGER PRIMARY KEY CHECK (one = 1), loop TEXT NOT NULL, peer_high INTEGER NOT NULL,
            peer_low INTEGER NOT NULL, history INTEGER NOT NULL, epoch INTEGER NOT NULL,
            nonce INTEGER NOT NULL, session INTEGER NOT NULL, base INTEGER NOT NULL,
            settled INTEGER NOT NULL, offered INTEGER NOT NULL) STRICT
        """,
        "entry": "CREATE TABLE entry (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    ])

    /// Opens a file that is new or an outbox, and accessible to this user alone.
    private static func opened(_ path: String) throws(OutboxError) -> Database {
        let files = try checking { () throws(OpeningError) in try DatabaseFiles(path, for: .writing) }
        let database = try naming(path) { () throws(SQLiteError) in
            let database = try Database(path, .create)
            try database.execute("PRAGMA locking_mode = EXCLUSIVE")
            let tables = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
            let owner = try database.integer("PRAGMA application_id") ?? 0
            if tables != 0 || owner != 0 { try checkOwner(owner, database) }
            return database
        }
        let hasMoved = try naming(path) { () throws(SQLiteError) in try database.hasMoved() }
        try checking { () throws(OpeningError) in try files.checkAgain(hasMoved: hasMoved) }
        return database
    }

    private static func checking<Result: ~Copyable>(
        _ body: () throws(OpeningError) -> Result
    ) throws(OutboxError) -> Result {
        do throws(OpeningError) {
            return try body()
        } catch {
            throw OutboxError(error)
        }
    }

    private static func naming<Result: ~Copyable>(
        _ path: String, _ body: () throws(SQLiteError) -> Result
    ) throws(OutboxError) -> Result {
        do throws(SQLiteError) {
            return try body()
        } catch {
            throw OutboxError(path, error)
        }
    }

    private static func checkOwner(_ owner: Int64, _ database: borrowing Database) throws(SQLiteError) {
        guard owner == applicationID, try database.integer("PRAGMA user_version") == version else {
            throw SQLiteError("open it", code: 26, text: "it is no outbox of this release")
        }
        if let difference = try schema.difference(in: database) {
            throw SQLiteError("open it", code: 26, text: "it has not the tables of an outbox: \(difference)")
        }
    }

    private static func prepare(_ database: borrowing Database) throws(SQLiteError) {
        // This takes the lock, which is kept.
        try database.transaction { () throws(SQLiteError) in
            if try database.integer("SELECT count(*) FROM sqlite_schema") == 0 {
                for table in schema.statements { try database.execute(table) }
            }
            try database.execute(
                """
                INSERT OR IGNORE INTO stream VALUES (1, '', 0, 0, 0, 0, 0, 0, 0, 0, 0);
                PRAGMA application_id = \(applicationID);
                PRAGMA user_version = \(version);
                """)
        }
    }

    // MARK: Reading

    /// Reads what an earlier process left.
    package func load() throws(OutboxError) -> PeerStream {
        var stream = PeerStream()
        do throws(SQLiteError) {
            // A damaged page can still yield its entries, and lose those that are written to it later.
            let verdict = try database.text("PRAGMA quick_check(1)")
            guard verdict == "ok" else {
                throw SQLiteError("read it", code: 11, text: verdict ?? "its pages cannot be checked")
            }
            var row = try Statement(
                """
                SELECT substr(loop, 1, 1000), peer_high, peer_low, history, epoch, nonce, session, base, settled, offered
                FROM stream
                """, in: database)
            guard try row.step() else { throw SQLiteError("read it", code: 11, text: "its only row is gone") }
            loop = row.text(0) ?? ""
            func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: row.integer(column)) }
            stream.history = History(number(3))
            stream.epoch = Epoch(number: number(4), nonce: number(5))
            stream.session = SessionID(number(6))
            (stream.base, stream.settled, stream.offered) = (number(7), number(8), number(9))
            if stream.session != .none { peer = PeerID(high: number(1), low: number(2)) }
        } catch {
            throw OutboxError(path, error)
        }
        guard max(stream.base, stream.settled, stream.offered) < Self.numbersMax else {
            throw OutboxError(damaged: path, "its numbers cannot be")
        }
        stream.entries = try entries(after: stream.base + stream.settled)
        guard stream.offered <= stream.last else {
            throw OutboxError(damaged: path, "entries up to \(stream.last) of \(stream.offered) are there")
        }
        head = stream
        head.entries = []
        last = stream.base + stream.last
        return stream
    }

    private func entries(after settled: UInt64) throws(OutboxError) -> [Entry] {
        var entries: [Entry] = []
        do {
            var rows = try Statement("SELECT number, bytes FROM entry WHERE number > ?1 ORDER BY number", in: database)
            try rows.bind(1, Int64(settled))
            while try rows.step() {
                let due = settled + UInt64(entries.count) + 1
                guard rows.integer(0) == Int64(due) else {
                    throw OutboxError(damaged: path, "entry \(due) is missing")
                }
                var reader = ByteReader(rows.bytes(1))
                entries.append(try Entry(from: &reader))
                try reader.end()
            }
        } catch let error as SQLiteError {
            throw OutboxError(path, error)
        } catch let error as WireError {
            throw OutboxError(damaged: path, "entry \(settled + UInt64(entries.count) + 1): \(error)")
        } catch let error as OutboxError {
            throw error
        } catch {
            throw OutboxError(damaged: path, "\(error)")
        }
        return entries
    }

    /// No stream reaches this number; a larger one was not written by this program.
    private static var numbersMax: UInt64 { 1 << 61 }

    // MARK: Writing

    /// Writes the changes of a machine's stream in one transaction, unless none of them matters yet.
    ///
    /// - Parameters:
    ///   - loop: the loop's name, or an empty text until it is known.
    ///   - isLast: whether nothing follows, so that every change is written now.
    package func commit(
        _ machine: PeerMachine, loop name: String, at now: MonotonicTime, isLast: Bool
    ) throws(OutboxError) {
        let stream = machine.stream(after: last)
        var next = stream
        next.entries = []
        var same = next
        same.settled = head.settled
        let isDue = isLast || now - committedAt >= Self.settlingLag || next.settled >= head.settled + Self.settledMax
        let mustSettle = next.settled != head.settled && isDue
        guard !stream.entries.isEmpty || same != head || name != loop || mustSettle else { return }
        let first = max(last, next.base + next.settled) + 1
        do throws(SQLiteError) {
            try database.transaction { () throws(SQLiteError) in
                for (offset, entry) in stream.entries.enumerated() { try insert(entry, first + UInt64(offset)) }
                try deletion.bind(1, Int64(next.base + next.settled))
                try deletion.run()
                try write(next, name, machine.configuration.peer)
            }
        } catch {
            throw OutboxError(path, error)
        }
        (head, loop, committedAt) = (next, name, now)
        last = max(last, machine.lastNumber)
        // Everything is then in one file. If that fails, its log has the rest.
        if isLast { _ = try? database.checkpoint(.truncate) }
    }

    private func insert(_ entry: Entry, _ number: UInt64) throws(SQLiteError) {
        var writer = ByteWriter()
        entry.write(to: &writer)
        let bytes = writer.bytes
        try insertion.bind(1, Int64(number))
        try insertion.run(2, lending: bytes.span)
    }

    private func write(_ stream: PeerStream, _ loop: String, _ peer: PeerID) throws(SQLiteError) {
        try update.bind(1, loop)
        let numbers = [
            peer.high, peer.low, stream.history.value, stream.epoch.number, stream.epoch.nonce, stream.session.value,
            stream.base, stream.settled, stream.offered,
        ]
        for (index, number) in numbers.enumerated() { try update.bind(Int32(index) + 2, Int64(bitPattern: number)) }
        try update.run()
    }
}

/// An outbox file with what an earlier process left in it.
struct ResumedOutbox {
    let file: OutboxFile
    let stream: PeerStream
    let recovered: RecoveredEvents
    /// The loop that it is for, empty if neither the file nor the sender names one.
    let loop: String

    /// - Parameter loop: the loop that its sender names, or an empty text for the one in the file.
    init(_ path: String, loop: String) throws(OutboxError) {
        file = try OutboxFile(path)
        stream = try file.load()
        recovered = RecoveredEvents(stream)
        // An empty file can be used for another loop.
        let isBound = !file.loop.isEmpty && (stream.session != .none || !stream.entries.isEmpty)
        if isBound, !loop.isEmpty, loop != file.loop { throw OutboxError(path, of: file.loop, not: loop) }
        self.loop = isBound ? file.loop : loop
    }
}
