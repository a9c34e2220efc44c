import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What is written to a file that has lost its name is lost: it is noticed before anything is acknowledged.
@Suite struct `A journal whose files are moved while it is open` {
    private let folder: Folder
    private var appender: Appender

    init() throws {
        folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/in", withIntermediateDirectories: true)
        appender = Appender(try Examples.open(folder.path + "/in/test.journal"))
        try appender.append(events: 5)
    }

    private var path: String { folder.path + "/in/test.journal" }

    static let losses: [String] = ["", "-wal", "-shm", "-lock"]

    @Test(arguments: losses, [true, false])
    mutating func `acknowledges nothing more`(ending: String, isRemoved: Bool) throws {
        if isRemoved {
            try FileManager.default.removeItem(atPath: path + ending)
        } else {
            try FileManager.default.moveItem(atPath: path + ending, toPath: folder.path + "/elsewhere")
        }
        var error: JournalError?
        do { try appender.append(events: 1) } catch let found as JournalError { error = found }
        #expect(error?.kind == .moved)
        #expect(error?.reason == "\(path)\(ending) was removed or renamed while it was open")
        // Only the file itself is waited for.
        #expect(error?.remedy.contains("as soon as it is there") == (ending == ""))
        #expect(throws: JournalError.self) { try appender.journal.flush() }
        appender.journal.close()
    }

    /// The file is emptied, and perhaps written again, or the log is as short as before the newest row.
    @Test(arguments: ["", "-wal"], [0, 4096])
    mutating func `notices that one of them was cut`(ending: String, size: off_t) throws {
        try appender.append(events: 5)
        #expect(truncate(path + ending, size) == 0)
        let error = #expect(throws: JournalError.self) { try appender.journal.prove() }
        #expect(error?.kind == .moved)
        #expect(error?.reason.hasPrefix("\(path)\(ending) was cut from ") == true)
        #expect(error?.remedy.contains("as soon as it is there") == false)
        #expect(throws: JournalError.self) { try appender.append(events: 1) }
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        appender.journal.close()
        // The end of the process leaves what is there.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == log)
    }

    /// A row that is appended makes the log as long as before, with a hole.
    @Test(arguments: [0, 32, 4096])
    mutating func `appends nothing to a log that was cut`(size: off_t) throws {
        try appender.append(events: 5)
        #expect(truncate(path + "-wal", size) == 0)
        let error = #expect(throws: JournalError.self) { try appender.append(events: 1) }
        #expect(error?.kind == .moved)
        #expect(error?.reason.hasPrefix("\(path)-wal was cut from ") == true)
        #expect(error?.remedy.contains("put it back under its name") == false)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count == size)
        appender.journal.close()
    }

    @Test(arguments: losses)
    mutating func `notices without a record that one of them has another in its place`(ending: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + ending))
        try FileManager.default.moveItem(atPath: path + ending, toPath: folder.path + "/elsewhere")
        try bytes.write(to: URL(fileURLWithPath: path + ending))
        let error = #expect(throws: JournalError.self) { try appender.journal.flush() }
        #expect(error?.kind == .moved)
        #expect(error?.reason == "another file is at \(path)\(ending) now")
        #expect(error?.remedy.contains("as soon as it is there") == false)
        #expect(throws: JournalError.self) { try appender.journal.prove() }
    }

    @Test mutating func `notices that its folder was moved, and goes on when it is back`() throws {
        try FileManager.default.moveItem(atPath: folder.path + "/in", toPath: folder.path + "/out")
        #expect(throws: JournalError.self) { try appender.journal.flush() }
        appender.journal.close()
        func open() throws(JournalError) -> SQLiteJournal {
            try SQLiteJournal.open(path, loop: "test", newHistory: History(9), expected: Examples.history)
        }
        let away = #expect(throws: JournalError.self) { try open() }
        #expect(away?.kind == .moved)
        #expect(away?.reason == "there is no folder \(folder.path)/in any more")
        try FileManager.default.createDirectory(atPath: folder.path + "/in", withIntermediateDirectories: true)
        // A new journal is not taken for it, and none is made.
        let error = #expect(throws: JournalError.self) { try open() }
        #expect(error?.kind == .moved)
        try SQLiteJournal.open(path, loop: "test", newHistory: History(7)).close()
        #expect(throws: JournalError.self) { try open() }
        for name in try Folder.names(folder.path + "/in") {
            try FileManager.default.removeItem(atPath: folder.path + "/in/" + name)
        }
        // Nor is an empty file.
        try Data().write(to: URL(fileURLWithPath: path))
        #expect(#expect(throws: JournalError.self) { try open() }?.kind == .moved)
        try FileManager.default.removeItem(atPath: folder.path + "/in")
        try FileManager.default.moveItem(atPath: folder.path + "/out", toPath: folder.path + "/in")
        appender.journal = try open()
        #expect(try appender.journal.all() == appender.records)
        appender.journal.close()
    }

    /// The lock belongs to the file, under whichever name it is opened.
    @Test mutating func `is not led by another process as long as it is open`() throws {
        let elsewhere = folder.path + "/test.journal"
        try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
        let error = #expect(throws: JournalError.self) { try Examples.open(elsewhere).close() }
        #expect(error?.kind == .locked)
        #expect(throws: JournalError.self) { try appender.journal.flush() }
        appender.journal.close()
        // Its log was left behind: what it had is not there.
        try FileManager.default.copyItem(atPath: path + "-end", toPath: elsewhere + "-end")
        let lost = #expect(throws: JournalError.self) { try Examples.open(elsewhere).close() }
        #expect(lost?.kind == .corrupt)
        for ending in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: elsewhere + ending)
            try FileManager.default.moveItem(atPath: path + ending, toPath: elsewhere + ending)
        }
        let journal = try Examples.open(elsewhere)
        #expect(try journal.all() == appender.records)
        journal.close()
    }

    @Test mutating func `is not led by another one that finds no lock`() throws {
        try FileManager.default.removeItem(atPath: path + "-lock")
        let path = path
        let error = #expect(throws: JournalError.self) { try Examples.open(path).close() }
        #expect(error?.kind == .locked)
        #expect(error?.reason.contains("\(path)-lock was removed") == true)
        appender.journal.abandon()
        try Examples.open(path).close()
    }
}
