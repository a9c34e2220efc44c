import Glibc
import Linux
import LoopCollections
import LoopCore
import LoopWire
import TestFolders
import Testing

@testable import LoopNode

/// Programs whose bodies block every thread of Swift's pool. Each runs in a process of its own.
@Suite(.timeLimit(.minutes(2))) struct `A program whose effects block their threads` {
    private static let blocking = Jobs { number in
        // A minute, of which nothing but the end of the process gives anything back.
        for _ in 0..<60 { sleep(1) }
        return number
    }

    /// Ends this process as an operator does when the log says that the pool is blocked; the exit code is 3 if it does not say so.
    private static func terminateWhenWarned() -> LogHandler {
        let signals = Locked(0)
        return LogHandler { event in
            guard event.kind == .poolBlocked,
                signals.withLock({
                    $0 += 1
                    return $0
                }) == 1
            else { return }
            guard event.text.contains("bodies of \"square\" block") else { exit(3) }
            kill(getpid(), SIGTERM)
        }
    }

    private static func add(_ address: ReducerAddress) throws {
        // Its thread is its own. Nothing waits for the outcome: no task could be told.
        let remote = try RemoteLoop(Jobs.self, reducer: address, log: .silent)
        Task.immediate { try await remote.send(.add(64)) }
        OpenHandles.keep(remote)
    }

    @Test func `is warned of, and a worker ends by SIGTERM within its limit`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let folder = TestFolder()
            let signals = try SignalPipe.ofProcess()
            let address = try ReducerAddress(parsing: "ipc://\(folder.path)/jobs")
            let configuration = ReducerNodeConfiguration(bind: try BindAddress(address), journal: .memory, log: .silent)
            let reducer = try ReducerNode(Jobs(), configuration: configuration)
            let running = Task { try await reducer.run() }
            try Self.add(address)
            var worker = EffectNodeConfiguration(
                reducer: address, capacity: 64, name: "blocked", log: Self.terminateWhenWarned())
            worker.stopLimit = .seconds(2)
            let loop = RunnableLoop(Jobs.self, abstract: "", worker: { Self.blocking }, reducer: { _ in Self.blocking })
            _ = try await loop.runWorker(worker, signals)
            running.cancel()
            fatalError("the worker's task went on, and the pool was not blocked")
        }
    }

    @Test func `ends a handle that is closed from outside of the pool`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let folder = TestFolder()
            let remote = try RemoteLoop(
                Jobs.self, reducer: try ReducerAddress(parsing: "ipc://\(folder.path)/jobs"), log: .silent)
            remote.connection.observe { if case .ended = $0 { exit(0) } }
            let blocked = Locked(0)
            for _ in 0..<SystemInfo.processorsCount {
                Task.detached {
                    blocked.withLock { $0 += 1 }
                    for _ in 0..<60 { sleep(1) }
                }
            }
            _ = try NodeThread("closing") {
                while blocked.withLock({ $0 }) < SystemInfo.processorsCount { usleep(1000) }
                Task.immediate { await remote.close() }
                for _ in 0..<20 { sleep(1) }
                exit(3)
            }
            try await Task.sleep(for: .seconds(60))
        }
    }

    @Test func `is warned of, and a reducer with effects of its own ends by SIGTERM`() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let folder = TestFolder()
            let signals = try SignalPipe.ofProcess()
            let address = try ReducerAddress(parsing: "ipc://\(folder.path)/jobs")
            var configuration = ReducerNodeConfiguration(
                bind: try BindAddress(address), journal: .memory, log: Self.terminateWhenWarned())
            configuration.localCapacity = 64
            let local = Jobs(placement: .local, work: Self.blocking.work)
            let loop = RunnableLoop(Jobs.self, abstract: "", worker: { local }, reducer: { _ in local })
            try Self.add(address)
            let arguments = try Command("test", abstract: "").parse([], environment: [:])
            guard case .arguments(let parsed) = arguments else { fatalError("no arguments") }
            _ = try await loop.runReducer(parsed, configuration, signals)
            fatalError("the reducer's task went on, and the pool was not blocked")
        }
    }
}

/// What lives as long as the process.
private enum OpenHandles {
    private static let all = Locked([any Sendable]())

    static func keep(_ handle: any Sendable) { all.withLock { $0.append(handle) } }
}
