import Foundation
import Glibc
import LoopCluster
import LoopJournal
import LoopWire
import Testing

@Suite struct `The lock of a journal` {
    private let folder: Folder

    init() throws { folder = try Folder(inMemory: true) }

    /// Between its start and its program a child process holds everything that its parent had open.
    @Test func `is given back when the journal is closed, although a child still holds its lock`() throws {
        let journal = try Examples.open(folder.journal)
        let held = try #require(descriptor(of: folder.journal + "-lock"))
        let inherited = dup(held)
        defer { close(inherited) }

        journal.close()

        try Examples.open(folder.journal).close()
    }

    @Test func `names the address of its owner to those that wait`() throws {
        let journal = try SQLiteJournal.open(
            folder.journal, loop: "test", newHistory: History(1), address: "tcp://a:7710")
        #expect(SQLiteJournal.ownerAddress(of: folder.journal) == "tcp://a:7710")
        journal.close()
        let next = try Examples.open(folder.journal)
        #expect(SQLiteJournal.ownerAddress(of: folder.journal) == nil)
        next.close()
    }

    @Test(arguments: ["", "\n", "12", "12\n", "12\ntcp://a:77", "12\n\n", "12\n\u{fffd}", "x\n\0\n"])
    func `names no address where its line is not there, or not whole`(text: String) throws {
        try Examples.open(folder.journal).close()
        try text.write(toFile: folder.journal + "-lock", atomically: false, encoding: .utf8)
        let address = SQLiteJournal.ownerAddress(of: folder.journal)
        #expect(address == nil || address == "\0")
    }

    private func descriptor(of path: String) -> Int32? {
        (0..<Int32(4096)).first { number in
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("/proc/self/fd/\(number)", &target, target.count - 1)
            return count > 0
                && String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) == path
        }
    }
}
