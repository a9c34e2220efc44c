import Glibc
import Linux
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Synchronization

extension FuzzTarget {
    /// A journal's file whose rows say anything, as SQLite hands them out: sound as a database, with checksums that fit or do
    /// not. What can be read is the same in small pages and in large ones, for a reader and for the process that writes.
    static let rows = FuzzTarget("rows", budget: AllocationBudget(fixed: 16 << 20, perByte: 4096)) { bytes in
        let file = try JournalForgery()
        try file.write(FuzzInput(bytes))
        try check(file.path, isSound: true)
    }

    /// A journal's file with bytes changed anywhere: in its header, its schema, or its pages. SQLite may then find a row by one
    /// way and not by another. What can be read is the beginning of the same records, or an error.
    static let files = FuzzTarget("files", budget: AllocationBudget(fixed: 16 << 20, perByte: 4096)) { bytes in
        let file = try JournalForgery()
        var input = FuzzInput(bytes)
        try file.writeSample()
        var content = FileBytes.read(file.path)
        while !input.isAtEnd {
            let start = Int(input.number() % UInt64(content.count))
            let chunk = input.chunk()
            let end = min(content.count, start + chunk.count)
            content.replaceSubrange(start..<end, with: chunk.prefix(end - start))
        }
        FileBytes.write(content, to: file.path)
        try check(file.path, isSound: false)
    }

    private static func check(_ path: String, isSound: Bool) throws {
        let read = try checkReader(path, isSound: isSound)
        guard let journal = try? SQLiteJournal.open(path, loop: "fuzz", newHistory: History(2)) else { return }
        defer { journal.close() }
        if let read {
            try compare(
                try all(journal, bytesMax: 1 << 20), read, isSound, "who writes reads other records than who reads")
        }
        let position = journal.position
        let record = Record.skipped(SessionID(1), number: 1)
        guard (try? journal.append([record], through: position + 1)) != nil else { return }
        let behind = Result { try journal.records(after: position, bytesMax: 1) }
        let isBehind = isSound ? (try? behind.get()) == [record] : (try? behind.get()).map { $0 == [record] } ?? true
        try require(isBehind, "behind \(position), where \(record) was appended, is \(behind)")
        _ = try? journal.trim(before: Seq(3))
    }

    /// - Returns: the records, where all of them can be read.
    private static func checkReader(_ path: String, isSound: Bool) throws -> [Record]? {
        guard let journal = try? SQLiteJournal.read(path) else { return nil }
        defer { journal.close() }
        let small = try all(journal, bytesMax: 1)
        let large = try all(journal, bytesMax: 1 << 20)
        try compare(small, large, isSound, "small pages give other records than large ones")
        _ = try? journal.firstSeq()
        for seq: UInt64 in [0, 1, 2, 7, 1 << 62, .max] { _ = try? journal.position(before: Seq(seq)) }
        for position: UInt64 in [1, 2, 7, 1 << 62, .max] { _ = try? journal.records(after: position, bytesMax: 1) }
        for entry in (try? journal.snapshots()) ?? [] { _ = try? journal.content(of: entry) }
        return large
    }

    private static func compare(_ some: [Record]?, _ others: [Record]?, _ isSound: Bool, _ what: String) throws {
        if isSound { return try require(some == others, what) }
        guard let some, let others else { return }
        try require(zip(some, others).allSatisfy { $0 == $1 }, what)
    }

    /// All records; nil where some cannot be read.
    private static func all(_ journal: SQLiteJournal, bytesMax: Int) throws -> [Record]? {
        var records: [Record] = []
        var position: UInt64 = 0
        while true {
            guard let page = try? journal.records(after: position, bytesMax: bytesMax) else { return nil }
            if page.isEmpty { return records }
            records += page
            position += UInt64(page.count)
        }
    }
}

/// A journal's file in memory, with rows that a target asks for.
final class JournalForgery {
    let path: String
    private var link = ChainLink.start

