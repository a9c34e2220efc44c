import Glibc
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// A program that reads a journal blocks no reducer, however long it reads: `sqlite3`, a backup by VACUUM INTO.
@Suite struct `Readers of a journal` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// A connection that is in the middle of reading.
    private func reader() throws -> Database {
        let reader = try Database(folder.journal, .read)
        try reader.execute("BEGIN; SELECT count(*) FROM batches")
        return reader
    }

    @Test(arguments: Durability.allCases)
    func `do not keep it from being opened, written, snapshotted, trimmed and closed`(durability: Durability) throws {
        var appender = Appender(try Examples.open(folder.journal, durability))
        for _ in 0..<3 { try appender.append(events: 5) }
        try appender.journal.flush()
        let rows = try Database(folder.journal, .read).integer("SELECT count(*) FROM batches")
        let first = try reader()
        appender.journal.abandon()
        let began = ContinuousClock.now
        appender.journal = try Examples.open(folder.journal, durability)
        let second = try reader()
        let write = try #require(appender.journal.snapshotWriter)
        for _ in 0..<3 {
            try appender.append(events: 5)
            let entry = SnapshotEntry(position: appender.journal.position, seq: Seq(appender.seq), fingerprint: 7)
            try appender.journal.add(write(entry, [1, 2, 3]))
        }
        #expect(try appender.journal.trim(before: Seq(21)) == Seq(21))
        appender.journal.close()
        appender.journal = try Examples.open(folder.journal, durability)
        #expect(try appender.journal.all(after: 20) == Array(appender.records[20...]))
        try appender.journal.markEnded()
        appender.journal.close()
        #expect(try SQLiteJournal.setAside(folder.journal) == folder.journal + ".previous")
        // Nothing has waited for SQLite's limit of 10 s.
        #expect(ContinuousClock.now - began < .seconds(5))
        #expect(try first.integer("SELECT count(*) FROM batches") == rows)
        #expect(try second.integer("SELECT count(*) FROM batches") == rows)
        try SQLiteJournal.read(folder.journal + ".previous").close()
    }

    @Test func `that keep the log from being moved are told of, with the size of it, until they have ended`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        for _ in 0..<3 { try appender.append(events: 1000, bytes: 3000) }
        #expect(appender.journal.heldLogBytes == nil)
        do {
            let reader = try reader()
            for _ in 0..<3 { try appender.append(events: 1000, bytes: 3000) }
            let size = try #require(appender.journal.heldLogBytes)
            let logSize = try folder.bytes("test.journal-wal").count
            #expect(size > 8_000_000 && size <= logSize)
            #expect(try reader.integer("SELECT count(*) FROM batches") == 3)
        }
        try appender.journal.flush()
        #expect(appender.journal.heldLogBytes == nil)
        appender.journal.close()
    }

    /// The log starts over when it was brought into the file. As long as a reader is in the way, it is cut off there.
    @Test func `do not let the rest of a torn batch come back behind the next ones`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        try appender.append(events: 5)
        let reader = try reader()
        try appender.append(events: 5, bytes: 9000)
        appender.journal.abandon()
        let whole = try folder.bytes("test.journal-wal")
        // Two pages of a batch that was being written, and the last of them looks like its end.
        let frame = 24 + 8192
        let torn = whole[(whole.count - 2 * frame)...]
        try folder.write(whole + torn, to: "test.journal-wal")
        for _ in 0..<3 {
            appender.journal = try Examples.open(folder.journal)
            #expect(try appender.journal.all() == appender.records)
            try appender.append(events: 1)
            appender.journal.abandon()
        }
        #expect(try reader.integer("SELECT count(*) FROM batches") == 1)
    }

    @Test func `that write are said to be in the way`() throws {
        try Examples.open(folder.journal).close()
        let writer = try Database(folder.journal, .write)
        try writer.execute("BEGIN IMMEDIATE")
        let error = #expect(throws: JournalError.self) {
            try SQLiteJournal.open(folder.journal, loop: "test", durability: .os, newHistory: Examples.history).close()
        }
        #expect(error?.kind == .busy)
        // SQLite does not say what the other program does.
        #expect(error?.fault.reason.rawValue == "in_use")
        try writer.execute("ROLLBACK")
        try Examples.open(folder.journal).close()
    }

    /// SQLite says of it that the database is read-only.
    @Test func `say that a rollback journal is there, and a start goes on`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        try appender.append(events: 3)
        appender.journal.abandon()
        try folder.write(Array("junk\n".utf8), to: "test.journal-journal")
        let error = #expect(throws: JournalError.self) { try SQLiteJournal.read(folder.journal).close() }
        #expect(error?.reason.hasPrefix("\(folder.journal)-journal says that") == true, "\(error)")
        let journal = try Examples.open(folder.journal)
        #expect(try journal.all() == appender.records)
        journal.close()
    }

    /// Looking at a journal does not take its lock, not even for a moment.
    @Test func `that are Loop's own tools do not keep a reducer from it`() async throws {
        try Examples.open(folder.journal).close()
        let path = folder.journal
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { for _ in 0..<50 { try? SQLiteJournal.read(path).close() } }
            }
            group.addTask {
                for _ in 0..<20 {
                    #expect(throws: Never.self) { try Examples.open(path).close() }
                }
            }
        }
    }
}
