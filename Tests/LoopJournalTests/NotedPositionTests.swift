import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

@Suite struct `A journal knows how far it had come` {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// Each row is tied to the one before it, so that one which is missing in the middle is noticed; the last ones are tied to
    /// nothing but the position that was noted.
    @Test func `and is refused when its last rows are gone`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        for _ in 0..<3 { try appender.append(events: 2) }
        appender.journal.close()
        try Database(folder.journal, .write).execute("DELETE FROM batches WHERE first_position = 5")
        let error = #expect(throws: JournalError.self) { _ = try Examples.open(folder.journal) }
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.contains("the records up to 6 were there and are not") == true)
    }

    /// With durability `none` the records wait in memory; the row of a snapshot that came before them would outlive them, and the
    /// next start would continue from a state that no journal has.
    @Test func `and adds a snapshot only after the records that it stands for`() throws {
        var appender = Appender(try Examples.open(folder.journal, .none))
        try appender.append(events: 5)
        let write = try #require(appender.journal.snapshotWriter)
        try appender.journal.add(write(SnapshotEntry(position: 5, seq: Seq(5), fingerprint: 7), [1, 2, 3]))
        // The process is killed.
        appender.journal.abandon()
        let journal = try Examples.open(folder.journal, .none)
        #expect(try journal.snapshots().map(\.position) == [5])
        #expect(journal.position == 5)
        #expect(try journal.all() == appender.records)
        journal.close()
    }
}
