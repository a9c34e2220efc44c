import Glibc
import Linux
import TestFolders
import Testing

@Suite struct `A file that is written at the end of a run` {
    private let folder = TestFolder()

    @Test func `cannot be a link to nothing, or one of a loop of links`() {
        symlink("\(folder.path)/none", "\(folder.path)/dangling")
        symlink("\(folder.path)/second", "\(folder.path)/first")
        symlink("\(folder.path)/first", "\(folder.path)/second")
        for (name, code) in [("dangling", ENOENT), ("first", ELOOP)] {
            let error = #expect(throws: SystemError.self) { try FileSystem.checkWritable("\(folder.path)/\(name)") }
            #expect(error?.code == code)
        }
    }

    @Test func `is replaced in one step, also through a link, and keeps its permissions`() throws {
        folder.write("report", "old")
        chmod("\(folder.path)/report", 0o640)
        symlink("report", "\(folder.path)/link")
        try FileSystem.replace("\(folder.path)/link", with: "new")
        #expect(try FileSystem.bytes(of: "\(folder.path)/report") == Array("new".utf8))
        #expect(FileSystem.status(of: "\(folder.path)/report")?.permissions == 0o640)
        try FileSystem.replace("\(folder.path)/other", with: "first")
        #expect(try FileSystem.names(in: folder.path).sorted() == ["link", "other", "report"])
    }

    @Test func `has a name that may be as long as any`() throws {
        let name = String(repeating: "n", count: 255)
        for text in ["first", "second"] {
            try FileSystem.replace("\(folder.path)/\(name)", with: text)
            #expect(try FileSystem.bytes(of: "\(folder.path)/\(name)") == Array(text.utf8))
        }
        #expect(try FileSystem.names(in: folder.path) == [name])
    }

    @Test func `cannot be made in the folder of processes`() {
        for path in ["/proc/outcome", "/proc/self/outcome"] {
            #expect(throws: SystemError.self) { try FileSystem.checkWritable(path) }
        }
    }

    @Test func `that is a device is written as it is`() {
        let error = #expect(throws: SystemError.self) { try FileSystem.replace("/dev/full", with: "new") }
        #expect(error?.code == ENOSPC)
    }
}
