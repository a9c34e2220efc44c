import CBOR
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

/// A file of this test's own, removed with those beside it at the end.
private struct TestFile {
    private let folder = TestFolder()
    var path: String { "\(folder.path)/outbox" }
}

@Suite(.timeLimit(.minutes(5))) struct `An outbox file` {
    private let file = TestFile()

    private func entry(_ byte: UInt8) -> Entry { Entry(kind: .event, payload: [byte], wantsSeq: byte % 2 == 0) }

    private func machine(resuming stream: PeerStream, peer: PeerID) -> PeerMachine {
        PeerMachine(configuration: PeerConfiguration(peer: peer, loop: "jobs"), resuming: stream, at: .zero)
    }

    @Test func `gives back what was put into it`() throws {
        var stream = PeerStream()
        do {
            let outbox = try OutboxFile(file.path)
            #expect(try outbox.load() == PeerStream())
            var machine = machine(resuming: PeerStream(), peer: outbox.peer)
            for byte in 1...3 as ClosedRange<UInt8> {
                _ = machine.send([byte], of: nil, wantsSeq: byte % 2 == 0)
                try outbox.commit(machine, loop: "jobs", at: .zero, isLast: false)
            }
            stream = machine.stream(after: 0)
            #expect(stream.entries == [entry(1), entry(2), entry(3)])
        }
        let outbox = try OutboxFile(file.path)
        #expect(try outbox.load() == stream)
        #expect(outbox.loop == "jobs")
    }

    @Test func `keeps the peer's name as long as it has a session`() throws {
        let first = try OutboxFile(file.path).peer
        let second = try OutboxFile(file.path).peer
        #expect(first != second)
        var stream = PeerStream()
        stream.session = SessionID(4)
        do {
            let outbox = try OutboxFile(file.path)
            try outbox.commit(machine(resuming: stream, peer: first), loop: "jobs", at: .zero, isLast: true)
        }
        let outbox = try OutboxFile(file.path)
        #expect(try outbox.load().session == SessionID(4))
        #expect(outbox.peer == first)
    }

    @Test func `is for one process at a time, and says so`() throws {
        let outbox = try OutboxFile(file.path)
        let error = #expect(throws: OutboxError.self) { try OutboxFile(file.path) }
        #expect(
            error?.description
                == "the outbox \(file.path) is in use by another process; give each sender a file of its own")
        _ = try outbox.load()
    }

    @Test func `that is none is refused, and left as it is`() throws {
        let text = "this is a letter to my aunt, and longer than the header of any database"
        let handle = try #require(fopen(file.path, "w"))
        fputs(String(repeating: text, count: 40), handle)
        fclose(handle)
        let error = #expect(throws: OutboxError.self) { try OutboxFile(file.path) }
        #expect(error?.description.contains("is no outbox") == true)
        #expect(throws: OutboxError.self) { try OutboxFile("/no/such/folder/outbox") }
    }

    @Test(arguments: ["", "-wal", "-shm", "-journal"])
    func `that is not its sender's alone is refused, and what a link leads to stays`(ending: String) throws {
        do { _ = try OutboxFile(file.path) }
        let path = file.path + ending
        if access(path, F_OK) != 0 { close(open(path, O_WRONLY | O_CREAT, 0o600)) }
        func refusal() -> String? { #expect(throws: OutboxError.self) { try OutboxFile(file.path) }?.description }
        chmod(path, 0o666)
        #expect(
            refusal()
                == "the outbox cannot be used: \(path) can be changed by other users (mode 666); "
                + "if what is in it can be trusted: chmod go-w \(path)")
        chmod(path, 0o600)
        chown(path, 12345, 0)
        #expect(
            refusal()
                == "the outbox cannot be used: \(path) belongs to user 12345, and this process is of user \(geteuid()); "
                + "run as its owner, or change that: chown \(geteuid()) \(path)")
        chown(path, geteuid(), 0)
        let other = file.path + "-other"
        link(path, other)
        #expect(
            refusal()
                == "the outbox cannot be used: \(path) has 2 names (hard links); "
                + "remove the other names, or use a copy: cp \(path) …")
        unlink(path)
        symlink(other, path)
        #expect(
            refusal()
                == "the outbox cannot be used: \(path) is a symbolic link; give the path that it leads to")
        #expect(access(other, F_OK) == 0)
        unlink(path)
        mkfifo(path, 0o600)
        #expect(
            refusal()
                == "the outbox cannot be used: \(path) is no regular file; give another path, or move it away")
    }

    @Test func `is for its user alone, whatever the umask`() async throws {
        await #expect(processExitsWith: .success) { [path = file.path as String] in
            umask(0)
            let outbox = try OutboxFile(path)
            for ending in ["", "-wal"] {
                var status = stat()
                #expect(lstat(path + ending, &status) == 0 && status.st_mode == S_IFREG | 0o600, "\(ending)")
            }
            _ = try outbox.load()
        }
    }

    @Test func `with other tables is refused, and left as it is`() throws {
        do { _ = try OutboxFile(file.path) }
        for (change, back, difference) in [
            (
                "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END", "DROP TRIGGER t",
                "there is a trigger t"
            ),
            ("CREATE VIEW v AS SELECT number FROM entry", "DROP VIEW v", "there is a view v"),
            ("CREATE TABLE more(x)", "DROP TABLE more", "there is a table more"),
            ("DROP TABLE entry", "", "there is no table entry"),
        ] {
            try Database(file.path, .write).execute(change)
            let error = #expect(throws: OutboxError.self) { try OutboxFile(file.path) }
            #expect(
                error?.description
                    == "\(file.path) is no outbox: it has not the tables of an outbox: \(difference) (SQLite 26); "
                    + "name another by --outbox FILE")
            try Database(file.path, .write).execute(back)
        }
    }

    @Test func `that cannot be right is refused by its entry`() throws {
        do {
            let outbox = try OutboxFile(file.path)
            var machine = machine(resuming: try outbox.load(), peer: outbox.peer)
            for byte in 1...3 as ClosedRange<UInt8> { _ = machine.send([byte], of: nil, wantsSeq: false) }
            try outbox.commit(machine, loop: "jobs", at: .zero, isLast: true)
        }
        for (damage, complaint) in [
            ("UPDATE entry SET bytes = x'09' WHERE number = 2", "entry 2"),
            ("DELETE FROM entry WHERE number = 2", "entry 2 is missing"),
            ("UPDATE stream SET settled = -1", "its numbers cannot be"),
            ("UPDATE stream SET settled = 3, offered = 9", "are there"),
        ] {
            try Database(file.path, .write).execute(damage)
            let outbox = try OutboxFile(file.path)
            let error = #expect(throws: OutboxError.self) { try outbox.load() }
            #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct `G3 G4 A sender with an outbox file` {
    private let file = TestFile()

    private func remote(_ address: ReducerAddress, stopLimit: Duration = .seconds(5)) throws -> RemoteConnection {
        try RemoteConnection(
            loop: "jobs", reducer: address, name: "sender", outbox: file.path,
            stopLimit: stopLimit, log: .silent)
    }

    private func note(_ text: String) throws -> [UInt8] { try CBOR.encode(Jobs.Event.note(text)) }

    @Test func `has an event on disk when send returns, and the next sender with that file sends it`() async throws {
        let address = ipcAddress()
        do {
            // No reducer is there to take the events.
            let first = try remote(address, stopLimit: .zero)
            for text in ["a", "b"] { _ = try await first.send(note(text), confirmed: false) }
            await first.close()
        }
        var configuration = try ReducerNodeConfiguration.test(address, ZMQContext())
        configuration.machine.silenceLimit = .seconds(3)
        let reducer = try ReducerNode(Jobs(), configuration: configuration)
        let run = Task { try await reducer.run() }
        let second = try remote(address)
        #expect(try await second.send(note("c"), confirmed: true).seq == Seq(3))
        let left = try await second.recoveredEvents()
        #expect(left.map(\.number) == [1, 2])
        #expect(left.map(\.event) == [try note("a"), try note("b")])
        #expect(left.map(\.outcome) == [.applied(nil), .applied(nil)])
        await second.close()
        // A file whose stream has ended begins another.
        let third = try remote(address)
        #expect(try await third.recoveredEvents() == [])
        #expect(try await third.send(note("d"), confirmed: true).seq == Seq(4))
        await third.close()
        reducer.stop()
        _ = try await run.value
    }

    @Test func `cannot be two, nor for another loop`() async throws {
        let address = ipcAddress()
        let first = try remote(address, stopLimit: .zero)
        let error = #expect(throws: NodeError.self) { try remote(address) }
        #expect(error?.description.contains("is in use by another process") == true)
        _ = try await first.send(note("a"), confirmed: false)
        await first.close()
        let other = #expect(throws: NodeError.self) {
            try RemoteConnection(
                loop: "lamps", reducer: address, name: "", outbox: file.path, log: .silent)
        }
        #expect(other?.description.contains("holds events for the loop jobs, not for lamps") == true)
    }

    @Test func `warns where other users may replace its file`() async throws {
        let folder = TestFolder()
        let path = "\(folder.path)/outbox"
        chmod(folder.path, 0o777)
        let lines = Locked<[String]>([])
        let sender = try RemoteConnection(
            loop: "jobs", reducer: ipcAddress(), name: "sender", outbox: path,
            log: .lines { line in lines.withLock { $0.append(line) } })
        await sender.close()
        let warning =
            "other users can replace files in \(folder.path) (mode 777), such as \(path): chmod o-w \(folder.path)"
        #expect(lines.withLock { $0.filter { $0.hasSuffix(warning) }.count } == 1)
    }

    @Test func `tells that what may have left is lost with the history, and sends what never left`() async throws {
        let address = ipcAddress()
        do {
            // As an earlier process left it: one event sent in a session of a history that is gone, one never sent.
            let outbox = try OutboxFile(file.path)
            var stream = try outbox.load()
            (stream.history, stream.session, stream.offered) = (History(1), SessionID(7), 1)
            stream.epoch = Epoch(number: 9, nonce: 9)
            stream.entries = [Entry(kind: .event, payload: try note("sent")[...])]
            var machine = PeerMachine(
                configuration: PeerConfiguration(peer: outbox.peer, loop: "jobs"), resuming: stream, at: .zero)
            _ = machine.send(try note("unsent")[...], of: nil, wantsSeq: true)
            try outbox.commit(machine, loop: "jobs", at: .zero, isLast: true)
        }
        let reducer = try ReducerNode(Jobs(), configuration: try .test(address, ZMQContext()))
        let run = Task { try await reducer.run() }
        let sender = try remote(address)
        let left = try await sender.recoveredEvents()
        #expect(left.map(\.outcome) == [.refused(SendRefusal(.historyChanged)), .applied(Seq(1))])
        await sender.close()
        reducer.stop()
        _ = try await run.value
    }
}
