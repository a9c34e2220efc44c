import Glibc
import LoopCollections
import LoopNode
import TestFolders
import Testing

/// `loopctl up` as people call it: verdicts are exit codes, and nothing is left running, whatever ends it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `loopctl up` {
    /// One call of loopctl, its output, and the processes it started.
    private final class Up: Sendable {
        let process: ChildProcess
        /// Where its journal is; removed with it.
        private let folder: TestFolder
        var journal: String { "\(folder.path)/up.journal" }
        private let lines = Locked<[String]>([])

        init(_ arguments: [String], in folder: TestFolder = TestFolder()) throws {
            let lines = lines
            self.folder = folder
            process = try ChildProcess(
                .init(
                    Executables.path("loopctl"), ["up", "--journal", "\(folder.path)/up.journal"] + arguments,
                    output: .lines { _, line in lines.withLock { $0.append(line) } }))
        }

        var output: String { lines.withLock { $0.joined(separator: "\n") } }

        /// The processes of this machine whose parent it is.
        var children: [Int32] {
            processes().filter { $0.parent == process.processID }.map(\.id)
        }
    }

    @Test func `exits with 0 where nothing is broken, and with 1 where something is`() async throws {
        let folder = TestFolder()
        folder.write("index.html", "<a href=\"other.html#there\">x</a>")
        folder.write("other.html", "<p id=\"there\">y</p>")
        let good = try Up(["linkcheck", "--workers", "2", "--serve", folder.path])
        #expect(await good.process.wait() == .exited(0))
        #expect(good.output.contains("nothing broken"))
        folder.write("other.html", "<p id=\"elsewhere\">y</p>")
        let bad = try Up(["linkcheck", "--workers", "2", "--serve", folder.path])
        #expect(await bad.process.wait() == .exited(1))
        #expect(bad.output.contains("/other.html#there"))
    }

    @Test func `with keys runs the loop with those that it makes, and admits no others`() async throws {
        let site = try CheckedSite(pages: 60)
        let folder = TestFolder()
        let bind = ipcEndpoint()
        let keys = "\(folder.path)/keys"
        site.server.hold(after: 8)
        let up = try Up(["linkcheck", "--keys", keys, "--bind", bind, "--workers", "2", "--capacity", "2", site.url])
        try await site.untilHeld()
        // A worker, as of another machine, knows both files.
        let asked = [
            "status", "--reducer", bind, "--key", "\(keys)/up.key_secret", "--reducer-key", "\(keys)/server.key",
        ]
        let admitted = try ChildProcess(.init(Executables.path("loopctl"), asked))
        #expect(await admitted.wait() == .exited(0))
        let stranger = try ChildProcess(.init(Executables.path("loopctl"), ["status", "--reducer", bind]))
        #expect(await stranger.wait() == .exited(2))
        site.server.release()
        #expect(await up.process.wait() == .exited(1), "\(up.output)")
        // A second run, with another journal, uses the keys that the first has made in the folder.
        let again = try Up(["linkcheck", "--keys", keys, "--workers", "1", site.url])
        #expect(await again.process.wait() == .exited(1), "\(again.output)")
        #expect(verdict(again.output) == verdict(up.output))
    }

    @Test(arguments: [["linkcheck", "--worker", "2", "."], ["linkcheck"], ["linkcheck", "--workers", "none", "."]])
    func `exits with 64 where it is used wrongly`(arguments: [String]) async throws {
        #expect(await (try Up(arguments)).process.wait() == .exited(64))
    }

    @Test func `exits with 2 where the executables are not there`() async throws {
        let up = try Up(["linkcheck", "--reducer-exe", "/no/such/reducer", "--workers", "1", "http://127.0.0.1:9/"])
        #expect(await up.process.wait() == .exited(2))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func `leaves nothing running when it is ended by a signal`(signal: Int32) async throws {
        let site = try CheckedSite(pages: 24)
        site.server.hold(after: 8)
        let up = try Up(["linkcheck", "--workers", "2", "--capacity", "2", site.url])
        try await site.untilHeld()
        while up.children.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        let children = up.children
        up.process.send(signal)
        let exit = await up.process.wait()
        #expect(exit == (signal == SIGKILL ? .signaled(SIGKILL) : .exited(0)))
        #expect(up.output.contains("stopped; the loop is kept in \(up.journal), ") == (signal != SIGKILL))
        // The kernel ends the children of a killed process at once, but not in the same instant.
        while children.contains(where: { id in processes().contains { $0.id == id } }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func `a reducer that is killed is started again, and the report is the same`() async throws {
        let site = try CheckedSite(pages: 120)
        let calm = try Up(["linkcheck", "--workers", "2", "--capacity", "4", site.url])
        #expect(await calm.process.wait() == .exited(1))
        site.server.hold(after: 20)
        let rough = try Up(["linkcheck", "--workers", "2", "--capacity", "4", site.url])
        try await site.untilHeld()
        let reducer = processes().first { $0.parent == rough.process.processID && $0.name == "loop-reducer" }
        kill(try #require(reducer).id, SIGKILL)
        site.server.release()
        #expect(await rough.process.wait() == .exited(1))
        #expect(verdict(rough.output) == verdict(calm.output))
        #expect(rough.output.contains("ended by signal 9"))
        #expect(rough.output.contains("recovered seq"))
    }

    @Test func `a run that was killed as a whole goes on where it was by the same command`() async throws {
        let site = try CheckedSite(pages: 120)
        let arguments = ["linkcheck", "--workers", "2", "--capacity", "4", site.url]
        let calm = try Up(arguments)
        #expect(await calm.process.wait() == .exited(1))
        let calmRequests = site.server.requests.values.reduce(0, +)
        let folder = TestFolder()
        site.server.hold(after: 80)
        let killed = try Up(arguments, in: folder)
        try await site.untilHeld()
        killed.process.send(SIGKILL)
        #expect(await killed.process.wait() == .signaled(SIGKILL))
        site.server.release()
        let again = try Up(arguments, in: folder)
        #expect(await again.process.wait() == .exited(1))
        #expect(verdict(again.output) == verdict(calm.output))
        #expect(again.output.contains("recovered seq"))
        // What was in flight is fetched again, what was known is not: at most what eight places held.
        #expect(site.server.requests.values.reduce(0, +) <= 2 * calmRequests + 8)
    }

    @Test func `says why a reducer cannot have its journal, and does not start it again`() async throws {
        let folder = TestFolder()
        folder.write("up.journal", "this is no journal, and there is more of it than a header would be")
        let up = try Up(["linkcheck", "--workers", "1", "http://127.0.0.1:9/"], in: folder)
        #expect(await up.process.wait() == .exited(2))
        #expect(up.output.contains("up.journal"))
        #expect(!up.output.contains("starts again"))
    }

    /// What the report says is broken, and where.
    private func verdict(_ output: String) -> [Substring] {
        output.split(separator: "\n").filter { $0.hasPrefix("broken") || $0.hasPrefix("        on") }
    }
}

/// The processes of this machine: number, parent and name.
private func processes() -> [(id: Int32, parent: Int32, name: String)] {
    var all: [(id: Int32, parent: Int32, name: String)] = []
    guard let folder = opendir("/proc") else { return [] }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        guard let id = Int32(name), let stat = contents(of: "/proc/\(id)/stat"),
            let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
        else { continue }
        let fields = stat[stat.index(after: close)...].split(separator: " ")
        guard fields.count > 1, fields[0] != "Z", let parent = Int32(fields[1]) else { continue }
        all.append((id, parent, String(stat[stat.index(after: open)..<close])))
    }
    return all
}
