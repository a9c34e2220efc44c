import LoopCluster
import LoopCore
import LoopJournal
import LoopPostgres
import LoopWire
import TestDatabase
import TestFolders
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A journal that is moved` {
    private let test: TestJournal
    private let folder = TestFolder()

    init() async throws { test = try await TestJournal() }

    private var file: String { "\(folder.path)/test.journal" }

    private func openFile(_ path: String) throws -> SQLiteJournal {
        try SQLiteJournal.open(path, loop: "test", newHistory: History(9))
    }

    /// Fills a journal with records, three snapshots, and a beginning that was trimmed.
    private func fill(_ journal: inout some Journal) throws -> [Record] {
        var records: [Record] = []
        for round in 1...4 as ClosedRange<UInt64> {
            for number in 1...5 as ClosedRange<UInt64> {
                let batch = [record(round), record(number)]
                records += batch
                _ = try journal.append(RecordLog(batch), through: UInt64(records.count))
            }
            let write = try #require(journal.snapshotWriter)
            let entry = SnapshotEntry(position: UInt64(records.count), seq: .initial, fingerprint: .max - round)
            try journal.add(try write(entry, [UInt8](repeating: UInt8(round), count: 300_000)))
        }
        _ = try journal.trim(before: Seq(100))
        return records
    }

    @Test func `goes from a file into a database and back with everything that it has`() throws {
        var original = try openFile(file)
        let records = try fill(&original)
        let (snapshots, rest) = (try original.snapshots(), try original.records(after: 30, bytesMax: 1 << 20))
        #expect(rest == Array(records[30...]))
        #expect(#expect(throws: JournalError.self) { try JournalMove.file(file, to: test.url) }?.kind == .locked)
        original.close()

        let moved = try JournalMove.file(file, to: test.url)
        #expect(moved.loop == "test" && moved.position == 40)
        let refusal = #expect(throws: JournalError.self) { try openFile(file) }
        #expect(refusal?.kind == .foreign)
        #expect(refusal?.reason == "\(file) is being moved, or was moved, to \(test.url)")
        // A second call finds that the journal has been moved.
        #expect(try JournalMove.file(file, to: test.url) == moved)

        let memory = JournalMemory()
        let copy = try test.open(memory)
        #expect(copy.history == History(9) && copy.position == 40)
        #expect(try copy.records(after: 30, bytesMax: 1 << 20) == rest)
        #expect(try copy.snapshots() == snapshots)
        for entry in snapshots { #expect(try copy.content(of: entry).count == 300_000) }
        try copy.append([record(77)])
        copy.close()

        let back = "\(folder.path)/back.journal"
        #expect(try JournalMove.database(test.url, loop: nil, to: back).position == 41)
        #expect(#expect(throws: JournalError.self) { try test.open(memory) }?.kind == .foreign)
        let again = try openFile(back)
        #expect(again.history == History(9) && again.openReport == [])
        #expect(try again.records(after: 30, bytesMax: 1 << 20) == rest + [record(77)])
        #expect(try again.snapshots() == snapshots)
        for entry in snapshots { #expect(try again.content(of: entry).count == 300_000) }
        again.close()
        // The one that moved away makes room for the one that comes back.
        #expect(try JournalMove.file(back, to: test.url).position == 41)
        try test.open().close()
    }

    @Test func `never takes the place of another one`() throws {
        try test.open().close()
        try openFile(file).close()
        #expect(#expect(throws: JournalError.self) { try JournalMove.file(file, to: test.url) }?.kind == .foreign)
        #expect(
            #expect(throws: JournalError.self) { try JournalMove.database(test.url, loop: "test", to: file) }?.kind
                == .foreign)
        // Neither is marked.
        try openFile(file).close()
        try test.open().close()
    }

    /// The process that moves the journal ends after it has marked the source. No process can then open the source, and the next
    /// call completes the move.
    @Test func `is finished by the same call, wherever the one before ended`() throws {
        var original = try openFile(file)
        _ = try fill(&original)
        try original.noteMove(to: test.url.description)
        original.close()
        #expect(#expect(throws: JournalError.self) { try openFile(file) }?.kind == .foreign)
        #expect(try JournalMove.file(file, to: test.url).position == 40)

        let back = "\(folder.path)/back.journal"
        try test.run("UPDATE loop_journal SET moved_to = '\(back)'")
        let refusal = #expect(throws: JournalError.self) { try test.open() }
        #expect(refusal?.reason == "the journal of test in \(test.url) is being moved, or was moved, to \(back)")
        folder.write("back.journal.arriving", "half")
        #expect(try JournalMove.database(test.url, loop: "test", to: back).position == 40)
        #expect(try openFile(back).position == 40)
    }

    @Test func `of a database with several loops must be named`() throws {
        for loop in ["test", "other"] { try test.open { $0.loop = loop }.close() }
        let error = #expect(throws: JournalError.self) { try JournalMove.database(test.url, loop: nil, to: file) }
        #expect(error?.description.contains("journals of other, test; say which one is meant: --loop NAME") == true)
        #expect(try JournalMove.database(test.url, loop: "test", to: file).loop == "test")
    }
}
