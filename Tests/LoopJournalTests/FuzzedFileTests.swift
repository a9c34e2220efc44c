import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What fuzzing has found in files that are sound as databases: each would have ended the process, or lost a record.
@Suite struct `A journal whose numbers cannot be` {
    let folder: Folder

    init() throws {
        folder = try Folder(inMemory: true)
        var appender = Appender(try Examples.open(folder.journal))
        for _ in 0..<3 { try appender.append(events: 2) }
        appender.journal.close()
    }

    private func change(_ sql: String) throws { try Database(folder.journal, .write).execute(sql) }

    @Test func `in its last row is read up to there, and says so`() throws {
        try change("UPDATE batches SET last_position = first_position - 1 WHERE first_position = 5")
        let journal = try SQLiteJournal.read(folder.journal)
        defer { journal.close() }
        #expect(try journal.records(after: 0, bytesMax: 1 << 20).count == 4)
        #expect(#expect(throws: JournalError.self) { try journal.records(after: 4, bytesMax: 1) }?.kind == .corrupt)
        // A person may ask for what comes from any seq on, also from the largest there is.
        #expect(#expect(throws: JournalError.self) { try journal.position(before: Seq(.max)) }?.kind == .corrupt)
    }

    @Test(arguments: [-1, .max, .min, 1 << 62, 6, 1 << 40] as [Int64])
    func `because it was trimmed up to its end or beyond is refused`(position: Int64) throws {
        try change("REPLACE INTO meta VALUES ('trimmed_position', \(position)), ('trimmed_seq', 4)")
        for open in [{ try Examples.open(folder.journal) }, { try SQLiteJournal.read(folder.journal) }] {
            let error = #expect(throws: JournalError.self) { try open().close() }
            #expect(error?.kind == .corrupt)
        }
    }

    @Test func `or whose rows are missing before the requested position is reported`() throws {
        // As a snapshot in the middle of the damage asks for it.
        try change("DELETE FROM batches WHERE first_position = 3")
        let journal = try SQLiteJournal.read(folder.journal)
        defer { journal.close() }
        for position: UInt64 in [2, 3] {
            let error = #expect(throws: JournalError.self) { try journal.records(after: position, bytesMax: 1) }
            #expect(error?.kind == .corrupt)
        }
    }

    @Test func `in its last row is not opened for writing`() throws {
        try change("UPDATE batches SET last_position = \(Int64.max), last_seq = 6 WHERE first_position = 5")
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal).close() }
        #expect(error?.kind == .corrupt)
    }
}
