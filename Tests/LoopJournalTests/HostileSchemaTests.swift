import CSQLite
import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

@Suite struct `A journal with other tables` {
    private let folder: Folder
    private var appender: Appender

    init() throws {
        folder = try Folder(inMemory: true)
        appender = Appender(try Examples.open(folder.journal))
        for _ in 0..<3 { try appender.append(events: 2) }
        appender.journal.close()
    }

    /// Runs statements without the defences of this project.
    private func change(_ sql: String) throws {
        var database: OpaquePointer?
        #expect(sqlite3_open(folder.journal, &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        let result = sqlite3_exec(database, sql, nil, nil, nil)
        #expect(result == SQLITE_OK, "\(String(cString: sqlite3_errmsg(database)))")
    }

    static let changes: [(sql: String, difference: String)] = [
        (
            "CREATE TRIGGER steal AFTER INSERT ON batches BEGIN DELETE FROM batches WHERE first_position = 1; END",
            "there is a trigger steal"
        ),
        ("CREATE VIEW all_of_it AS SELECT * FROM batches", "there is a view all_of_it"),
        ("CREATE INDEX slow ON batches(records)", "there is a index slow"),
        ("CREATE TABLE aside(x)", "there is a table aside"),
        ("ANALYZE", "there is a table sqlite_stat1"),
        ("DROP TABLE snapshots", "there is no table snapshots"),
        (
            "DROP TABLE snapshots; CREATE VIEW snapshots AS SELECT 1 AS position, 1 AS seq, 1 AS fingerprint, '' AS file, "
                + "1 AS bytes, 1 AS checksum",
            "there is a view snapshots"
        ),
        ("ALTER TABLE batches ADD COLUMN more ANY", "the table batches is another one"),
        (
            "ALTER TABLE meta RENAME TO old; CREATE TABLE meta(name TEXT PRIMARY KEY, value ANY CHECK (length(value))) STRICT, "
                + "WITHOUT ROWID; INSERT INTO meta SELECT * FROM old; DROP TABLE old",
            "the table meta is another one"
        ),
        (
            "CREATE TABLE \"\(String(repeating: "x", count: 1000))\"(x)",
            "there is a table \(String(repeating: "x", count: 40))…"
        ),
    ]

    @Test(arguments: changes.indices) func `is refused, and left as it is`(index: Int) throws {
        let (sql, difference) = Self.changes[index]
        try change(sql)
        let before = try folder.bytes("test.journal")
        let expected = JournalError(
            .foreign, operation: "be opened",
            reason: "\(folder.journal) has not the tables of a journal: \(difference)",
            remedy: "choose another file: --journal FILE")
        let uses: [() throws -> Void] = [
            { try Examples.open(folder.journal).close() }, { try SQLiteJournal.read(folder.journal).close() },
            {
                try SQLiteJournal.cut(
                    folder.journal, loop: "test", after: Seq(2), newHistory: History(9), at: Examples.time)
            },
        ]
        for use in uses { #expect(#expect(throws: JournalError.self) { try use() } == expected) }
        #expect(try folder.bytes("test.journal") == before)
    }

    @Test func `is refused, and a copy of a journal is not`() throws {
        try change("VACUUM INTO '\(folder.path)/copy.journal'")
        chmod(folder.path + "/copy.journal", 0o600)
        let journal = try Examples.open(folder.path + "/copy.journal")
        defer { journal.close() }
        #expect(try journal.all() == appender.records)
    }

    @Test func `and a name of megabytes is refused in one line`() throws {
        try change("UPDATE meta SET value = hex(zeroblob(4000000)) WHERE name = 'loop'")
        for use in [{ try Examples.open(folder.journal) }, { try SQLiteJournal.read(folder.journal) }] {
            let error = #expect(throws: JournalError.self) { try use().close() }
            #expect((error?.description.utf8.count ?? .max) < 2000)
        }
    }
}

@Suite struct `Snapshots that others have touched` {
    private let folder: Folder
    private var appender: Appender
    private let older: SnapshotEntry
    private let newer: SnapshotEntry

