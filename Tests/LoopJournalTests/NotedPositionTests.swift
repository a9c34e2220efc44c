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
}
