import Foundation
import LoopCluster
import LoopCore
import LoopJournal
import LoopWire
import Testing

/// What is wrong with one file of a journal, beside its bytes.
enum HostileFile: CaseIterable, Sendable {
    case link, folder, pipe, twoNames, otherUser, writable

    /// The user that it belongs to in place of this process's.
    static let stranger: uid_t = 12345

    /// Makes it so. What was there goes to `victim`, where it could be harmed.
    func make(_ path: String, victim: String) {
        if access(path, F_OK) != 0 { close(open(path, O_WRONLY | O_CREAT, 0o600)) }
        switch self {
        case .link:
            rename(path, victim)
            symlink(victim, path)
        case .folder:
            rename(path, victim)
            mkdir(path, 0o700)
        case .pipe:
            rename(path, victim)
            mkfifo(path, 0o600)
        case .twoNames: Foundation.link(path, victim)
        case .otherUser: chown(path, Self.stranger, 0)
        case .writable: chmod(path, 0o620)
        }
    }

    var text: String {
        switch self {
        case .link: "is a symbolic link"
        case .folder, .pipe: "is no regular file"
        case .twoNames: "has 2 names (hard links)"
        case .otherUser: "belongs to user \(Self.stranger), and this process is of user \(geteuid())"
        case .writable: "can be changed by other users (mode 620)"
        }
    }

    func remedy(_ path: String) -> String {
        switch self {
        case .link: "give the path that it leads to"
        case .folder, .pipe: "give another path, or move it away"
        case .twoNames: "remove the other names, or use a copy: cp \(path) …"
        case .otherUser: "run as its owner, or change that: chown \(geteuid()) \(path)"
        case .writable: "if what is in it can be trusted: chmod go-w \(path)"
        }
    }
}

@Suite struct `A journal that others have touched` {
    private let folder: Folder
    private let records: [Record]

    init() throws {
        folder = try Folder()
        var appender = Appender(try Examples.open(folder.journal))
        for _ in 0..<3 { try appender.append(events: 2) }
        records = appender.records
        // Its log stays, as after a kill.
        appender.journal.abandon()
    }

    private var victim: String { folder.path + "/victim" }

