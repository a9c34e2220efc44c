import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

@Suite struct `Snapshots of a journal` {
    let folder: Folder
    var appender: Appender

    init() throws {
        folder = try Folder()
        appender = Appender(try Examples.open(folder.journal))
    }

    private func snapshot(_ bytes: [UInt8]) throws -> SnapshotEntry {
        let write = try #require(appender.journal.snapshotWriter)
        let entry = try write(
            SnapshotEntry(position: appender.journal.position, seq: Seq(appender.seq), fingerprint: .max - 1), bytes)
        try appender.journal.add(entry)
        return entry
    }

    @Test mutating func `come back, the newest first, and no more than three`() throws {
        var entries: [SnapshotEntry] = []
        for number in 1...5 {
            try appender.append(events: 10)
            entries.append(try snapshot([UInt8](repeating: UInt8(number), count: number * 1000)))
        }
        appender.journal.close()
        let journal = try Examples.open(folder.journal)
        #expect(try journal.snapshots() == entries.suffix(3).reversed())
        for (number, entry) in zip(3...5, entries.suffix(3)) {
            #expect(entry.position == UInt64(number * 10) && entry.byteCount == number * 1000)
            #expect(try journal.content(of: entry) == [UInt8](repeating: UInt8(number), count: number * 1000))
        }
        #expect(try Folder.names(folder.journal + ".snapshots").count == 3)
        #expect(journal.openReport == [])
    }

    @Test mutating func `no longer kept are removed by who writes the next one, and at the end`() throws {
        let names = folder.journal + ".snapshots"
        for number in 1...5 {
            try appender.append(events: 10)
            _ = try snapshot([UInt8(number)])
            // The one that the newest has replaced is still there.
            #expect(try Folder.names(names).count == min(number, 4))
        }
        #expect(try appender.journal.snapshots().count == 3)
        appender.journal.close()
        #expect(try Folder.names(names).count == 3)
    }

    @Test mutating func `large ones give their room back, unless their file has another name`() throws {
        let content = [UInt8](repeating: 7, count: 1_000_000)
        try appender.append(events: 1)
        _ = try snapshot(content)
        let names = folder.journal + ".snapshots"
        let (file, link) = (try Folder.names(names)[0], folder.journal + ".link")
        try FileManager.default.linkItem(atPath: names + "/" + file, toPath: link)
        for _ in 2...5 {
            try appender.append(events: 1)
            _ = try snapshot(content)
        }
        #expect(try !Folder.names(names).contains(file))
        #expect(FileManager.default.contents(atPath: link).map([UInt8].init) == content)
    }

    @Test mutating func `that were changed, cut or removed are distinguished from good ones`() throws {
        try appender.append(events: 10)
        let entry = try snapshot([1, 2, 3, 4])
        let file = "test.journal.snapshots/" + (try Folder.names(folder.journal + ".snapshots")[0])
        for damage: [UInt8]? in [[1, 2, 3, 5], [1, 2, 3], [], [1, 2, 3, 4, 5], nil] {
            if let damage { try folder.write(damage, to: file) } else { try folder.remove(file) }
            let error = #expect(throws: JournalError.self) { try appender.journal.content(of: entry) }
            #expect(error?.kind == .corrupt)
        }
        try folder.write([1, 2, 3, 4], to: file)
        #expect(try appender.journal.content(of: entry) == [1, 2, 3, 4])
    }

    @Test mutating func `that were never added are removed at the next opening`() throws {
        try appender.append(events: 1)
        let kept = try snapshot([1])
        let write = try #require(appender.journal.snapshotWriter)
        _ = try write(SnapshotEntry(position: 1, seq: Seq(1), fingerprint: 5), [2])
        try folder.write([9], to: "test.journal.snapshots/1-00000000.new")
        appender.journal.close()
        let journal = try Examples.open(folder.journal)
        #expect(
            journal.openReport.filter { $0.hasSuffix("that was not finished") }.count == 1)
        #expect(journal.openReport.filter { $0.hasSuffix("that is not listed, or not any more") }.count == 1)
        #expect(try Folder.names(folder.journal + ".snapshots").count == 1)
        #expect(try journal.content(of: kept) == [1])
    }

    @Test mutating func `that are whole stay while a listed one is damaged`() throws {
        try appender.append(events: 1)
        let names = folder.journal + ".snapshots"
        _ = try snapshot([1])
        try folder.write([9], to: "test.journal.snapshots/" + Folder.names(names)[0])
        let write = try #require(appender.journal.snapshotWriter)
        _ = try write(SnapshotEntry(position: 1, seq: Seq(1), fingerprint: 5), [2])
        appender.journal.close()
        let journal = try Examples.open(folder.journal)
        #expect(journal.openReport == [])
        #expect(try Folder.names(names).count == 2)
    }

    @Test mutating func `allow trimming up to one that is not the newest`() throws {
        for _ in 0..<4 {
            try appender.append(events: 10, others: 1)
            #expect(try appender.journal.trim(before: Seq(1000)) == Seq(1))
        }
        _ = try snapshot([1])
        #expect(try appender.journal.trim(before: Seq(1000)) == Seq(1))
        try appender.append(events: 10)
        let newer = try snapshot([2])
        // Two are there, and the older covers 40 events: a cut before it would leave states that cannot be shown.
        #expect(try appender.journal.trim(before: Seq(40)) == Seq(1))
        #expect(try appender.journal.trim(before: Seq(1000)) == Seq(41))
        #expect(try appender.journal.firstSeq() == Seq(41))
        #expect(throws: JournalError.self) { try appender.journal.records(after: 43, bytesMax: 1) }
        #expect(try appender.journal.all(after: 44) == Array(appender.records[44...]))
        try appender.append(events: 10)
        appender.journal.close()

        appender.journal = try Examples.open(folder.journal)
        #expect(try appender.journal.all(after: 44) == Array(appender.records[44...]))
        #expect(try appender.journal.position(before: Seq(1)) == 44)
        // The older snapshot no longer counts as a second one once its file is damaged.
        for name in try Folder.names(folder.journal + ".snapshots") where name.hasPrefix("44-") {
            try folder.write([3], to: "test.journal.snapshots/" + name)
        }
        _ = try snapshot([3])
        #expect(try appender.journal.trim(before: Seq(1000)) == Seq(51))
        #expect(try appender.journal.snapshots().map(\.position) == [64, newer.position])
    }
}
