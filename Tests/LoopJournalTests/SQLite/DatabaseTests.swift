import Foundation
import LoopJournal
import Testing

@Suite struct `A SQLite database` {
    let path = NSTemporaryDirectory() + "sqlite-\(UUID().uuidString).db"

    private func remove() {
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
    }

    @Test func `keeps numbers, texts and bytes`() throws {
        defer { remove() }
        do {
            let database = try Database(path, .create)
            try database.execute("CREATE TABLE things(number INTEGER, name TEXT, bytes BLOB)")
            var insertion = try Statement("INSERT INTO things VALUES (?1, ?2, ?3)", in: database)
            for (number, name, bytes) in [(Int64.min, "größe\0x", [UInt8](0...255)), (.max, "", [])] {
                try insertion.bind(1, number)
                try insertion.bind(2, name)
                try insertion.run(3, lending: bytes.span)
            }
        }
        let database = try Database(path, .read)
        var selection = try Statement("SELECT number, name, bytes, NULL FROM things ORDER BY number", in: database)
        #expect(try selection.step())
        #expect(selection.integer(0) == .min)
        #expect(selection.bytes(2) == [UInt8](0...255))
        #expect(selection.optionalInteger(3) == nil)
        #expect(try selection.step())
        #expect(selection.integer(0) == .max)
        #expect(selection.text(1) == "")
        #expect(selection.withBytes(2) { $0.count } == 0)
        // No bytes are not the same as nothing.
        #expect(try database.integer("SELECT count(*) FROM things WHERE bytes IS NULL") == 0)
        #expect(try !selection.step())
        #expect(try database.integer("SELECT length(CAST(name AS BLOB)) FROM things ORDER BY number") == 9)
    }

    @Test func `does a transaction whole or not at all`() throws {
        defer { remove() }
        let database = try Database(path, .create)
        try database.execute("CREATE TABLE things(number INTEGER PRIMARY KEY)")
        try database.transaction { () throws(SQLiteError) in try database.execute("INSERT INTO things VALUES (1)") }
        #expect(throws: SQLiteError.self) {
            try database.transaction { () throws(SQLiteError) in
                try database.execute("INSERT INTO things VALUES (2)")
                try database.execute("INSERT INTO things VALUES (1)")
            }
        }
        #expect(try database.integer("SELECT count(*) FROM things") == 1)
    }

    @Test func `takes its path as it is`() throws {
        let folder = NSTemporaryDirectory() + "sqlite-\(UUID().uuidString) 100%?mode=memory#ü"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for path in [folder + "/a ?b&c=d.db", "//" + folder + "/x.db"] {
            let database = try Database(path, .create)
            try database.execute("CREATE TABLE things(number)")
            #expect(FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `says what it could not do, why, and of which kind that is`() throws {
        defer { remove() }
        // `Database` is not copyable, so an error is caught by hand.
        do {
            _ = try Database("/nowhere/x.db", .create)
            Issue.record("opened")
        } catch {
            #expect(error.kind == .denied)
            #expect(
                error.description
                    == "could not open /nowhere/x.db: unable to open database file (SQLite 14; No such file or directory)"
            )
        }
        try Data("no database, by any means".utf8).write(to: URL(fileURLWithPath: path))
        let database = try Database(path, .write)
        let error = #expect(throws: SQLiteError.self) { try database.integer("PRAGMA user_version") }
        #expect(error?.kind == .notADatabase)
        #expect(#expect(throws: SQLiteError.self) { try database.execute("no sql") }?.kind == .other)
    }

    @Test func `leaves the log alone until it is asked to bring it into the file`() throws {
        defer { remove() }
        do {
            let database = try Database(path, .create)
            #expect(try database.text("PRAGMA journal_mode = WAL") == "wal")
            try database.execute("CREATE TABLE things(number)")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count > 4096)
        let database = try Database(path, .write)
        #expect(try database.integer("SELECT count(*) FROM things") == 0)
        #expect(try database.checkpoint(.truncate))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).isEmpty)
        do {
            let last = try Database(path, .write)
            try last.execute("INSERT INTO things VALUES (1)")
        }
        #expect(try !Data(contentsOf: URL(fileURLWithPath: path + "-wal")).isEmpty)
    }

    @Test func `is one file again where it was told to be`() throws {
        defer { remove() }
        do {
            let database = try Database(path, .create)
            _ = try database.text("PRAGMA journal_mode = WAL")
            try database.execute("CREATE TABLE things(number)")
            database.removesLogAtClose()
        }
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        #expect(try Database(path, .readUnchanging).integer("SELECT count(*) FROM things") == 0)
    }

    @Test func `is busy while another connection writes`() throws {
        defer { remove() }
        let first = try Database(path, .create)
        try first.execute("CREATE TABLE things(number)")
        let second = try Database(path, .write)
        try first.execute("BEGIN IMMEDIATE")
        #expect(#expect(throws: SQLiteError.self) { try second.execute("BEGIN IMMEDIATE") }?.kind == .busy)
        try first.execute("COMMIT")
        try second.execute("BEGIN IMMEDIATE")
    }
}
