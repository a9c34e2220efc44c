import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

@Suite struct `A journal that is cut` {
    let folder: Folder
    let time = WallTime(milliseconds: 1_764_000_500_000)

    init() throws { folder = try Folder() }

    private func cut(_ seq: UInt64, isForced: Bool = false) throws {
        try SQLiteJournal.cut(
            folder.journal, loop: "test", after: Seq(seq), newHistory: History(99), at: time, isForced: isForced)
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 9, 10])
    func `keeps the events up to a seq, what stands before the next event, and says that a new history begins`(
        seq: UInt64
    ) throws {
        var appender = Appender(try Examples.open(folder.journal))
        for size in [1, 3, 0, 2, 4] { try appender.append(events: size, others: 2) }
        appender.journal.close()
        try cut(seq)
        let end =
            appender.records.firstIndex { if case .event(let event) = $0 { event.seq.value > seq } else { false } }
            ?? appender.records.count
        let journal = try Examples.open(folder.journal)
        #expect(try journal.all() == Array(appender.records[..<end]) + [.historyBegun(History(99), time)])
        #expect(journal.history == Examples.history)
        #expect(journal.openReport == [])
        _ = try journal.append([.event(Examples.event(seq + 1))], through: UInt64(end) + 2)
        journal.close()
        // Nothing is thrown away.
        #expect(try Examples.open(folder.journal + ".damaged").all() == appender.records)
    }

    @Test func `refuses a seq that is not there`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        try appender.append(events: 3)
        appender.journal.close()
        let error = #expect(throws: JournalError.self) { try cut(4) }
        #expect(error?.reason == "its newest event is 3")
        #expect(folder.names.filter { $0.contains("cut") || $0.contains("damaged") } == [])
        #expect(try Examples.open(folder.journal).all() == appender.records)
    }

    @Test func `is not cut while a reducer has it`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        try appender.append(events: 3)
        #expect(#expect(throws: JournalError.self) { try cut(1) }?.kind == .locked)
    }

    @Test func `keeps the snapshots that it still covers`() throws {
        var appender = Appender(try Examples.open(folder.journal))
        let write = try #require(appender.journal.snapshotWriter)
        for _ in 0..<3 {
            try appender.append(events: 5)
            try appender.journal.add(
                write(SnapshotEntry(position: appender.journal.position, seq: Seq(appender.seq), fingerprint: 1), [1]))
        }
        _ = try appender.journal.trim(before: Seq(6))
        appender.journal.close()
        #expect(throws: JournalError.self) { try cut(4) }
        try cut(12, isForced: true)
        let journal = try Examples.open(folder.journal)
        #expect(try journal.snapshots().map(\.position) == [10, 5])
        for entry in try journal.snapshots() { #expect(try journal.content(of: entry) == [1]) }
        #expect(try journal.all(after: 5) == Array(appender.records[5..<12]) + [.historyBegun(History(99), time)])
    }

    /// The remedy that the error names works, wherever the damage is.
    @Test(arguments: 0..<5)
    func `is whole again after damage in its middle`(damaged: Int) throws {
        var appender = Appender(try Examples.open(folder.journal))
        for size in [2, 2, 2, 2, 2] { try appender.append(events: size, bytes: 100) }
        appender.journal.close()
        var bytes = try folder.bytes("test.journal")
        // The bytes of one event are found in the file, and one of them is changed.
        let event = Array(Examples.event(UInt64(damaged * 2 + 2), bytes: 100).bytes)
        let start = try #require((0..<bytes.count - 100).first { bytes[$0..<$0 + 100].elementsEqual(event) })
        bytes[start + 50] ^= 1
        try folder.write(bytes, to: "test.journal")

        let error = #expect(throws: JournalError.self) {
            let journal = try Examples.open(folder.journal)
            defer { journal.close() }
            _ = try journal.all()
        }
        let kept = UInt64(damaged * 2)
        let keeping = kept == 0 ? "keep no event" : "keep events 1 to \(kept)"
        #expect(error?.kind == .corrupt)
        #expect(
            error?.description
                == "the journal could not be read: at position \(kept + 1), seq \(kept + 1): the bytes are not those that "
                + "were written (checksum); put the copy that has them in its place, or \(keeping) and begin "
                + "a new history: loop-reducer test trim --after \(kept) \(folder.journal)")
        try cut(kept)
        let journal = try Examples.open(folder.journal)
        #expect(
            try journal.all() == Array(appender.records[..<Int(kept)]) + [.historyBegun(History(99), time)])
    }

    @Test(arguments: ["replacement", "file moved", "log moved"])
    func `is finished by the next process, wherever the process that cut it ended`(state: String) throws {
        var appender = Appender(try Examples.open(folder.journal))
        try appender.append(events: 5)
        // As the files of a process that was killed: with a log.
        let file = try folder.bytes("test.journal")
        let log = try folder.bytes("test.journal-wal")
        appender.journal.close()
        try cut(2)
        let replacement = try folder.bytes("test.journal")
        for name in folder.names { try folder.remove(name) }

        try folder.write(replacement, to: "test.journal.cut")
        try folder.write(file, to: state == "replacement" ? "test.journal" : "test.journal.damaged")
        try folder.write(log, to: state == "log moved" ? "test.journal.damaged-wal" : "test.journal-wal")
        if state == "replacement" {
            #expect(throws: JournalError.self) { try SQLiteJournal.read(folder.journal) }
        }
        let journal = try Examples.open(folder.journal)
        #expect(try journal.all() == Array(appender.records[..<2]) + [.historyBegun(History(99), time)])
        #expect(journal.openReport.count == 1)
        journal.close()
        #expect(try Examples.open(folder.journal + ".damaged").all() == appender.records)
    }
}