    init() throws {
        folder = try Folder()
        appender = Appender(try Examples.open(folder.journal))
        var entries: [SnapshotEntry] = []
        for number: UInt8 in 1...2 {
            try appender.append(events: 3)
            let write = try #require(appender.journal.snapshotWriter)
            let entry = SnapshotEntry(position: appender.journal.position, seq: Seq(appender.seq), fingerprint: 0)
            entries.append(try write(entry, [number]))
            try appender.journal.add(entries[Int(number) - 1])
        }
        (older, newer) = (entries[0], entries[1])
        appender.journal.close()
    }

    private var snapshots: String { folder.journal + ".snapshots" }
    private var newest: String { get throws { try snapshots + "/" + Folder.names(snapshots)[1] } }

    private func content(of entry: SnapshotEntry) throws -> JournalError? {
        let journal = try Examples.open(folder.journal)
        defer { journal.close() }
        #expect(try journal.content(of: older) == [1])
        return #expect(throws: JournalError.self) { try journal.content(of: entry) }
    }

    private func damaged(_ reason: String) -> JournalError {
        JournalError(
            .corrupt, operation: "read the snapshot of seq 6", reason: reason,
            remedy: "put a copy of it back")
    }

    @Test func `by a link, a pipe or a folder are not read, and the one before is`() throws {
        let (file, kept) = (try newest, folder.path + "/kept")
        rename(file, kept)
        symlink(kept, file)
        #expect(try content(of: newer) == damaged("\(file) is a symbolic link"))
        unlink(file)
        mkfifo(file, 0o600)
        #expect(try content(of: newer) == damaged("\(file) is no regular file"))
        unlink(file)
        mkdir(file, 0o700)
        #expect(try content(of: newer) == damaged("\(file) is no regular file"))
    }

    @Test func `of a size that no memory has are refused before any is taken`() throws {
        let file = try newest
        let size = Int64(1) << 43
        // It has no blocks on the disk.
        #expect(truncate(file, off_t(size)) == 0)
        #expect(try content(of: newer) == damaged("\(file) has \(size) bytes instead of 1"))
        try Database(folder.journal, .write).execute("UPDATE snapshots SET bytes = \(size) WHERE position = 6")
        var listed = newer
        listed.byteCount = Int(size)
        let error = try content(of: listed)
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.hasPrefix("it has \(size) bytes, and a process on this machine reads at most ") == true)
    }

    @Test(arguments: [-1, 7, 1 << 62, .max] as [Int64])
    func `of records that are not there are none`(position: Int64) throws {
        try Database(folder.journal, .write).execute("UPDATE snapshots SET position = \(position) WHERE position = 6")
        for open in [{ try SQLiteJournal.read(folder.journal) }, { try Examples.open(folder.journal) }] {
            let journal = try open()
            defer { journal.close() }
            #expect(try journal.snapshots() == [older])
        }
    }

    @Test func `in a folder by a link are refused, and nothing in that folder is removed`() throws {
        let elsewhere = folder.path + "/elsewhere"
        rename(snapshots, elsewhere)
        try folder.write([1], to: "elsewhere/9-00000000")
        symlink(elsewhere, snapshots)
        let before = try Folder.names(elsewhere)
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal).close() }
        #expect(
            error
                == JournalError(
                    .foreign, operation: "be opened", reason: "\(snapshots) is a symbolic link",
                    remedy: "give the path that it leads to"))
        #expect(try Folder.names(elsewhere) == before)
        // Nor when a run that was set aside is forgotten.
        unlink(snapshots)
        symlink(elsewhere, folder.journal + ".previous.snapshots")
        #expect(try SQLiteJournal.setAside(folder.journal) == folder.journal + ".previous")
        #expect(try Folder.names(elsewhere) == before)
    }

    @Test func `in a folder that others may write to are refused`() throws {
        chmod(snapshots, 0o770)
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal).close() }
        #expect(
            error
                == JournalError(
                    .foreign, operation: "be opened",
                    reason: "\(snapshots) can be changed by other users (mode 770)",
                    remedy: "if what is in it can be trusted: chmod go-w \(snapshots)"))
    }

    @Test func `leave files of other names alone`() throws {
        try folder.write([1], to: "test.journal.snapshots/notes.txt")
        try folder.write([1], to: "test.journal.snapshots/6-00000000")
        let journal = try Examples.open(folder.journal)
        defer { journal.close() }
        #expect(
            journal.openReport == ["removed \(snapshots)/6-00000000: a snapshot that is not listed, or not any more"])
        #expect(try Folder.names(snapshots).contains("notes.txt"))
    }
}
