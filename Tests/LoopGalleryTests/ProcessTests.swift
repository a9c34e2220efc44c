import LoopNode
import Testing

/// `loop-example` as people call it.
@Suite(.serialized, .timeLimit(.minutes(2))) struct `loop-example` {
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
    }
}
