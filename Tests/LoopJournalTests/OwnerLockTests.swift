import Glibc
import LoopCluster
import LoopJournal
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

    private func descriptor(of path: String) -> Int32? {
        (0..<Int32(4096)).first { number in
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink("/proc/self/fd/\(number)", &target, target.count - 1)
            return count > 0
                && String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) == path
        }
    }
}
