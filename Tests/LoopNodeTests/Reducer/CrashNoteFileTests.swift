import Foundation
import LoopCluster
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import Testing

@Suite struct `A crash note in a file` {
    private let temporary = TestFolder()
    private var path: String { "\(temporary.path)/journal.note" }

    /// A process that opens the note, reduces, and is ended by it.
    private static func live(_ path: String, _ events: [Fuses.Event]) throws {
        let file = try CrashNoteFile(path: path)
        _ = try file.begin(history: FusedReducer.history)
        var reducer = try FusedReducer(note: file.note)
        try reducer.send(events)
    }

    @Test func `outlives a trap, names the event, and has it set aside at the third time`() async throws {
        for crashes in 1...2 {
            await #expect(processExitsWith: .failure) { [path = path as String] in
                try Self.live(path, [.step, .trap, .step])
            }
            let file = try CrashNoteFile(path: path)
            let line = try #require(try file.begin(history: FusedReducer.history))
            #expect(line.hasPrefix("the last process ended in reduce, at event 2 of session 1"))
            #expect(file.note.suspects.map(\.crashes) == [UInt32(crashes)])
        }
        let file = try CrashNoteFile(path: path)
        #expect(try file.begin(history: FusedReducer.history) == nil)
        var reducer = try FusedReducer(note: file.note)
        try reducer.send([.step, .trap, .step])
        #expect(reducer.machine.journaled.state(of: Fuses()).count == 2)
        #expect(reducer.machine.status().quarantined == 1)
        #expect(file.note.suspects == [])
    }

    @Test func `outlives a stack that is used up`() async throws {
        await #expect(processExitsWith: .failure) { [path = path as String] in try Self.live(path, [.overflow]) }
        let file = try CrashNoteFile(path: path)
        #expect(try file.begin(history: FusedReducer.history) != nil)
        #expect(file.note.suspects.map(\.number) == [1])
    }

    @Test(arguments: [Fuses.Event.trap, .overflow])
    func `of a replay that trapped stops the next start, and says at which seq and what to do`(
        fuse: Fuses.Event
    ) async throws {
        await #expect(processExitsWith: .failure) { [path = path as String, fuse = fuse as Fuses.Event] in
            let file = try CrashNoteFile(path: path)
            _ = try file.begin(history: FusedReducer.history)
            try FusedReducer.replay([.step, fuse], note: file.note)
        }
        let file = try CrashNoteFile(path: path)
        for _ in 0..<2 {
            let error = #expect(throws: NodeError.self) { try file.begin(history: FusedReducer.history) }
            let text = error?.description ?? ""
            #expect(text.contains("in reduce when it replayed event 2 (record 4)"))
            #expect(text.contains("remove \(path)"))
        }
    }

    @Test func `is its user's alone, and no other file is taken for it`() throws {
        do { _ = try CrashNoteFile(path: path) }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        func refusal() -> String? {
            #expect(throws: SystemError.self) { _ = try CrashNoteFile(path: path) }?.hint
        }
        chmod(path, 0o602)
        #expect(
            refusal()
                == "it can be changed by other users (mode 602); if what is in it can be trusted: chmod go-w \(path)")
        let letter = "\(temporary.path)/letter"
        try "dear aunt".write(toFile: letter, atomically: false, encoding: .utf8)
        unlink(path)
        symlink(letter, path)
        #expect(refusal() == "it is a symbolic link; give the path that it leads to")
        unlink(path)
        link(letter, path)
        #expect(refusal() == "it has 2 names (hard links); remove the other names, or use a copy: cp \(path) …")
        unlink(path)
        mkfifo(path, 0o600)
        #expect(refusal() == "it is no regular file; give another path, or move it away")
        #expect(try String(contentsOfFile: letter, encoding: .utf8) == "dear aunt")
    }

    @Test func `is made whole, and says what is wrong where it cannot be`() throws {
        do { _ = try CrashNoteFile(path: path) }
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size == CrashNote.byteCount)
        let missing = path + "/in a file"
        let error = #expect(throws: SystemError.self) { _ = try CrashNoteFile(path: missing) }
        #expect(error?.description == "could not open the crash note \(missing): Not a directory")
    }
}
