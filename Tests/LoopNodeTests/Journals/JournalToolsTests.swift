import Glibc
import LoopCluster
import LoopCollections
import LoopCore
import LoopJournal
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

@Suite struct `Commands that read a journal` {
    private let folder = TestFolder()
    private var path: String { "\(folder.path)/jobs.journal" }

    init() throws {
        let journal = try SQLiteJournal.open(path, loop: Jobs.name, newHistory: History(1))
        _ = try journal.append([.skipped(SessionID(1), number: 1)], through: 1)
        _ = try journal.append([.skipped(SessionID(1), number: 2)], through: 2)
        journal.close()
    }

    private func notes() throws -> [String] {
        let lines = Locked<[String]>([])
        let tools = JournalTools({ Jobs(ends: false) }, note: { line in lines.withLock { $0.append(line) } })
        for _ in 0..<2 { _ = try tools.history(.file(path), .initial, nil, nil) }
        return lines.withLock { $0 }
    }

    @Test func `have nothing to say of one that is whole and its user's alone`() throws {
        #expect(try notes() == [])
    }

    @Test func `say once that others may write to it`() throws {
        chmod(path, 0o666)
        #expect(
            try notes() == [
                "\(path) can be changed by other users (mode 666); if what is in it can be trusted: chmod go-w \(path)"
            ])
    }

    @Test func `find what a start is refused by`() async throws {
        try Database(path, .write).execute("DELETE FROM batches WHERE first_position = 2")
        #expect(try notes() == [])
        let tools = JournalTools({ Jobs(ends: false) }, note: { _ in })
        let error = await #expect(throws: JournalError.self) { try await tools.judge(.file(path)) }
        #expect(error?.reason.contains("the records up to 2 were there and are not") == true)
    }
}
