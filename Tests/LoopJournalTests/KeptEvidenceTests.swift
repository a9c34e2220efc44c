import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopNode
import LoopWire
import Testing

/// A cut takes nothing away that it does not replace, and only a cut makes what replaces a journal.
@Suite struct `What a cut replaces a journal with, and what it keeps` {
    private let folder: Folder
    private var appender: Appender
    private var place: JournalPlace { .file(folder.journal) }

    init() throws {
        folder = try Folder()
        appender = Appender(try Examples.open(folder.journal))
        for _ in 1...3 {
            try appender.append(events: 5)
            let write = try #require(appender.journal.snapshotWriter)
            let position = appender.journal.position
            try appender.journal.add(write(SnapshotEntry(position: position, seq: Seq(position), fingerprint: 1), [1]))
        }
        try appender.append(events: 5)
        appender.journal.close()
    }

    private func cut(_ seq: UInt64, loop: String = "test", isForced: Bool = true) throws {
        let cut = try #require(place.cut)
        try cut(loop, Seq(seq), isForced)
    }

    private func damaged() throws -> [Record] {
        let journal = try SQLiteJournal.read(folder.journal + ".damaged")
        defer { journal.close() }
        return try journal.all()
    }

    @Test(arguments: [9999, 2] as [UInt64])
    func `what an earlier cut has kept is there after a later one`(seq: UInt64) throws {
        try cut(15)
        #expect(try damaged() == appender.records)
        let error = #expect(throws: JournalError.self) { try cut(seq) }
        #expect(error?.kind == .misuse)
        #expect(try damaged() == appender.records)
        if seq == 2 {
            #expect(error?.reason.contains("\(folder.journal).damaged") == true)
            #expect(error?.remedy.contains("move it away") == true)
            for name in folder.names where name.hasPrefix("test.journal.damaged") {
                try FileManager.default.moveItem(
                    atPath: "\(folder.path)/\(name)", toPath: "\(folder.path)/first-\(name)")
            }
            try cut(2)
            #expect(try damaged().count == 16)
        }
    }

    @Test func `the journal of another loop is not cut`() throws {
        let bytes = try folder.bytes("test.journal")
        let error = #expect(throws: JournalError.self) { try cut(2, loop: "other") }
        #expect(error?.kind == .foreign)
        #expect(error?.reason == "\(folder.journal) is the journal of the loop test, not of other")
        #expect(try folder.bytes("test.journal") == bytes)
        #expect(!folder.names.contains { $0.contains(".cut") || $0.contains(".damaged") })
    }

    private static let replacements: [(what: String, make: @Sendable (Self, String) throws -> Void)] = [
        ("junk", { _, path in try Data("junk\n".utf8).write(to: URL(fileURLWithPath: path)) }),
        ("nothing", { _, path in try Data().write(to: URL(fileURLWithPath: path)) }),
        ("a copy of the journal", { try FileManager.default.copyItem(atPath: $0.folder.journal, toPath: $1) }),
        ("another loop's journal", { try $0.makeCut(of: "other", Examples.history, at: $1) }),
        ("what a cut of another journal has made", { try $0.makeCut(of: "test", History(5), at: $1) }),
        ("a folder", { try FileManager.default.createDirectory(atPath: $1, withIntermediateDirectories: false) }),
        ("a pipe", { #expect(mkfifo($1, 0o600) == 0) }),
    ]

    private func makeCut(of loop: String, _ history: History, at path: String) throws {
        let other = try Folder()
        let journal = try SQLiteJournal.open(other.journal, loop: loop, newHistory: history)
        _ = try journal.append([.event(Examples.event(1))], through: 1)
        journal.close()
        let cut = try #require(JournalPlace.file(other.journal).cut)
        try cut(loop, Seq(1), false)
        try FileManager.default.moveItem(atPath: other.journal, toPath: path)
    }

    @Test(arguments: replacements.map(\.what))
    func `nothing takes the place of a journal but what a cut of it has made`(what: String) throws {
        let make = try #require(Self.replacements.first { $0.what == what }?.make)
        try make(self, folder.journal + ".cut")
        chmod(folder.journal + ".cut", what == "a folder" ? 0o700 : 0o600)
        let names = folder.names.filter { !$0.hasSuffix("-lock") }
        let attempts: [(String, () throws -> Void)] = [
            ("open", { try Examples.open(folder.journal).close() }), ("cut", { try cut(2) }),
            ("read", { try SQLiteJournal.read(folder.journal).close() }),
        ]
        for (name, attempt) in attempts {
            let error = #expect(throws: JournalError.self, "\(name)") { try attempt() }
            #expect(error?.reason.contains("\(folder.journal).cut") == true, "\(name): \(error)")
            #expect(error?.remedy.contains("start the loop's reducer") == false, "\(name): \(error)")
            #expect(folder.names.filter { !$0.hasSuffix("-lock") } == names, "\(name)")
        }
        try FileManager.default.removeItem(atPath: folder.journal + ".cut")
        #expect(try Examples.open(folder.journal).all() == appender.records)
    }

    /// The first events were trimmed, so a start needs a snapshot.
    @Test(arguments: [false, true])
    func `no cut is made from which no start could go on`(isForced: Bool) throws {
        let journal = try Examples.open(folder.journal)
        #expect(try journal.trim(before: Seq(12)) == Seq(11))
        let entry = try #require(try journal.snapshots().last)
        let names = try Folder.names(folder.journal + ".snapshots")
        let name = try #require(names.first { $0.hasPrefix("\(entry.position)-") })
        journal.close()
        try folder.write([7], to: "test.journal.snapshots/\(name)")
        let error = #expect(throws: JournalError.self) { try cut(12, isForced: isForced) }
        if isForced {
            #expect(error?.kind == .corrupt)
            #expect(error?.reason.contains("no snapshot up to it is intact") == true, "\(error)")
        }
        #expect(!folder.names.contains { $0.contains(".cut") || $0.contains(".damaged") })
        #expect(try Examples.open(folder.journal).snapshots().count == 2)
    }
}
