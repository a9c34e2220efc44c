import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// Files that are not as they were written: never a trap, never a record that was not appended, and nothing that is
/// missing without a word.
@Suite struct `A damaged journal` {
    static let pageBytes = 8192
    /// A page in the log, with its header.
    static let frameBytes = 24 + pageBytes

    let folder: Folder
    let appended: [Record]
    /// The files of a journal whose process was killed: some batches in the file, some in the log.
    let file: [UInt8]
    let log: [UInt8]

    init() throws {
        folder = try Folder(inMemory: true)
        var appender = Appender(try Examples.open(folder.journal))
        for size in [1, 20, 3] { try appender.append(events: size, others: 1, bytes: 200) }
        let write = try #require(appender.journal.snapshotWriter)
        try appender.journal.add(write(SnapshotEntry(position: 20, seq: Seq(18), fingerprint: 7), [1, 2, 3]))
        appender.journal.close()
        appender.journal = try Examples.open(folder.journal)
        for size in [2, 40, 1, 1, 1] { try appender.append(events: size, others: 1, bytes: 200) }
        appended = appender.records
        file = try folder.bytes("test.journal")
        log = try folder.bytes("test.journal-wal")
        appender.journal.close()
    }

    /// Opens files as they are given and reads everything.
    private func recover(_ file: [UInt8], _ log: [UInt8]) throws -> (records: [Record], report: [String]) {
        for name in folder.names where name != "test.journal.snapshots" { try folder.remove(name) }
        try folder.write(file, to: "test.journal")
        try folder.write(log, to: "test.journal-wal")
        let journal = try Examples.open(folder.journal)
        defer { journal.close() }
        #expect(journal.history == Examples.history)
        for entry in try journal.snapshots() where (try? journal.content(of: entry)) != nil {
            #expect(entry.position == 20 && entry.seq == Seq(18) && entry.fingerprint == 7)
        }
        return (try journal.all(), journal.openReport)
    }

    private func check(_ file: [UInt8], _ log: [UInt8], _ what: String) {
        do {
            let (records, report) = try recover(file, log)
            if !appended.starts(with: records) { Issue.record("\(what): records that were never appended") }
            if records.count < appended.count, report.isEmpty {
                Issue.record("\(what): only \(records.count) records, without a word")
            }
        } catch let error as JournalError {
            #expect([.corrupt, .foreign, .failedDisk].contains(error.kind), "\(what): \(error)")
        } catch {
            Issue.record("\(what): \(error)")
        }
    }

    @Test func `is recovered whole while nothing is wrong`() throws {
        let (records, report) = try recover(file, log)
        #expect(records == appended && report == [])
    }

    @Test func `with a bit changed in the file is reported, or gives what was appended`() {
        var random = SeededRandom(seed: 3)
        // The headers of the pages, whose every bit matters to SQLite, and many places between.
        var offsets = Array(0..<100)
        for page in 0..<file.count / Self.pageBytes { offsets += (0..<40).map { page * Self.pageBytes + $0 } }
        offsets += (0..<300).map { _ in Int.random(in: 0..<file.count, using: &random) }
        for offset in offsets {
            var changed = file
            changed[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            check(changed, log, "file, byte \(offset)")
        }
    }

    @Test func `with a bit changed in the log is reported, or gives what was appended`() {
        var random = SeededRandom(seed: 4)
        var offsets = Array(0..<32)
        for frame in 0..<(log.count - 32) / Self.frameBytes {
            offsets += (0..<24).map { 32 + frame * Self.frameBytes + $0 }
        }
        offsets += (0..<100).map { _ in Int.random(in: 0..<log.count, using: &random) }
        for offset in offsets {
            var changed = log
            changed[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            check(file, changed, "log, byte \(offset)")
        }
    }

    @Test func `that is cut anywhere is reported, or gives what was appended`() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<60 {
            let end = Int.random(in: 1..<file.count, using: &random)
            check(Array(file[..<end]), log, "file, cut at \(end)")
        }
        for _ in 0..<60 {
            let end = Int.random(in: 0..<log.count, using: &random)
            // A log that ends between two batches is as it was before the second: only the peers can know of that one.
            if (end - 32) % Self.frameBytes == 0 || end < 32 { continue }
            check(file, Array(log[..<end]), "log, cut at \(end)")
        }
    }

    @Test func `whose log has a changed byte before an acknowledged batch does not start`() throws {
        var changed = log
        changed[32 + 24 + 8000] ^= 1
        let error = #expect(throws: JournalError.self) { try recover(file, changed) }
        #expect(error?.kind == .corrupt)
        #expect(error?.reason.hasPrefix("at position 28, seq 25: ") == true)
        // The evidence is still there, and the remedy works.
        #expect(try folder.bytes("test.journal-wal") == changed)
        let reader = try SQLiteJournal.read(folder.journal)
        #expect(reader.startRefusal?.kind == .corrupt)
        #expect(try reader.all() == Array(appended[..<27]))
        reader.close()
        try SQLiteJournal.cut(folder.journal, loop: "test", after: Seq(24), newHistory: History(2), at: Examples.time)
        #expect(
            try Examples.open(folder.journal).all()
                == Array(appended[..<27]) + [.historyBegun(History(2), Examples.time)])
    }

    @Test func `whose last batch is torn starts without it, and says so`() throws {
        let (records, report) = try recover(file, Array(log.dropLast(1000)))
        #expect(records == Array(appended.dropLast(2)))
        #expect(report.count == 1 && report[0].hasPrefix("1 page of \(folder.journal)-wal behind record"))
        // The remains of the torn batch do not come back.
        let journal = try Examples.open(folder.journal)
        #expect(journal.openReport == [])
        #expect(try journal.all() == records)
    }

    @Test func `with a file that is not a journal is left alone`() throws {
        let folder = try Folder()
        for bytes in [Array("not a journal, but some other file".utf8), [1, 2]] {
            try folder.write(bytes, to: "test.journal")
            for attempt in [{ try Examples.open(folder.journal) }, { try SQLiteJournal.read(folder.journal) }] {
                #expect(#expect(throws: JournalError.self) { try attempt() }?.kind == .foreign)
            }
            #expect(folder.names == ["test.journal"])
            #expect(try folder.bytes("test.journal") == bytes)
        }
    }

    @Test func `of a newer version, and another program's database, are left alone`() throws {
        // The version of the schema is in the header of the file, at byte 60; the program's number at byte 68.
        for (offset, text) in [
            (63, "has version 3 of the journal's schema, this program knows 1"), (71, "another program"),
        ] {
            for name in folder.names where name != "test.journal.snapshots" { try folder.remove(name) }
            var changed = file
            changed[offset] ^= 2
            try folder.write(changed, to: "test.journal")
            let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal) }
            #expect(error?.kind == .foreign)
            #expect(error?.reason.contains(text) == true)
            #expect(try folder.bytes("test.journal") == changed)
        }
    }
}