    /// What every file has, and may be used for.
    private func contents() -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for name in folder.names {
            var status = stat()
            lstat(folder.path + "/" + name, &status)
            let isFile = status.st_mode & S_IFMT == S_IFREG
            contents[name + " \(String(status.st_mode, radix: 8))"] = isFile ? (try? folder.bytes(name)) ?? [] : []
        }
        return contents
    }

    @Test(arguments: ["", "-wal", "-shm", "-journal", "-lock", ".cut"], HostileFile.allCases)
    func `is refused with all its files as they are`(ending: String, hostile: HostileFile) throws {
        let path = folder.journal + ending
        hostile.make(path, victim: victim)
        let before = contents()
        let error = #expect(throws: JournalError.self) { try Examples.open(folder.journal).close() }
        let reason = "\(path) \(hostile.text)"
        #expect(error == JournalError(.foreign, operation: "be opened", reason: reason, remedy: hostile.remedy(path)))
        // The first opening takes a lock, which leaves its number.
        #expect(
            contents().filter { !$0.key.hasPrefix("test.journal-lock") }
                == before.filter { !$0.key.hasPrefix("test.journal-lock") })
        if ending == "-lock" { #expect(contents() == before) }
    }

    @Test(arguments: HostileFile.allCases) func `is not cut either`(hostile: HostileFile) throws {
        hostile.make(folder.journal, victim: victim)
        let before = contents()
        let error = #expect(throws: JournalError.self) {
            try SQLiteJournal.cut(
                folder.journal, loop: "test", after: Seq(2), newHistory: History(9), at: Examples.time)
        }
        #expect(
            error
                == JournalError(
                    .foreign, operation: "be opened", reason: "\(folder.journal) \(hostile.text)",
                    remedy: hostile.remedy(folder.journal)))
        #expect(contents() == before)
    }

    @Test(arguments: [HostileFile.link, .folder, .pipe, .twoNames])
    func `is not read by a name that leads elsewhere`(hostile: HostileFile) throws {
        hostile.make(folder.journal, victim: victim)
        let before = contents()
        let error = #expect(throws: JournalError.self) { try SQLiteJournal.read(folder.journal).close() }
        #expect(
            error
                == JournalError(
                    .foreign, operation: "be read", reason: "\(folder.journal) \(hostile.text)",
                    remedy: hostile.remedy(folder.journal)))
        #expect(contents() == before)
    }

    @Test func `is read by other users, but not with a log of a third user`() throws {
        for ending in ["", "-wal", "-shm"] { HostileFile.otherUser.make(folder.journal + ending, victim: victim) }
        let journal = try SQLiteJournal.read(folder.journal)
        #expect(try journal.all() == records)
        #expect(journal.openReport == [])
        journal.close()
        chown(folder.journal + "-wal", 54321, 0)
        let error = #expect(throws: JournalError.self) { try SQLiteJournal.read(folder.journal).close() }
        #expect(
            error?.reason
                == "\(folder.journal)-wal belongs to user 54321, and this process is of user \(HostileFile.stranger)")
    }

    @Test func `is read with a warning where others may write to it`() throws {
        chmod(folder.journal, 0o666)
        let journal = try SQLiteJournal.read(folder.journal)
        defer { journal.close() }
        #expect(try journal.all() == records)
        #expect(
            journal.openReport == [
                "\(folder.journal) can be changed by other users (mode 666); "
                    + "if what is in it can be trusted: chmod go-w \(folder.journal)"
            ])
    }

    @Test func `is opened with a warning where others may replace it`() throws {
        chmod(folder.path, 0o777)
        let journal = try Examples.open(folder.journal)
        #expect(
            journal.openReport == [
                "other users can replace files in \(folder.path) (mode 777), such as \(folder.journal): "
                    + "chmod o-w \(folder.path)"
            ])
        journal.close()
        // As in /tmp, no user can remove another user's files.
        chmod(folder.path, 0o1777)
        #expect(try Examples.open(folder.journal).openReport == [])
    }

    @Test func `is looked at again once its lock was waited for`() throws {
        let holder = try LockHolder(folder.journal + "-lock")
        var isSwapped = false
        let error = #expect(throws: JournalError.self) {
            try SQLiteJournal.open(folder.journal, loop: "test", newHistory: Examples.history) { _ in
                if !isSwapped { HostileFile.link.make(folder.journal, victim: victim) }
                isSwapped = true
                holder.kill()
                return true
            }.close()
        }
        #expect(
            error
                == JournalError(
                    .foreign, operation: "be opened", reason: "\(folder.journal) is a symbolic link",
                    remedy: "give the path that it leads to"))
        #expect(isSwapped)
    }

    @Test func `with a log that would be read for days is refused at once`() throws {
        let size = 1 << 43
        // It has no blocks on the disk.
        #expect(truncate(folder.journal + "-wal", off_t(size)) == 0)
        for use in [{ try Examples.open(folder.journal) }, { try SQLiteJournal.read(folder.journal) }] {
            let error = #expect(throws: JournalError.self) { try use().close() }
            #expect(error?.kind == .corrupt && error?.operation == "read \(folder.journal)-wal")
            #expect(error?.reason == "the end of its \(size) bytes was never written")
        }
    }

    // MARK: What is made

    private static func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    @Test(arguments: [0, 0o22, 0o77] as [mode_t])
    func `was not, when it was made for its user alone, whatever the umask`(mask: mode_t) async throws {
        // In a process of its own: the umask is the whole process's.
        await #expect(processExitsWith: .success) { [path = folder.path as String, mask = mask as mode_t] in
            umask(mask)
            let file = path + "/new.journal"
            let journal = try Examples.open(file)
            _ = try journal.append([.event(Examples.event(1))], through: 1)
            let write = try #require(journal.snapshotWriter)
            let entry = try write(SnapshotEntry(position: 1, seq: Seq(1), fingerprint: 0), [1, 2, 3])
            try journal.add(entry)
            for ending in ["", "-wal", "-shm", "-lock"] { #expect(Self.mode(file + ending) == 0o600, "\(ending)") }
            let snapshots = file + ".snapshots"
            #expect(Self.mode(snapshots) == 0o700)
            #expect(try Folder.names(snapshots).map { Self.mode(snapshots + "/" + $0) } == [0o600])
            journal.abandon()
            try SQLiteJournal.cut(file, loop: "test", after: Seq(1), newHistory: History(9), at: Examples.time)
            for ending in ["", ".damaged"] { #expect(Self.mode(file + ending) == 0o600, "\(ending)") }
        }
    }
}
