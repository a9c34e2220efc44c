import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopNode
import LoopWire
import Testing

@Suite(.serialized) struct `A journal on a disk that` {
    /// Appends until it fails, and gives the error.
    private func fill(_ appender: inout Appender, bytes: Int) throws -> JournalError {
        for _ in 0..<100_000 {
            do { try appender.append(events: 5, bytes: bytes) } catch let error as JournalError { return error }
        }
        throw SmallDisk.Failure(description: "the disk did not become full")
    }

    @Test(arguments: [(Durability.fsync, 50), (.fsync, 700), (.fsync, 20_000), (.os, 700)])
    func `becomes full refuses what it cannot keep, and keeps what was acknowledged`(
        durability: Durability, bytes: Int
    ) throws {
        let disk = try SmallDisk(kilobytes: 1024)
        let path = disk.path + "/test.journal"
        var appender = Appender(try Examples.open(path, durability))
        let error = try fill(&appender, bytes: bytes)
        #expect(error.kind == .full)
        #expect(error.remedy == "make room on the disk")
        // Nothing more is written, whatever happens to the disk.
        let again = #expect(throws: JournalError.self) { try appender.append(events: 1, bytes: 1) }
        #expect(again?.kind == .full)
        #expect(again?.reason.contains("before") == true)
        #expect(appender.journal.position == UInt64(appender.records.count))
        #expect(try appender.journal.all() == appender.records)
        appender.journal.close()

        // With no more room it may not start, but says why.
        do {
            let journal = try Examples.open(path, durability)
            #expect(try journal.all().starts(with: appender.records))
            journal.close()
        } catch let error as JournalError {
            #expect(error.kind == .full, "\(error)")
        }
        // With room it goes on where it was.
        let folder = try Folder()
        for name in try Folder.names(disk.path) {
            try FileManager.default.copyItem(atPath: disk.path + "/" + name, toPath: folder.path + "/" + name)
        }
        let journal = try Examples.open(folder.journal)
        let records = try journal.all()
        // The batch that failed was not acknowledged; it is there whole, or not at all.
        #expect(records.starts(with: appender.records))
        #expect(records.count <= appender.records.count + 5)
        _ = try journal.append([.skipped(SessionID(1), number: 1)], through: UInt64(records.count) + 1)
    }

    /// As a start with `--wait` opens it: what may pass is waited for.
    @Test(arguments: [true, false])
    func `is full is waited for by a start that waits`(waits: Bool) throws {
        let disk = try SmallDisk(kilobytes: 1024)
        let filler = URL(fileURLWithPath: disk.path + "/filler")
        try Data(count: 1024 << 10).write(to: filler)
        var opening = JournalPlace.Opening(
            loop: "test", durability: .os, waits: waits, isStopping: { false }, note: { _ in })
        opening.waitsForFile = true
        opening.whileWaiting = { owner in
            #expect(owner.obstacle?.kind == .full)
            try? FileManager.default.removeItem(at: filler)
            return true
        }
        let place = JournalPlace.file(disk.path + "/test.journal")
        guard waits else {
            #expect(#expect(throws: JournalError.self) { try place.open(opening) }?.kind == .full)
            return
        }
        var journal = try place.open(opening)
        #expect(!FileManager.default.fileExists(atPath: filler.path))
        journal.close()
    }

    @Test func `becomes full can have no new journal`() throws {
        let disk = try SmallDisk(kilobytes: 16)
        try Data(count: 16 << 10).write(to: URL(fileURLWithPath: disk.path + "/other"))
        let error = #expect(throws: JournalError.self) { try Examples.open(disk.path + "/test.journal") }
        #expect(error?.kind == .full)
    }

