import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What a journal has lost is told by what is left: the note of its end, the files of its snapshots, the file without its log.
@Suite struct `The traces of a journal` {
    private let folder: Folder
    private var appender: Appender

    init() throws {
        folder = try Folder()
        appender = Appender(try Examples.open(folder.journal))
    }

    private mutating func snapshot() throws -> SnapshotEntry {
        let write = try #require(appender.journal.snapshotWriter)
        let entry = try write(
            SnapshotEntry(position: appender.journal.position, seq: Seq(appender.seq), fingerprint: 7), [1, 2, 3])
        try appender.journal.add(entry)
        return entry
    }

    /// The files of snapshots that were set aside.
    private func lost() throws -> [String] {
        try Folder.names(folder.journal + ".snapshots").filter { $0.hasSuffix(".lost") }
    }

    /// What a start says, and what a look says, which must be the same.
    private func refusal() throws -> JournalError? {
        let before = folder.names
        let look = try? SQLiteJournal.read(folder.journal)
        let seen = look?.startRefusal
        look?.close()
        do throws(JournalError) {
            try SQLiteJournal.open(folder.journal, loop: "test", newHistory: History(9)).close()
        } catch {
            if let look, look.startRefusal == nil { Issue.record("a look has found nothing: \(error)") }
            #expect(look == nil || seen?.kind == error.kind)
            // Nothing that proves it is removed.
            #expect(Set(before).isSubset(of: folder.names))
            return error
        }
        #expect(seen == nil)
        return nil
    }

