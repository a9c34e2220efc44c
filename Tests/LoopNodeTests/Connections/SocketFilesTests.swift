import Foundation
import LoopCollections
import TestFolders
import Testing
import ZMQ

@testable import LoopNode

@Suite(.timeLimit(.minutes(5))) struct `The file of a socket` {
    @Test func `is reported once if it is removed or replaced, and not if it is closed`() throws {
        let folder = TestFolder()
        let (a, b) = (folder.path + "/a", folder.path + "/b")
        let files = SocketFiles()
        #expect(files.gone(of: [a, b]).isEmpty)
        try Data().write(to: URL(fileURLWithPath: a))
        try Data().write(to: URL(fileURLWithPath: b))
        #expect(files.gone(of: [a, b]).isEmpty && files.gone(of: [a, b]).isEmpty)
        try Data().write(to: URL(fileURLWithPath: b + ".new"))
        #expect(rename(b + ".new", b) == 0)
        #expect(files.gone(of: [a, b]) == [b])
        try FileManager.default.removeItem(atPath: a)
        #expect(files.gone(of: [b]).isEmpty)
        #expect(files.gone(of: [a, b]).isEmpty)
    }

    /// A caller may have chosen the paths before the sockets were closed, or after they were opened. If a key has changed, the
    /// sockets are opened at the paths that they had.
    @Test func `is not missed while sockets are closed and opened`() throws {
        let folder = TestFolder()
        let (a, b) = (folder.path + "/a", folder.path + "/b")
        let files = SocketFiles()
        for path in [a, b] { try Data().write(to: URL(fileURLWithPath: path)) }
        #expect(files.gone(of: [a, b]).isEmpty)
        files.pause()
        for path in [a, b] { try FileManager.default.removeItem(atPath: path) }
        #expect(files.gone(of: [a, b]).isEmpty)
        try Data().write(to: URL(fileURLWithPath: b))
        files.resume()
        #expect(files.gone(of: [a, b]).isEmpty && files.gone(of: [b]).isEmpty)
        try FileManager.default.removeItem(atPath: b)
        #expect(files.gone(of: [b]) == [b])
    }

    @Test func `is missed by a reducer`() async throws {
        let (address, lines) = (ipcAddress(), Locked<[String]>([]))
        var configuration = try ReducerNodeConfiguration.test(address, ZMQContext())
        configuration.log = .lines { line in lines.withLock { $0.append(line) } }
        let reducer = try ReducerNode(Jobs(), configuration: configuration)
        async let outcome = reducer.run()
        let path = String(address.description.dropFirst("ipc://".count))
        func isSaid(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }
        while !isSaid("listening") { try await Task.sleep(for: .milliseconds(5)) }
        try FileManager.default.removeItem(atPath: path + ".pub")
        while !isSaid("the socket \(path).pub was removed or replaced") { try await Task.sleep(for: .milliseconds(5)) }
        #expect(!isSaid("the socket \(path) was"))
        reducer.stop()
        _ = try await outcome
    }
}