    @Test func `becomes full while a snapshot is written keeps the older one`() throws {
        let disk = try SmallDisk(kilobytes: 1024)
        let path = disk.path + "/test.journal"
        var appender = Appender(try Examples.open(path))
        try appender.append(events: 5)
        let write = try #require(appender.journal.snapshotWriter)
        let first = try write(SnapshotEntry(position: 5, seq: Seq(5), fingerprint: 1), [1])
        try appender.journal.add(first)
        try appender.append(events: 5)
        let error = #expect(throws: JournalError.self) {
            try write(SnapshotEntry(position: 10, seq: Seq(10), fingerprint: 1), [UInt8](repeating: 1, count: 2 << 20))
        }
        #expect(error?.kind == .full)
        // What there was of it is gone, and the journal goes on.
        #expect(try Folder.names(path + ".snapshots").count == 1)
        try appender.append(events: 5)
        appender.journal.close()
        let journal = try Examples.open(path)
        #expect(try journal.snapshots() == [first])
        #expect(try journal.all() == appender.records)
    }

    @Test func `becomes read-only says so, can be read, and goes on once it can be written`() throws {
        let disk = try SmallDisk(kilobytes: 4096)
        let path = disk.path + "/test.journal"
        var appender = Appender(try Examples.open(path))
        try appender.append(events: 5)
        appender.journal.close()
        try disk.makeReadOnly()
        let error = #expect(throws: JournalError.self) { try Examples.open(path) }
        #expect(error?.kind == .readOnly)
        #expect(error?.remedy == "make the file and its folder writable, or choose another: --journal FILE")
        #expect(#expect(throws: JournalError.self) { try Examples.open(disk.path + "/new.journal") }?.kind == .readOnly)
        let reader = try SQLiteJournal.read(path)
        #expect(try reader.all() == appender.records)
        reader.close()
        try disk.makeWritable()
        #expect(try Examples.open(path).all() == appender.records)
    }

    @Test func `has no such folder says so`() throws {
        let error = #expect(throws: JournalError.self) { try Examples.open("/nowhere/test.journal") }
        #expect(error?.kind == .readOnly)
        #expect(error?.reason == "No such file or directory")
        #expect(error?.remedy == "make the folder, or choose another file: --journal FILE")
        #expect(#expect(throws: JournalError.self) { try SQLiteJournal.read("/nowhere/x") }?.kind == .readOnly)
    }
}

@Suite struct `What a receipt promises` {
    let folder: Folder

    init() throws { folder = try Folder() }

    /// The files as they are at this moment: what is left if the process ends now.
    private func killed() throws -> SQLiteJournal {
        let copy = folder.path + "/killed"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for name in ["test.journal", "test.journal-wal"] {
            try FileManager.default.copyItem(atPath: folder.path + "/" + name, toPath: copy + "/" + name)
        }
        return try Examples.open(copy + "/test.journal")
    }

    @Test(arguments: Durability.allCases)
    func `is that the records outlive the process`(durability: Durability) throws {
        var appender = Appender(try Examples.open(folder.journal, durability))
        for size in [1, 5, 2] {
            try appender.append(events: size, others: 1)
            #expect(try killed().all() == appender.records)
        }
    }
}

@Suite struct `The right to write a journal` {
    let folder: Folder

    init() throws { folder = try Folder() }

    @Test func `is refused while another process has it, with that one's number`() throws {
        let journal = try Examples.open(folder.journal)
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal) }
        #expect(error?.kind == .locked)
        let own = ProcessInfo.processInfo.processIdentifier
        #expect(error?.reason == "process \(own) has it (\(folder.journal)-lock)")
        #expect(error?.remedy == "stop the other process; a reducer with --wait waits for its end")
        journal.close()
        let holder = try LockHolder(folder.journal + "-lock")
        #expect(#expect(throws: JournalError.self) { try Examples.open(folder.journal) }?.kind == .locked)
        // It goes with the process, however that ends.
        holder.kill()
        try SQLiteJournal.open(folder.journal, loop: "test", newHistory: History(1)) { _ in true }.close()
    }

    @Test func `can be waited for, and waiting can be given up`() throws {
        let holder = try LockHolder(folder.journal + "-lock")
        var tries = 0
        let error = #expect(throws: JournalError.self) {
            try SQLiteJournal.open(folder.journal, loop: "test", newHistory: History(1)) { _ in
                tries += 1
                return tries < 3
            }
        }
        #expect(error?.kind == .locked && tries == 3)
        let journal = try SQLiteJournal.open(folder.journal, loop: "test", newHistory: History(1)) { error in
            #expect(error.kind == .locked)
            tries += 1
            if tries == 5 { holder.kill() }
            return true
        }
        #expect(tries >= 5)
        #expect(journal.position == 0)
    }
}
