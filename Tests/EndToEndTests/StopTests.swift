import Glibc
import LoopCollections
import LoopNode
import TestFolders
import Testing

/// A first SIGTERM, SIGINT or SIGHUP ends every program of a loop cleanly, whatever it is doing, with exit code 0.
@Suite(.timeLimit(.minutes(2))) struct `A stop by a signal` {
    private let folder = TestFolder()

    /// A program, and the lines that it wrote.
    private final class Program: Sendable {
        let process: ChildProcess
        let lines = Locked<[String]>([])

        init(_ program: String, _ arguments: [String]) throws {
            let lines = lines
            process = try ChildProcess(
                .init(
                    Executables.path(program), arguments,
                    output: .lines { _, line in lines.withLock { $0.append(line) } }))
        }

        /// Waits until it has said something.
        func says(_ text: String) async throws {
            while !lines.withLock({ $0.contains { $0.contains(text) } }) {
                guard process.status == nil else { throw NodeError.system("it ended and never said: \(text)") }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    private func reducer(_ endpoint: String, _ more: [String] = []) throws -> Program {
        try Program(
            "loop-reducer", ["counter", "--bind", endpoint, "--journal", "\(folder.path)/journal"] + more)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `ends a reducer that waits for its journal, which it never takes`(signal: Int32) async throws {
        let owner = try reducer(ipcEndpoint())
        try await owner.says("listening at")
        let waiting = try reducer(ipcEndpoint(), ["--wait"])
        try await waiting.says("waiting for it")
        waiting.process.send(signal)
        #expect(await waiting.process.wait(within: .seconds(20)) == .exited(0))
        owner.process.terminate()
        #expect(await owner.process.wait(within: .seconds(20)) == .exited(0))
        // One epoch of the owner's, and now the third process has the second.
        let next = try reducer(ipcEndpoint())
        try await next.says("epoch 2")
        next.process.terminate()
        _ = await next.process.wait()
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func `ends a worker that has no reducer, of which it has told`(signal: Int32) async throws {
        let endpoint = ipcEndpoint()
        let worker = try Program("loop-effect", ["counter", "--reducer", endpoint])
        try await worker.says("waiting for a reducer at \(endpoint) for 2 s: nothing listens there")
        worker.process.send(signal)
        #expect(await worker.process.wait(within: .seconds(20)) == .exited(0))
    }

    @Test func `ends a top, which has shown that no reducer answers, then the status of one`() async throws {
        let endpoint = ipcEndpoint()
        let top = try Program("loopctl", ["top", "--reducer", endpoint, "--every", "100ms", "--timeout", "300ms"])
        try await top.says("loopctl: no reducer answered at \(endpoint)")
        let owner = try reducer(endpoint)
        try await top.says("epoch 1")
        top.process.send(SIGINT)
        #expect(await top.process.wait(within: .seconds(20)) == .exited(130))
        owner.process.terminate()
        _ = await owner.process.wait()
    }

    @Test func `is not needed by a tail with a connect timeout, which says why it ends and nothing of the loop`()
        async throws
    {
        let endpoint = ipcEndpoint()
        let tail = try Program("loopctl", ["tail", "--reducer", endpoint, "--connect-timeout", "200ms"])
        #expect(await tail.process.wait(within: .seconds(20)) == .exited(2))
        let lines = tail.lines.withLock { $0 }
        #expect(lines.count == 2, "\(lines)")
        #expect(
            lines.last
                == "loopctl: no reducer answered at \(endpoint) within 0.2 seconds: nothing listens there; is it running?"
        )
    }
}
