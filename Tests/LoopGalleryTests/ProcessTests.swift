import Glibc
import LoopNode
import Testing

/// `loop-example` as people call it.
@Suite(.serialized, .timeLimit(.minutes(5))) struct `loop-example` {
    @Test(arguments: ["text", "cluster"])
    func `pages to the third page of movies`(mode: String) async throws {
        let example = try ExampleProcess(
            ["movies", "--mode", mode, "--until", "His Girl Friday", "--for", "60s"], input: ["More", "More"])
        #expect(await example.process.wait() == .exited(0))
        let output = example.output
        #expect(output.filter { $0 == "- Nosferatu  1922" }.count >= 3)
        #expect(output.dropLast(2).last == "- His Girl Friday  1940")
        #expect(output.suffix(2) == ["[ More ]", "---"])
    }

    @Test(arguments: ["text", "cluster"])
    func `shows a failure of the server, and goes on after another try`(mode: String) async throws {
        let example = try ExampleProcess(
            ["movies", "--mode", mode, "--fault", "500", "--fault-share", "1", "--fault-count", "1"]
                + ["--until", "Nosferatu", "--for", "60s"],
            input: ["Try again"])
        #expect(await example.process.wait() == .exited(0))
        #expect(example.output.contains("Page 1 could not be fetched: the server answered 500"))
    }

    @Test func `says what could not be done, and what was not shown`() async throws {
        let example = try ExampleProcess(["movies", "--for", "10ms", "--until", "Solaris"], input: ["Sign in"])
        #expect(await example.process.wait() == .exited(1))
        #expect(example.output.contains("loop-example: nothing to press or to fill in for \"Sign in\""))
        #expect(example.output.contains("loop-example: \"Solaris\" was not shown"))
    }

    @Test func `a cluster that cannot run says why`() async throws {
        let example = try ExampleProcess(
            ["movies", "--mode", "cluster", "--journal", "/nowhere/at.all", "--until", "Nosferatu", "--for", "60s"])
        #expect(await example.process.wait() == .exited(2))
        #expect(example.output.contains { $0.contains("/nowhere/at.all") })
        #expect(example.output.last == "loop-example: the cluster has ended")
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `leaves nothing running, whatever ends it`(signal: Int32) async throws {
        let example = try ExampleProcess(
            command: "exec loop-example movies --mode cluster --for 60s --until 'no such film' </dev/null")
        try await example.hasSaid("- Nosferatu  1922")
        // loopctl, the reducer and two workers have the reducer's address on their command lines.
        let loopctl = try #require(Self.processes().first { $0.parent == example.process.processID })
        let words = loopctl.words.split(separator: " ")
        let address = try #require(words.first { $0.hasPrefix("ipc://") })
        #expect(Self.processes().filter { $0.words.contains(address) }.count == 4)
        kill(example.process.processID, signal)
        #expect(await example.process.wait() == (signal == SIGKILL ? .signaled(SIGKILL) : .exited(0)))
        // The kernel ends the children of a killed process at once, but not in the same instant.
        while Self.processes().contains(where: { $0.words.contains(address) }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The processes of this machine: parent and command line.
    private static func processes() -> [(parent: Int32, words: String)] {
        var all: [(parent: Int32, words: String)] = []
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard Int32(name) != nil else { continue }
            let stat = RepositoryText.contents("/proc/\(name)/stat")
            let words = RepositoryText.contents("/proc/\(name)/cmdline").replacing("\0", with: " ")
            guard let close = stat.lastIndex(of: ")") else { continue }
            let fields = stat[stat.index(after: close)...].split(separator: " ")
            if fields.count > 1, let parent = Int32(fields[1]) { all.append((parent, words)) }
        }
        return all
    }
}
