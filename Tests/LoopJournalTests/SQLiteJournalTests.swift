import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

@Suite struct `A journal in a file` {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test(arguments: Durability.allCases)
    func `gives back what was appended, also after it was opened again`(durability: Durability) throws {
        var appender = Appender(try Examples.open(folder.journal, durability))
        for size in [1, 8, 64, 1, 300] { try appender.append(events: size, others: size % 3) }
        #expect(try appender.journal.all() == appender.records)
        appender.journal.close()

        let again = try SQLiteJournal.open(folder.journal, loop: "test", newHistory: History(1))
        #expect(again.history == Examples.history)
        #expect(again.position == UInt64(appender.records.count))
        #expect(again.openReport == [])
        #expect(try again.all() == appender.records)
        #expect(try again.firstSeq() == Seq(1))
        #expect(again.path == folder.journal && again.loop == "test" && !again.hasEnded)
    }

    @Test(arguments: Durability.allCases)
    func `fills its log several times, and lets go of its files at the end`(durability: Durability) throws {
        var layer = FileLayer()
        layer.checkpointPages = 100
        let journal = try SQLiteJournal.open(
            folder.journal, loop: "test", durability: durability, newHistory: History(1), whileLocked: nil, layer: layer
        )
        var appender = Appender(journal)
        for _ in 0..<300 { try appender.append(events: 40) }
        #expect(try appender.journal.all() == appender.records)
        // The file, its log and its index, the lock, the note of its end; and the log once more if it is sent on its way before it is
        // synced.
        #expect(try Folder.openFiles(folder.journal) == (durability == .fsync ? 5 : 6))
        appender.journal.close()
        #expect(try Folder.openFiles(folder.journal) == 0)
        #expect(try Examples.open(folder.journal).all() == appender.records)
    }

    /// An earlier version had a durability `none`, which is 3 in the journal and in the note of its end.
    @Test(arguments: Durability.allCases, [true, false])
    func `is opened after an earlier version wrote it with none`(durability: Durability, wasClosed: Bool) throws {
        var appender = Appender(try Examples.open(folder.journal, .os))
        try appender.append(events: 5)
        if wasClosed { appender.journal.close() } else { appender.journal.abandon() }
        try Database(folder.journal, .write).execute("UPDATE meta SET value = 3 WHERE name = 'durability'")
        try noteNone()
        let look = try SQLiteJournal.read(folder.journal)
        #expect(look.startRefusal == nil)
        look.close()
        appender.journal = try Examples.open(folder.journal, durability)
        #expect(appender.journal.openReport == [])
        try appender.append(events: 3)
        #expect(try appender.journal.all() == appender.records)

        // The note proves what a lost log had.
        appender.journal.abandon()
        try noteNone()
        for name in ["test.journal-wal", "test.journal-shm"] { try folder.remove(name) }
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal) }
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.contains("test.journal-end") == true)
    }

    private func noteNone() throws {
        var note = try folder.bytes("test.journal-end")
        note[20] = 3
        var sum = Checksum()
        sum.add(note.span.extracting(..<57))
        note.replaceSubrange(57..., with: (0..<4).map { UInt8(truncatingIfNeeded: sum.value >> (8 * $0)) })
        try folder.write(note, to: "test.journal-end")
    }

    @Test func `remembers that its loop has ended`() throws {
        let journal = try Examples.open(folder.journal)
        try journal.markEnded()
        #expect(journal.hasEnded)
        journal.close()
        #expect(try Examples.open(folder.journal).hasEnded)
        #expect(try SQLiteJournal.read(folder.journal).hasEnded)
    }

    @Test func `is of one loop`() throws {
        try Examples.open(folder.journal).close()
        let error = #expect(throws: JournalError.self) {
            try SQLiteJournal.open(folder.journal, loop: "other", newHistory: History(2))
        }
        #expect(error?.kind == .foreign)
        #expect(error?.reason == "\(folder.journal) is the journal of the loop test, not of other")
    }

    @Test func `can be written by one at a time, and read by others`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        try appender.append(events: 3)
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal) }
        #expect(error?.kind == .locked)

        let reader = try SQLiteJournal.read(folder.journal)
        #expect(reader.loop == "test" && reader.history == Examples.history)
        #expect(try reader.all() == appender.records)
        try appender.append(events: 5)
        #expect(try reader.all(after: 3) == Array(appender.records[3...]))
        #expect(reader.position == 8)
        #expect(throws: JournalError.self) { try reader.append([], through: 8) }
        appender.journal.close()
        try Examples.open(folder.journal).close()
    }
}

@Suite struct `A journal that is set aside` {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `makes room for a new one, and replaces an older one that was`() throws {
        #expect(try SQLiteJournal.setAside(folder.journal) == nil)
        for round in 1...2 {
            var appender = Appender(try Examples.open(folder.journal))
            #expect(appender.journal.position == 0)
            try appender.append(events: round)
            let write = try #require(appender.journal.snapshotWriter)
            try appender.journal.add(
                write(SnapshotEntry(position: 1, seq: Seq(1), fingerprint: 0), [UInt8(round)]))
            #expect(throws: JournalError.self) { try SQLiteJournal.setAside(folder.journal) }
            appender.journal.close()
            let previous = try #require(try SQLiteJournal.setAside(folder.journal))
            #expect(previous == folder.journal + ".previous")
            let journal = try Examples.open(previous)
            #expect(try journal.all() == appender.records)
            #expect(try journal.content(of: journal.snapshots()[0]) == [UInt8(round)])
            journal.close()
        }
        #expect(
            folder.names.filter { !$0.hasSuffix("-lock") } == [
                "test.journal.previous", "test.journal.previous-end", "test.journal.previous.snapshots",
            ])
    }
}