    /// The bytes of an empty journal, made once.
    private static let template: [UInt8] = {
        let path = newPath()
        defer { removeFiles(path) }
        guard let journal = try? SQLiteJournal.open(path, loop: "fuzz", newHistory: History(1)) else { return [] }
        journal.close()
        return FileBytes.read(path)
    }()

    private static let count = Atomic(0)

    static func newPath() -> String {
        "/dev/shm/loop-fuzz-\(getpid())-\(count.add(1, ordering: .relaxed).newValue).journal"
    }

    init() throws {
        let template = Self.template
        path = Self.newPath()
        guard !template.isEmpty else { throw FuzzFinding("an empty journal cannot be made next to \(path)") }
        FileBytes.write(template, to: path)
    }

    deinit { Self.removeFiles(path) }

    static func removeFiles(_ path: String) {
        for ending in ["", "-wal", "-shm", "-lock"] { unlink(path + ending) }
        rmdir(path + ".snapshots")
    }

    /// Three sound rows, in the file and not in its log, and a snapshot that is listed.
    func writeSample() throws {
        let journal = try SQLiteJournal.open(path, loop: "fuzz", durability: .os, newHistory: History(1))
        for number: UInt64 in 1...3 {
            let records = (0..<number).map { Record.skipped(SessionID($0), number: number) }
            _ = try journal.append(records, through: journal.position + number)
        }
        try journal.add(SnapshotEntry(position: 3, seq: .initial, fingerprint: 7, byteCount: 4, checksum: 5))
        journal.close()
    }

    /// The kinds of steps in which a file is written.
    enum Step: UInt8, CaseIterable {
        /// A row behind the last one: how many records and events it claims to have, and the records.
        case row
        /// A row of which some numbers are changed after its checksum was computed: also which, and to what.
        case changedRow
        /// Something that the journal knows of itself: which, a number.
        case meta
        /// A snapshot: five numbers.
        case snapshot
    }

    func write(_ input: FuzzInput) throws {
        var input = input
        let database = try Database(path, .write)
        while !input.isAtEnd {
            switch Step.allCases[Int(input.byte()) % Step.allCases.count] {
            case .row: try insert(&input, changes: 0, in: database)
            case .changedRow: try insert(&input, changes: input.byte(), in: database)
            case .meta:
                let names = [
                    "trimmed_position", "trimmed_seq", "trimmed_checksum", "position", "durability", "ended", "history",
                ]
                var statement = try Statement("REPLACE INTO meta VALUES (?1, ?2)", in: database)
                try statement.bind(1, names[Int(input.byte()) % names.count])
                try statement.bind(2, Int64(bitPattern: input.number()))
                try statement.run()
            case .snapshot:
                var statement = try Statement("REPLACE INTO snapshots VALUES (?1, ?2, ?3, 'x', ?4, ?5)", in: database)
                for column: Int32 in 1...5 { try statement.bind(column, Int64(bitPattern: input.number())) }
                try statement.run()
            }
        }
    }

    private func insert(_ input: inout FuzzInput, changes: UInt8, in database: borrowing Database) throws {
        let count = UInt64(input.byte())
        let events = UInt64(input.byte())
        let records = input.chunk()
        let row = BatchRow(after: link, count: count, lastSeq: link.seq &+ events, records: records.span)
        var numbers = [
            row.firstPosition, row.lastPosition, row.firstSeq, row.lastSeq, row.length, UInt64(row.checksum),
        ]
        for place in numbers.indices where changes & 1 << UInt8(place) != 0 { numbers[place] = input.number() }
        var statement = try Statement("REPLACE INTO batches VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", in: database)
        for (place, number) in numbers.enumerated() {
            try statement.bind(Int32(place) + 1, Int64(bitPattern: number))
        }
        try statement.run(7, lending: records.span)
        link = row.link
    }
}

/// Whole files.
enum FileBytes {
    static func read(_ path: String) -> [UInt8] { (try? FileSystem.bytes(of: path)) ?? [] }

    static func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fchmod(fileno(file), 0o600)
        fclose(file)
    }
}
