import Foundation
import LoopCluster
import Testing

@testable import LoopJournal

@Suite struct `A write-ahead log` {
    /// It is read in pieces, so no memory is needed for all of it. This one ends early, because it has no header.
    @Test func `may be larger than what a process reads of a file`() throws {
        let folder = try Folder()
        let path = folder.journal + "-wal"
        try folder.write([], to: "test.journal-wal")
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seek(toOffset: UInt64(Disk.fileBytesMax))
        try file.write(contentsOf: [1])
        try file.close()
        #expect(try Disk().inspectLog(path).finding == .whole)
        #expect(throws: JournalError.self) { try Disk().read(path) }
    }
}
