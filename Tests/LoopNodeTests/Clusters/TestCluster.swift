import LoopCollections
import LoopCore
import LoopNode
import LoopWire
import TestFolders
import ZMQ

/// A reducer and its workers inside this process, on one address.
final class TestCluster: Sendable {
    let context: ZMQContext
    let address: ReducerAddress
    let reducer: ReducerNode<Jobs>
    private let jobs: Jobs
    private let run: Task<Outcome?, any Error>

    init(
        _ name: String, _ jobs: Jobs = Jobs(), transport: String = "inproc", silenceLimit: Duration = .seconds(3)
    ) throws {
        context = try ZMQContext()
        address = try transport == "ipc" ? ipcAddress() : ReducerAddress(parsing: "inproc://\(name)")
        self.jobs = jobs
        var configuration = try ReducerNodeConfiguration.test(address, context)
        configuration.machine.silenceLimit = silenceLimit
        let reducer = try ReducerNode(jobs, configuration: configuration)
        self.reducer = reducer
        run = Task { try await reducer.run() }
    }

    func worker(_ name: String, capacity: Int = 16) throws -> TestWorker {
        var configuration = EffectNodeConfiguration.test(address, context, name)
        configuration.capacity = capacity
        return TestWorker(try EffectNode(jobs, configuration: configuration))
    }

    func remote() throws -> RemoteLoop<Jobs> {
        try RemoteLoop(Jobs.self, reducer: address, context: context, log: .silent)
    }

    /// Asks on a thread of its own: the threads of the pool are needed by what is asked about.
    func status() async throws -> StatusReport {
        let (address, context) = (address, context)
        return try await NodeThread.run("probe") {
            try StatusProbe.ask(address, within: .seconds(240), context: context)
        }
    }

    /// Asks for the status until it is as wanted: the reducer's word, not a guess about time.
    func status(where isWanted: (StatusReport) -> Bool) async throws -> StatusReport {
        while true {
            let report = try await status()
            if isWanted(report) { return report }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    var outcome: Outcome? { get async throws { try await run.value } }

    func stop() async throws {
        reducer.stop()
        _ = try await run.value
    }
}

/// An effect node that runs.
final class TestWorker: Sendable {
    let node: EffectNode<Jobs>
    private let run: Task<NodeEnd, any Error>

    init(_ node: EffectNode<Jobs>) {
        self.node = node
        run = Task { try await node.run() }
    }

    var end: NodeEnd { get async throws { try await run.value } }

    func stop() async throws -> NodeEnd {
        node.stop()
        return try await run.value
    }
}

/// A door that effects wait at until the test opens it.
final class Door: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        var arrived = 0
        var cancelled = 0
    }

    private let state = Locked(State())

    /// How many effects have come to the door.
    var arrivedCount: Int { state.withLock { $0.arrived } }
    /// How many effects were cancelled while they waited.
    var cancelledCount: Int { state.withLock { $0.cancelled } }

    func pass() async throws {
        let id = state.withLock { state in
            state.arrived += 1
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    if state.isOpen || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
        if Task.isCancelled {
            state.withLock { $0.cancelled += 1 }
            throw CancellationError()
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume() }
    }
}
