import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// A start needs only the newest snapshot and what follows it. No remedy for older damage loses more than the older states.
@Suite struct `Damage before the snapshot from which a start continues` {
    private let folder: Folder
    private var appender: Appender

    /// Fifteen rows of ten events each, with snapshots at 60, 90 and 130.
    init() throws {
        folder = try Folder(inMemory: true)
        appender = Appender(try Examples.open(folder.journal))
        for row in 1...15 {
            try appender.append(events: 10, bytes: 2000)
            if [6, 9, 13].contains(row) {
                let write = try #require(appender.journal.snapshotWriter)
                try appender.journal.add(
                    write(SnapshotEntry(position: UInt64(row * 10), seq: Seq(UInt64(row * 10)), fingerprint: 7), [7]))
            }
        }
        appender.journal.close()
    }

    /// Damages the row that begins with an event.
    private func damage(_ position: UInt64) throws {
        try Database(folder.journal, .write).execute(
            "UPDATE batches SET records = zeroblob(length) WHERE first_position = \(position)")
    }

    private func errorOfReading() throws -> JournalError {
        let journal = try SQLiteJournal.read(folder.journal)
        defer { journal.close() }
        #expect(journal.startRefusal == nil)
        return try #require(throws: JournalError.self) { try journal.all() }
    }

    private func cut(after seq: UInt64, isForced: Bool = false) throws {
        try SQLiteJournal.cut(
            folder.journal, loop: "test", after: Seq(seq), newHistory: History(9), at: Examples.time, isForced: isForced
        )
    }

    @Test(arguments: [(61, 91), (91, 131), (111, 131)] as [(UInt64, UInt64)])
    func `is forgotten by its remedy, and nothing later is`(damaged: UInt64, first: UInt64) throws {
        try damage(damaged)
        let error = try errorOfReading()
        #expect(error.reason.contains("position \(damaged), seq \(damaged)"))
        #expect(error.remedy.contains("a start continues from the snapshot at seq 130"))
        #expect(error.remedy.hasSuffix("loop-reducer test trim --before 131 \(folder.journal)"))
        #expect(!error.remedy.contains("--after"))
        let journal = try Examples.open(folder.journal)
        #expect(try journal.trim(before: Seq(131)) == Seq(first))
        #expect(try journal.all(after: first - 1) == Array(appender.records[Int(first - 1)...]))
        journal.close()
    }

    @Test func `is not looked for where peers would wait`() throws {
        try damage(111)
        let journal = try Examples.open(folder.journal)
        journal.reader.looksForDamage = false
        #expect(try journal.trim(before: Seq(131)) == Seq(91))
        journal.reader.looksForDamage = true
        #expect(try journal.trim(before: Seq(131)) == Seq(131))
        journal.close()
    }

    @Test func `is no reason to cut off what is after it`() throws {
        try damage(61)
        let error = try #require(throws: JournalError.self) { try cut(after: 60) }
        #expect(error.kind == .misuse)
        #expect(error.reason == "the snapshot at seq 130 is intact, so events up to seq 150 need not be lost")
        #expect(error.remedy.contains("trim --before 131"))
        try cut(after: 60, isForced: true)
        #expect(try Examples.open(folder.journal).firstSeq() == Seq(1))
    }

    @Test func `is named with the damage that stops a start`() throws {
        try damage(61)
        try damage(131)
        let remedy = try errorOfReading().remedy
        #expect(remedy.contains("a start from the snapshot at seq 130 fails, too (at position 131"))
        let error = try #require(throws: JournalError.self) { try cut(after: 130) }
        #expect(error.reason.contains("position 61"))
        #expect(error.remedy.contains("trim --before 131"))
        let journal = try Examples.open(folder.journal)
        #expect(try journal.trim(before: Seq(131)) == Seq(91))
        let later = try #require(throws: JournalError.self) { try journal.all(after: 130) }
        #expect(later.remedy.contains("trim --after 130"))
        journal.close()
        try cut(after: 130)
        #expect(try Examples.open(folder.journal).all(after: 90).count == 41)
    }

    /// SQLite itself refuses to read the page, and to remove it.
    @Test func `of a whole page needs a copy, and no cut`() throws {
        let database = try Database(folder.journal, .read)
        let page = try #require(
            try database.integer(
                "SELECT pageno FROM dbstat WHERE name = 'batches' AND pagetype = 'leaf' ORDER BY path LIMIT 1"))
        var bytes = try folder.bytes("test.journal")
        let start = Int(page - 1) * 8192
        bytes.replaceSubrange(start..<start + 100, with: [UInt8](repeating: 0xff, count: 100))
        try folder.write(bytes, to: "test.journal")
        let error = try errorOfReading()
        #expect(error.remedy.contains("a start continues from the snapshot at seq 130"))
        #expect(error.remedy.hasSuffix("put a copy of the journal back"))
        #expect(#expect(throws: JournalError.self) { try cut(after: 60) }?.kind == .misuse)
        #expect(try Examples.open(folder.journal).all(after: 130) == Array(appender.records[130...]))
    }
}
