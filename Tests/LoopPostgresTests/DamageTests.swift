import Foundation
import LoopCluster
import LoopCore
import LoopNode
import LoopPostgres
import LoopWire
import Testing

/// Fifteen rows of ten events each, with snapshots at 60, 90 and 130. The row that begins with 71 is missing.
@Suite(.timeLimit(.minutes(2))) struct `Damage in a database before the snapshot from which a start continues` {
    private let test: TestJournal

    init() async throws {
        test = try await TestJournal()
        let journal = try test.open()
        for last in stride(from: UInt64(10), through: 150, by: 10) {
            try journal.append((last - 9...last).map(Self.event))
            guard [60, 90, 130].contains(last) else { continue }
            let write = try #require(journal.snapshotWriter)
            try journal.add(write(SnapshotEntry(position: last, seq: Seq(last), fingerprint: 7), [7]))
        }
        journal.close()
        try test.run("DELETE FROM loop_batch WHERE first_position = 71")
    }

    private static func event(_ seq: UInt64) -> Record {
        .event(
            EventRecord(
                seq: Seq(seq), time: WallTime(milliseconds: 1), session: .none, number: 0, effect: nil, attempt: .none,
                wantsSeq: false, bytes: [1]))
    }

    @Test func `has a remedy that loses nothing later, whatever was read`() throws {
        let journal = try PostgresJournal.read(test.url, loop: "test")
        defer { journal.close() }
        let reads: [() throws -> Void] = [
            { _ = try journal.records(after: 70, bytesMax: 1) },
            { _ = try journal.page(after: 70, checksum: nil, bytesMax: 1) },
            { _ = try journal.position(before: Seq(75)) },
        ]
        for read in reads {
            let error = try #require(throws: JournalError.self) { try read() }
            #expect(error.remedy.contains("a start continues from the snapshot at seq 130"))
            #expect(error.remedy.hasSuffix("loop-reducer test trim --before 131 \(test.url)"))
        }
    }

    @Test func `is no reason to cut off what is after it, unless that is forced`() throws {
        let place = try JournalPlace("\(test.url)", engines: [.postgres])
        let cut = try #require(place.cut)
        let error = try #require(throws: JournalError.self) { try cut("test", Seq(60), false) }
        #expect(error.kind == .misuse)
        #expect(error.reason == "the snapshot at seq 130 is intact, so events up to seq 150 need not be lost")
        #expect(try #require(throws: JournalError.self) { try cut("test", Seq(80), true) }.kind == .corrupt)
        try cut("test", Seq(60), true)
        let records = try test.records()
        #expect(records.dropLast() == (1...60).map(Self.event))
        guard case .historyBegun? = records.last else {
            Issue.record("it ends with \(String(describing: records.last))")
            return
        }
    }

    @Test func `is cut a second time only when what the first cut has kept has another name`() throws {
        let cut = try #require(JournalPlace("\(test.url)", engines: [.postgres]).cut)
        try cut("test", Seq(60), true)
        let error = try #require(throws: JournalError.self) { try cut("test", Seq(20), true) }
        #expect(error.kind == .misuse && error.reason.contains("\(test.url)#damaged"), "\(error)")
        let count = "SELECT count(*) FROM loop_journal WHERE kept_as LIKE 'damaged%'"
        #expect(try test.run(count) == 1)
        // The remedy is a statement, behind a colon.
        let start = try #require(error.remedy.range(of: "UPDATE")?.lowerBound)
        _ = try test.run(String(error.remedy[start...]))
        try cut("test", Seq(20), true)
        #expect(try test.run(count) == 2)
    }

    @Test func `is not cut where no start could go on`() throws {
        let journal = try test.open()
        #expect(try journal.trim(before: Seq(131)) == Seq(91))
        journal.close()
        try test.run("UPDATE loop_snapshot_piece SET content = '\\x00' WHERE position = 90")
        let cut = try #require(JournalPlace("\(test.url)", engines: [.postgres]).cut)
        let error = try #require(throws: JournalError.self) { try cut("test", Seq(100), true) }
        #expect(error.reason.contains("no snapshot up to it is intact"), "\(error)")
        #expect(try test.run("SELECT count(*) FROM loop_journal WHERE kept_as = 'damaged'") == 0)
        #expect(try test.run("SELECT count(*) FROM loop_journal WHERE kept_as = 'current' AND released") == 1)
    }
}
