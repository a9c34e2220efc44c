import Foundation
import LoopJournal
import Testing

/// The file may come from anywhere: what is in it is data, and its name leads to nothing else.
@Suite struct `A SQLite database of unknown origin` {
    let folder = NSTemporaryDirectory() + "sqlite-\(UUID().uuidString)"
    var path: String { folder + "/x.db" }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    private func remove() { try? FileManager.default.removeItem(atPath: folder) }

    private static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test(arguments: [0, 0o22, 0o77, 0o777] as [mode_t])
    func `is made for its user alone, whatever the umask`(mask: mode_t) async throws {
        defer { remove() }
        // In a process of its own: the umask is the whole process's.
        await #expect(processExitsWith: .success) { [path = path as String, mask = mask as mode_t] in
            umask(mask)
            let database = try Database(path, .create)
            try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE things(number)")
            for ending in ["", "-wal", "-shm"] { #expect(Self.mode(path + ending) == 0o600) }
        }
    }

    @Test func `keeps the permissions that it has`() throws {
        defer { remove() }
        do { _ = try Database(path, .create) }
        chmod(path, 0o640)
        let database = try Database(path, .create)
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE things(number)")
        for ending in ["", "-wal", "-shm"] { #expect(Self.mode(path + ending) == 0o640) }
    }

    @Test(arguments: [Database.Access.create, .write, .read, .readUnchanging])
    func `is not opened by a link, and may be in a folder that a link leads to`(access: Database.Access) throws {
        defer { remove() }
        do { try Database(path, .create).execute("CREATE TABLE things(number)") }
        symlink(path, folder + "/link.db")
        symlink(folder, folder + "/folder")
        do {
            _ = try Database(folder + "/link.db", access)
            Issue.record("opened")
        } catch {
            #expect(error.kind == .denied)
        }
        let database = try Database(folder + "/folder/x.db", access)
        #expect(try database.integer("SELECT count(*) FROM sqlite_schema") == 1)
        // A link that leads to nothing is not followed to make a file either.
        symlink(folder + "/nothing", folder + "/dangling.db")
        do {
            _ = try Database(folder + "/dangling.db", access)
            Issue.record("opened")
        } catch {
            #expect(error.kind == .denied && !FileManager.default.fileExists(atPath: folder + "/nothing"))
        }
    }

    @Test func `runs nothing that its schema says`() throws {
        defer { remove() }
        let database = try Database(path, .create)
        try database.execute(
            """
            CREATE TABLE things(number);
            CREATE TABLE heard(number);
            CREATE TRIGGER t AFTER INSERT ON things BEGIN INSERT INTO heard VALUES (new.number); END;
            CREATE VIEW v AS SELECT number FROM things;
            INSERT INTO things VALUES (1);
            """)
        #expect(try database.integer("SELECT count(*) FROM heard") == 0)
        for (sql, what) in [
            ("SELECT number FROM v", "a view"), ("ATTACH ':memory:' AS other", "another database"),
            ("SELECT load_extension('x')", "an extension"),
            ("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = ''", "the schema"),
            ("SELECT \"text\" FROM things", "a name in quotes that is none"),
        ] {
            #expect(throws: SQLiteError.self, "\(what)") { try database.execute(sql) }
        }
        #expect(try database.integer("PRAGMA trusted_schema") == 0)
        #expect(try database.integer("PRAGMA cell_size_check") == 1)
    }

    @Test func `has no value that is too large`() throws {
        defer { remove() }
        let database = try Database(path, .create)
        let error = #expect(throws: SQLiteError.self) {
            try database.integer("SELECT length(zeroblob(\(Database.valueBytesMax + 1)))")
        }
        #expect(error?.kind == .tooLarge)
        #expect(try database.integer("SELECT length(zeroblob(1000000))") == 1_000_000)
    }
}