    @Test(arguments: [true, false])
    mutating func `prove that its log is lost`(hasNote: Bool) throws {
        for _ in 0..<3 {
            try appender.append(events: 5)
            _ = try snapshot()
        }
        appender.journal.abandon()
        try folder.remove("test.journal-wal")
        // The note may be lost with it.
        if !hasNote { try folder.remove("test.journal-end") }
        let error = try #require(try refusal())
        #expect(error.kind == .corrupt)
        #expect(error.reason.contains("there is no \(folder.journal)-wal"))
        // The files of a copy that was made one file after the other look the same.
        #expect(
            error.reason.contains(
                "either \(folder.journal)-wal is lost (put it back), or \(folder.journal) was copied before"))
        #expect(error.remedy.contains("trim --after 0"))
        #expect(try Folder.names(folder.journal + ".snapshots").count == 3)
        // The remedy works, and keeps what proves the loss.
        try SQLiteJournal.cut(folder.journal, loop: "test", after: .initial, newHistory: History(3), at: Examples.time)
        #expect(try refusal() == nil)
        #expect(try lost().count == 3)
        #expect(try refusal() == nil)
    }

    @Test mutating func `prove that its log was cut off anywhere`() throws {
        for _ in 0..<3 { try appender.append(events: 5, bytes: 3000) }
        appender.journal.abandon()
        let log = try folder.bytes("test.journal-wal")
        let file = try folder.bytes("test.journal")
        let note = try folder.bytes("test.journal-end")
        for count in stride(from: 0, to: log.count, by: 1001) {
            try folder.write(file, to: "test.journal")
            try folder.write(Array(log[..<count]), to: "test.journal-wal")
            try folder.write(note, to: "test.journal-end")
            try? folder.remove("test.journal-shm")
            #expect(try refusal()?.kind == .corrupt, "cut to \(count) bytes")
        }
    }

    @Test mutating func `prove that its log is another's`() throws {
        for _ in 0..<3 { try appender.append(events: 5) }
        appender.journal.abandon()
        let other = try Folder()
        let journal = try SQLiteJournal.open(other.journal, loop: "test", newHistory: History(77))
        _ = try journal.append([.skipped(SessionID(1), number: 1)], through: 1)
        journal.abandon()
        try folder.write(other.bytes("test.journal-wal"), to: "test.journal-wal")
        #expect(try refusal()?.kind == .corrupt)
    }

    @Test mutating func `prove that its log is an older one`() throws {
        try appender.append(events: 5)
        appender.journal.abandon()
        let log = try folder.bytes("test.journal-wal")
        appender.journal = try Examples.open(folder.journal)
        try appender.append(events: 5)
        appender.journal.close()
        try folder.write(log, to: "test.journal-wal")
        try folder.remove("test.journal-end")
        #expect(try refusal()?.kind == .corrupt)
    }

    /// The file was moved away from the process that wrote the log, and another has written it since.
    @Test(arguments: [1, 3])
    mutating func `prove that its log is of another branch of its history`(batches: Int) throws {
        try appender.append(events: 5)
        appender.journal.close()
        let file = try folder.bytes("test.journal")
        var other = appender
        other.journal = try Examples.open(folder.journal)
        for _ in 0..<batches { try other.append(events: 1, others: 5, bytes: 3000) }
        other.journal.abandon()
        let log = try folder.bytes("test.journal-wal")
        for name in folder.names { try folder.remove(name) }
        try folder.write(file, to: "test.journal")
        appender.journal = try Examples.open(folder.journal)
        try appender.append(events: 6)
        appender.journal.close()
        try folder.write(log, to: "test.journal-wal")
        try folder.remove("test.journal-end")
        let error = try #require(try refusal())
        #expect(error.kind == .corrupt)
        #expect(error.reason.contains("different records 11"))
    }

    @Test(arguments: ["test.journal-end", "test.journal.snapshots", "test.journal-wal"])
    mutating func `prove that the file itself is lost`(trace: String) throws {
        try appender.append(events: 5)
        _ = try snapshot()
        appender.journal.abandon()
        for name in folder.names where name != trace { try folder.remove(name) }
        let error = try #require(try refusal())
        #expect(error.reason.contains("there is no \(folder.journal), or it is empty"))
        #expect(folder.names.contains(trace))
        try folder.write([], to: "test.journal")
        #expect(try refusal()?.kind == .corrupt)
    }

    @Test(arguments: ["test.journal-end", "test.journal.snapshots", "test.journal-wal"], [0, 0xff] as [UInt8])
    mutating func `prove that the beginning of the file was overwritten`(trace: String, byte: UInt8) throws {
        try appender.append(events: 5)
        _ = try snapshot()
        appender.journal.abandon()
        var bytes = try folder.bytes("test.journal")
        bytes.replaceSubrange(0..<16, with: [UInt8](repeating: byte, count: 16))
        try folder.write(bytes, to: "test.journal")
        for name in folder.names where name != "test.journal" && name != trace { try folder.remove(name) }
        let error = try #require(try refusal())
        #expect(error.kind == .corrupt)
        #expect(error.reason.hasPrefix("\(folder.journal) is no journal any more, but \(folder.journal)"))
        #expect(folder.names.contains(trace))
    }

    @Test mutating func `of one that was removed with all its files are none`() throws {
        try appender.append(events: 5)
        _ = try snapshot()
        appender.journal.close()
        for name in folder.names { try folder.remove(name) }
        #expect(try refusal() == nil)
    }

    @Test mutating func `of another journal say nothing of this one`() throws {
        try appender.append(events: 5)
        appender.journal.close()
        let note = try folder.bytes("test.journal-end")
        for name in folder.names { try folder.remove(name) }
        try SQLiteJournal.open(folder.journal, loop: "test", newHistory: History(77)).close()
        try folder.write(note, to: "test.journal-end")
        #expect(try refusal() == nil)
    }

    /// A system that starts again has lost what was not synced.
    @Test mutating func `prove nothing of what was not synced before another start of the system`() throws {
        appender.journal.close()
        appender.journal = try Examples.open(folder.journal, .os)
        let (file, log) = (try folder.bytes("test.journal"), try folder.bytes("test.journal-wal"))
        try appender.append(events: 5)
        let write = try #require(appender.journal.snapshotWriter)
        _ = try write(SnapshotEntry(position: 5, seq: Seq(5), fingerprint: 7), [1])
        appender.journal.abandon()
        let note = try folder.bytes("test.journal-end")
        func lose(_ note: [UInt8]?) throws {
            try folder.write(file, to: "test.journal")
            try folder.write(log, to: "test.journal-wal")
            try? folder.remove("test.journal-shm")
            try? folder.remove("test.journal-end")
            if let note { try folder.write(note, to: "test.journal-end") }
        }
        // The system is the same: the process has lost what the system had.
        try lose(note)
        #expect(try refusal()?.kind == .corrupt)
        // Without the note, the snapshot alone may be what has outlived a loss of power.
        try lose(nil)
        let journal = try Examples.open(folder.journal, .os)
        #expect(journal.position == 0)
        #expect(journal.openReport.contains { $0.contains("was made of the records up to 5") })
        #expect(try lost() == Folder.names(folder.journal + ".snapshots"))
        journal.close()
        #expect(try refusal() == nil)
    }

    /// A loss of power at that moment would leave a note of rows that may be gone.
    @Test mutating func `promise no more than before until a start has synced the rows`() throws {
        appender.journal.close()
        appender.journal = try Examples.open(folder.journal, .os)
        try appender.append(events: 5)
        appender.journal.abandon()
        let note = try folder.bytes("test.journal-end")
        let recorder = Recorder(folder.path)
        defer { recorder.end() }
        recorder.failSync(after: 0)
        #expect(throws: JournalError.self) {
            try SQLiteJournal.open(
                folder.journal, loop: "test", durability: .fsync, newHistory: History(9), whileLocked: nil,
                layer: recorder.layer)
        }
        #expect(try folder.bytes("test.journal-end") == note)
    }

    @Test mutating func `let a run that was set aside be followed by the next`() throws {
        for run in 1...3 {
            try appender.append(events: 5)
            _ = try snapshot()
            appender.journal.close()
            #expect(try SQLiteJournal.setAside(folder.journal) != nil)
            let previous = try SQLiteJournal.open(folder.journal + ".previous", loop: "test", newHistory: History(9))
            #expect(previous.position == 5 && previous.openReport == [], "run \(run)")
            #expect(try previous.snapshots().count == 1)
            previous.close()
            appender = Appender(try Examples.open(folder.journal))
        }
    }
}
