import Foundation
import Glibc
import LoopCluster
import LoopCollections
import LoopCore
import LoopJournal
import LoopWire
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

/// What was done to a journal at rest, and what a start and every command say of it.
@Suite(.timeLimit(.minutes(5))) struct `A journal at rest` {
    private let folder: TestFolder
    private let context: ZMQContext
    private var path: String { "\(folder.path)/jobs.journal" }

    /// A journal of 30 events and two snapshots, whose reducer was killed: its newest records are in the log.
    init() async throws {
        folder = TestFolder()
        context = try ZMQContext()
        try await run(Jobs(ends: false), notes: 0..<20, isKilled: false)
        try await run(Jobs(ends: false), notes: 20..<30, isKilled: true)
    }

    private func configuration() throws -> ReducerNodeConfiguration {
        var configuration = try ReducerNodeConfiguration.test(ipcAddress(), context)
        configuration.journal = .file(path)
        configuration.snapshotInterval = 8
        return configuration
    }

    private func run<D: LoopDefinition>(_ definition: D, notes: Range<Int>, isKilled: Bool) async throws
    where D.Event == Jobs.Event {
        let address = ipcAddress()
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = .file(path)
        configuration.snapshotInterval = 8
        let node = try ReducerNode(definition, configuration: configuration)
        let life = Task { try await node.run() }
        let remote = try RemoteLoop(D.self, reducer: address, context: context, log: .silent)
        for number in notes { try await remote.sendAndConfirm(.note("\(number)")) }
        await remote.close()
        if isKilled { node.kill() } else { node.stop() }
        _ = try? await life.value
    }

    /// Why a reducer does not start on it; nil if it does.
    private func startRefusal() async throws -> String? {
        var configuration = try configuration()
        let started = Monitor(false)
        configuration.onListening = { _ in
            started.withLock { $0 = true }
            started.broadcast()
        }
        let node = try ReducerNode(Jobs(ends: false), configuration: configuration)
        let life = Task { () -> String? in
            do {
                _ = try await node.run()
                return nil
            } catch {
                started.withLock { $0 = true }
                started.broadcast()
                return "\(error)"
            }
        }
        try await NodeThread.run("wait") { started.wait(until: { $0 }) }
        node.stop()
        return await life.value
    }

    /// The code that a command exits with.
    private func code(_ words: String...) async -> Int32 {
        await ReducerProgram.program([RunnableLoop(Jobs(ends: false))], name: "jobs", leavesNameOut: true)
            .run(words + [path], environment: [:])
    }

    private func bytes(_ name: String) -> [UInt8] {
        FileManager.default.contents(atPath: path + name).map([UInt8].init) ?? []
    }

    private func write(_ bytes: [UInt8], _ name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path + name))
        chmod(path + name, 0o600)
    }

    private func flip(_ name: String, _ place: Int) throws {
        var bytes = bytes(name)
        bytes[place < 0 ? bytes.count + place : place] ^= 0x40
        try write(bytes, name)
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path + name) }

    private func occupy(_ name: String, isPipe: Bool = false) throws {
        try? remove(name)
        if isPipe {
            #expect(mkfifo(path + name, 0o600) == 0)
        } else {
            try FileManager.default.createDirectory(atPath: path + name, withIntermediateDirectories: false)
        }
    }

    private func change(_ sql: String) throws { try Database(path, .write).execute(sql) }

    private func snapshots() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path + ".snapshots").sorted()
            .map { ".snapshots/\($0)" }
    }

    /// The row that this number of rows follow.
    private static func row(_ behind: Int) -> String {
        "first_position = (SELECT first_position FROM batches ORDER BY 1 DESC LIMIT 1 OFFSET \(behind))"
    }

    private static let damages: [(what: String, do: @Sendable (Self) throws -> Void)] = [
        ("nothing", { _ in }),
        ("the log removed", { try $0.remove("-wal") }),
        ("the log and the note removed", { for name in ["-wal", "-end"] { try $0.remove(name) } }),
        ("the log emptied", { try $0.write([], "-wal") }),
        ("the log halved", { try $0.write(Array($0.bytes("-wal").prefix($0.bytes("-wal").count / 2)), "-wal") }),
        ("the log cut by a byte", { try $0.write($0.bytes("-wal").dropLast(), "-wal") }),
        ("the log cut by a page", { try $0.write($0.bytes("-wal").dropLast(8216), "-wal") }),
        ("a byte of the log's first page", { try $0.flip("-wal", 100) }),
        ("a byte of the log's last page", { try $0.flip("-wal", -100) }),
        ("the log's header", { try $0.flip("-wal", 18) }),
        ("the note removed", { try $0.remove("-end") }),
        ("a byte of the note", { try $0.flip("-end", 13) }),
        ("the file removed", { try $0.remove("") }),
        ("the file emptied", { try $0.write([], "") }),
        ("the file halved", { try $0.write(Array($0.bytes("").prefix($0.bytes("").count / 2)), "") }),
        ("the file cut by a page", { try $0.write($0.bytes("").dropLast(8192), "") }),
        ("the file's magic", { try $0.flip("", 3) }),
        ("the file's application ID", { try $0.flip("", 68) }),
        ("the file's version", { try $0.flip("", 63) }),
        ("the newest row removed", { try $0.change("DELETE FROM batches WHERE \(row(0))") }),
        ("the newest row's checksum", { try $0.change("UPDATE batches SET checksum = checksum + 1 WHERE \(row(0))") }),
        ("the newest row short", { try $0.change("UPDATE batches SET length = length + 9 WHERE \(row(0))") }),
        ("the row before it", { try $0.change("UPDATE batches SET records = zeroblob(length) WHERE \(row(1))") }),
        ("the row before it removed", { try $0.change("DELETE FROM batches WHERE \(row(1))") }),
        ("the oldest row removed", { try $0.change("DELETE FROM batches WHERE first_position = 1") }),
        ("all rows removed", { try $0.change("DELETE FROM batches") }),
        ("the rows' table removed", { try $0.change("DROP TABLE batches") }),
        ("the snapshots' table removed", { try $0.change("DROP TABLE snapshots") }),
        ("the names' table removed", { try $0.change("DROP TABLE meta") }),
        ("a table added", { try $0.change("CREATE TABLE more(a)") }),
        ("another history", { try $0.change("UPDATE meta SET value = value + 1 WHERE name = 'history'") }),
        ("another loop", { try $0.change("UPDATE meta SET value = 'lamps' WHERE name = 'loop'") }),
        ("a later position noted", { try $0.change("UPDATE meta SET value = value + 99 WHERE name = 'position'") }),
        ("a trim beyond the end", { try $0.change("REPLACE INTO meta VALUES ('trimmed_position', 9999)") }),
        ("moved elsewhere", { try $0.change("REPLACE INTO meta VALUES ('moved_to', 'elsewhere')") }),
        ("the newest snapshot removed", { try $0.remove($0.snapshots().last ?? "") }),
        ("the newest snapshot changed", { try $0.flip($0.snapshots().last ?? "", 50) }),
        ("all snapshots removed", { try $0.remove(".snapshots") }),
        ("the crash note is a folder", { try $0.occupy("-note") }),
        ("the crash note is a pipe", { try $0.occupy("-note", isPipe: true) }),
        ("the lock is a folder", { try $0.occupy("-lock") }),
        ("the lock is a pipe", { try $0.occupy("-lock", isPipe: true) }),
        ("the note is a folder", { try $0.occupy("-end") }),
        ("the note is a pipe", { try $0.occupy("-end", isPipe: true) }),
        ("others may write the lock", { chmod($0.path + "-lock", 0o666) }),
        ("others may write the crash note", { chmod($0.path + "-note", 0o666) }),
        ("others may write the file", { chmod($0.path, 0o666) }),
        ("others may write the log", { chmod($0.path + "-wal", 0o666) }),
        ("others may write the snapshots", { chmod($0.path + ".snapshots", 0o777) }),
        ("another name of the file", { try FileManager.default.linkItem(atPath: $0.path, toPath: $0.path + ".link") }),
    ]

    /// A verdict is an exit code, and there is one.
    @Test func `is judged by every command as by a start`() async throws {
        let parent = folder.path
        let saved = "\(parent).saved"
        try FileManager.default.copyItem(atPath: parent, toPath: saved)
        defer { try? FileManager.default.removeItem(atPath: saved) }
        var refused = 0
        for (what, damage) in Self.damages {
            for name in try FileManager.default.contentsOfDirectory(atPath: parent) {
                try FileManager.default.removeItem(atPath: "\(parent)/\(name)")
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: saved) {
                try FileManager.default.copyItem(atPath: "\(saved)/\(name)", toPath: "\(parent)/\(name)")
            }
            try damage(self)
            let codes = [
                "verify": await code("verify"), "rehearse": await code("rehearse"), "state": await code("state"),
                "state --at 3": await code("state", "--at", "3"), "history": await code("history"),
                "history --to 3": await code("history", "--to", "3"),
            ]
            let refusal = try await startRefusal()
            if let refusal {
                refused += 1
                for (command, code) in codes {
                    #expect(code != 0, "\(what): \(command) exits 0, and a start says \(refusal)")
                }
            } else {
                // The others read from the first record on, which a start need not have.
                #expect(codes["state"] == 0, "\(what): a start goes on, and commands exit \(codes)")
            }
        }
        #expect(refused >= 36)
    }

    @Test func `is verified from its first record if no snapshot can be read, and each of them is named`() async throws
    {
        let journal = try SQLiteJournal.read(path)
        let entries = try journal.snapshots()
        journal.close()
        for name in try snapshots() { try flip(name, 50) }
        let report = try await tools(Jobs(ends: false)).verify(.file(path))
        #expect(report.from == 0 && report.through == 30 && report.snapshots == 0)
        #expect(entries.count > 1)
        for entry in entries {
            let text = "the snapshot at seq \(entry.seq) is damaged: the bytes of \(path).snapshots/"
            #expect(report.difference?.contains(text) == true, "\(report)")
        }
        #expect(await code("verify") == 1)
    }

    @Test func `ends at its newest event, and commands that are asked for a later one say so`() async throws {
        let (tools, place) = (tools(Jobs(ends: false)), JournalPlace.file(path))
        #expect(try tools.history(place, Seq(30), nil, nil).records.contains { $0.seq == 30 })
        for seq in [31, 1 << 40] as [UInt64] {
            let error = #expect(throws: JournalError.self) { try tools.history(place, Seq(seq), nil, nil) }
            #expect(error?.reason == "its newest event is 30")
            #expect(await code("history", "--from", "\(seq)") == 2)
        }
        #expect(try tools.trim(place, Seq(31)).hasPrefix("\(path) begins at seq "))
        let error = #expect(throws: JournalError.self) { try tools.trim(place, Seq(1 << 40)) }
        #expect(error?.reason == "its newest event is 30")
        #expect(throws: JournalError.self) { try tools.trim(.file(path + ".no"), .initial) }
        #expect(!FileManager.default.fileExists(atPath: path + ".no"))
    }

    // MARK: Under a reducer

    @Test func `that is moved under its reducer is not written any more, and goes on when it is back`() async throws {
        let (address, context) = (ipcAddress(), context)
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.journal = .file(path)
        let node = try ReducerNode(Jobs(ends: false), configuration: configuration)
        let life = Task { try await node.run() }
        let remote = try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
        #expect(try await remote.sendAndConfirm(.note("30")).seq == Seq(31))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        // Also an idle reducer says so.
        var reason = ""
        while !reason.contains("was removed or renamed while it was open"), !reason.contains("there is no \(path)") {
            let report = try await NodeThread.run("probe") {
                try StatusProbe.ask(address, within: .seconds(60), context: context)
            }
            reason = report.notReadyBecause ?? ""
            try await Task.sleep(for: .milliseconds(5))
        }
        async let late = remote.sendAndConfirm(.note("31"))
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try await late.seq == Seq(32))
        await remote.close()
        node.stop()
        _ = try await life.value
        #expect(await code("verify") == 0)
    }

    // MARK: After a trim

    private func tools<D: LoopDefinition>(_ definition: D) -> JournalTools {
        JournalTools({ definition }, note: { _ in })
    }

    @Test func `shows every state that a trim has kept, and says which is the oldest`() async throws {
        let tools = tools(Jobs(ends: false))
        let place = JournalPlace.file(path)
        var states: [Seq: [UInt8]] = [:]
        for seq in (0...30).map(Seq.init) { states[seq] = try await tools.state(place, seq).bytes }
        #expect(try tools.trim(place, Seq(25)).hasPrefix("\(path) begins at seq "))
        let journal = try SQLiteJournal.read(path)
        let first = try #require(try journal.firstSeq())
        journal.close()
        try #require(first > Seq(2) && first <= Seq(25))
        // Newer snapshots do not take the place of the one at the cut.
        for round in 1...3 {
            try await run(Jobs(ends: false), notes: (20 + round * 10)..<(30 + round * 10), isKilled: round == 2)
        }
        for seq in (first.value - 1)...30 {
            #expect(try await tools.state(place, Seq(seq)).bytes == states[Seq(seq)])
        }
        let error = await #expect(throws: RecoveryError.self) { try await tools.state(place, Seq(first.value - 2)) }
        #expect(error == .trimmed(oldest: Seq(first.value - 1), damage: nil))
        let history = #expect(throws: JournalError.self) { try tools.history(place, Seq(2), nil, nil) }
        #expect(history?.kind == .trimmed && history?.remedy == "begin with seq \(first)")
        #expect(throws: JournalError.self) { try tools.history(place, Seq(1), Seq(first.value - 1), nil) }
        #expect(try tools.history(place, Seq(1), nil, nil).records.contains { $0.seq == first.value })
        #expect(try tools.history(place, first, first, nil).records.contains { $0.seq == first.value })
        for command in ["verify", "rehearse", "state", "history"] { #expect(await code(command) == 0, "\(command)") }
    }

    /// The one at the cut is damaged, and a start goes on from a later one.
    @Test func `says which snapshot is damaged if that keeps it from showing a state`() async throws {
        let (tools, place) = (tools(Jobs(ends: false)), JournalPlace.file(path))
        #expect(try tools.trim(place, Seq(2)).contains("no event was trimmed"))
        let line = try tools.trim(place, Seq(25))
        let journal = try SQLiteJournal.read(path)
        let (first, entries) = (try #require(try journal.firstSeq()), try journal.snapshots())
        journal.close()
        #expect(line == "\(path) begins at seq \(first) now")
        let (newest, oldest) = (try #require(entries.first), try #require(entries.last))
        try #require(newest.seq > oldest.seq)
        try flip(try #require(try snapshots().first), 50)
        let error = await #expect(throws: RecoveryError.self) { try await tools.state(place, oldest.seq.next) }
        let text = error.map { "\($0)" } ?? ""
        #expect(
            text.contains("the snapshot at seq \(oldest.seq) cannot be used") && text.contains("\(newest.seq)"),
            "\(text)")
        #expect(!text.contains("or from the records"), "\(text)")
        #expect(try await tools.rehearse(place).from == newest.seq.value)
        #expect(await code("rehearse") == 0)
        #expect(await code("verify") == 1)
        #expect(await code("state") == 0)
        // With none at all a person has to decide.
        for name in try snapshots().dropFirst() { try flip(name, 50) }
        let end = await #expect(throws: RecoveryError.self) { try await tools.judge(place) }
        #expect(end.map(NodeProgram.code) == 3, "\(end)")
    }

    // MARK: After another definition

    @Test func `shows states from before a change of the definition, if their schema is the same`() async throws {
        // Its snapshot is what the other definition begins with.
        try await run(Jobs(ends: false), notes: 30..<31, isKilled: false)
        try await run(MoreJobs(), notes: 31..<40, isKilled: false)
        let tools = tools(MoreJobs())
        for seq in [3, 12, 25, 30, 35] as [UInt64] {
            let (found, bytes) = try await tools.state(.file(path), Seq(seq))
            #expect(found == Seq(seq))
            #expect(try ShownState.encode(notes: Int(seq)) == bytes)
        }
    }

    @Test func `says which program shows states of another schema`() async throws {
        // Its snapshot is what the other definition begins with.
        try await run(Jobs(ends: false), notes: 30..<31, isKilled: false)
        try await run(OtherJobs(), notes: 31..<40, isKilled: false)
        let tools = tools(OtherJobs())
        let error = await #expect(throws: RecoveryError.self) { try await tools.state(.file(path), Seq(3)) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("was applied by a program of schema 1, and this one has schema 2"))
        #expect(try await tools.state(.file(path), nil).seq == Seq(40))
    }
}

extension ShownState {
    fileprivate static func encode(notes: Int) throws -> [UInt8] {
        var state = Jobs.State()
        state.notes = (0..<notes).map(String.init)
        return try encode(state)
    }
}

/// The jobs with one feedback more.
private struct MoreJobs: LoopDefinition {
    static let name = Jobs.name
    let initial = Jobs.State()
    private let jobs = Jobs(ends: false)

    func reduce(into state: inout Jobs.State, _ event: Jobs.Event, _ transition: Transition) {
        jobs.reduce(into: &state, event, transition)
    }

    var feedbacks: [Feedback<Jobs.State, Jobs.Event>] {
        jobs.feedbacks + [.react("cube", requests: \.done) { _ in .run { _ in } }.on(.workers)]
    }
}

/// The jobs of a later schema.
private struct OtherJobs: LoopDefinition {
    static let name = Jobs.name
    static let schema = 2
    static let oldestSchema = 1
    let initial = Jobs.State()
    private let jobs = Jobs(ends: false)

    func reduce(into state: inout Jobs.State, _ event: Jobs.Event, _ transition: Transition) {
        jobs.reduce(into: &state, event, transition)
    }

    func migrateState(_ old: Encoded, from schema: Int, at time: WallTime) throws -> Jobs.State {
        try old.decode(Jobs.State.self)
    }

    var feedbacks: [Feedback<Jobs.State, Jobs.Event>] { jobs.feedbacks }
}
