import Glibc
import Linux
import LoopCollections
import LoopCore
import LoopNode

/// One process of the run, which is started, killed, frozen and stopped repeatedly. Its output goes to a file.
final class ChaosProcess: Sendable {
    private struct State {
        var child: ChildProcess?
        var starts = 0
        var startedAt = MonotonicTime.zero
        var unexpected: [String] = []
        /// Whether it was told to end.
        var isMeantToEnd = false
    }

    let name: String
    /// Its exit code if it is told to end.
    private let codeWhenTold: Int32
    private let program: String
    private let arguments: [String]
    private let space: NetworkSpace
    private let log: String
    private let state = Locked(State())
    /// The last lines of its output.
    private let lastLine = Locked("it said nothing")

    /// - Parameter log: the file to which its lines are appended.
    init(
        name: String, program: String, arguments: [String], codeWhenTold: Int32, space: NetworkSpace, log: String
    ) {
        self.name = name
        self.codeWhenTold = codeWhenTold
        self.program = program
        self.arguments = arguments
        self.space = space
        self.log = log
    }

    /// How often it was started.
    var starts: Int { state.withLock { $0.starts } }

    /// The process ID, or nil if it does not run.
    var processID: Int32? {
        state.withLock { state in state.child.flatMap { $0.status == nil ? $0.processID : nil } }
    }

    /// Its unexpected ends.
    var unexpected: [String] {
        noticeEnd()
        return state.withLock { $0.unexpected }
    }

    /// Starts the process in its network.
    func start() async throws {
        noticeEnd()
        let plan = ChildProcess.Plan(
            program, arguments,
            output: .lines { [log, lastLine] _, line in
                Self.append(line, to: log)
                lastLine.withLock { $0 = line }
            }, ownGroup: true)
        let number = state.withLock { state in
            state.starts += 1
            return state.starts
        }
        Self.append("--- start \(number)", to: log)
        let child = try await space.run("start-\(name)") { try ChildProcess(plan) }
        state.withLock { state in
            state.child = child
            state.startedAt = SystemClock.monotonic
            state.isMeantToEnd = false
        }
    }

    /// Kills it, and waits until it is gone.
    func kill() async { _ = await end { $0.kill() } }

    func freeze() { signal(SIGSTOP) }
    func thaw() { signal(SIGCONT) }

    /// Tells it to end, and kills it if that takes longer than the limit.
    /// - Returns: how it ended, and whether that is right; or nil if it was not running.
    func terminate(within limit: Duration) async -> (exit: ProcessExit, isProper: Bool)? {
        // Until it handles signals, they end it like any program. On a busy machine that may take seconds.
        let isStarting = state.withLock { SystemClock.monotonic - $0.startedAt < .seconds(3) }
        guard let exit = await end(within: limit, { $0.terminate() }) else { return nil }
        return (exit, exit == .exited(codeWhenTold) || isStarting && exit == .signaled(SIGTERM))
    }

    private func end(within limit: Duration = .seconds(10), _ ask: (ChildProcess) -> Void) async -> ProcessExit? {
        noticeEnd()
        let child = state.withLock { state in
            state.isMeantToEnd = true
            return state.child
        }
        guard let child else { return nil }
        ask(child)
        let exit = await child.wait(within: limit)
        state.withLock { state in
            if state.child === child { state.child = nil }
        }
        return exit
    }

    private func signal(_ number: Int32) {
        noticeEnd()
        state.withLock { $0.child }?.send(number)
    }

    /// Notes an unexpected end.
    private func noticeEnd() {
        state.withLock { state in
            guard !state.isMeantToEnd, let exit = state.child?.status else { return }
            state.unexpected.append("\(name) ended by itself: \(exit); \(lastLine.withLock { $0 })")
            state.child = nil
        }
    }

    private static func append(_ line: String, to path: String) {
        try? FileSystem.write(line + "\n", to: path, appending: true)
    }
}
