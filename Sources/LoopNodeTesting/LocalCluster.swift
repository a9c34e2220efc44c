import LoopCluster
public import LoopCore
import LoopCollections
import LoopJournal
public import LoopNode
public import LoopWire
package import ZMQ

/// A whole cluster in the test's own process: a real reducer, real workers and handles, over `inproc://`, in real time.
///
///     try await LocalCluster.run(Orders()) { cluster in
///         try await cluster.sendAndConfirm(.order(17))
///         await cluster.workers[0].kill()
///         try cluster.worker("another")
///         try await cluster.until { $0.shipped.contains(17) }
///     }
///
/// It is for tests between the simulator, which has virtual time, and processes. Any node can be killed as `kill -9` kills a
/// process, and the reducer can be started again on its journal. A test never has to sleep: `until` and `untilStatus` wait for what
/// the reducer reports.
public final class LocalCluster<Definition: LoopDefinition>: Sendable {
    private struct Nodes {
        var reducer: (node: ReducerNode<Definition>, life: RunningNode<Outcome?>)?
        var workers: [LocalWorker] = []
        var remotes: [RemoteLoop<Definition>] = []
    }

    /// The address of its reducer, for nodes that a test of this project makes itself. They need `context` too.
    package let address: ReducerAddress = "inproc://loop"
    /// The context of all its sockets.
    package let context: ZMQContext
    /// How long the reducer waits for a silent worker.
    public let silenceLimit: Duration
    /// How long a wait may take before it fails.
    public let waitLimit: Duration
    private let definition: Definition
    private let journal: JournalPlace
    private let log: LogHandler
    private let checksPurity: Bool
    private let nodes = Locked(Nodes())
    /// The error of a node that was neither killed nor stopped.
    let failure = AwaitedValue<any Error>()
    /// The newest state that was confirmed to the cluster's own handle.
    let confirmed = Locked(StateID.none)
    /// The cluster's own handle.
    let own: RemoteLoop<Definition>

    /// Starts a reducer and workers, runs the body, and ends every node, also if the body throws.
    ///
    /// - Parameters:
    ///   - definition: the loop of all nodes.
    ///   - workers: the number of workers at the beginning. Their names are `w0`, `w1`, ….
    ///   - journal: the kind of the reducer's journal.
    ///   - silenceLimit: how long a worker may be silent before its effects run elsewhere, 100 ms or more.
    ///   - waitLimit: how long a wait of the cluster may take before it fails.
    ///   - checksPurity: whether the reducer reduces each event twice, and logs if the definition is not a function of its
    ///     arguments.
    ///   - log: receives what the nodes log; by default, nothing is shown.
    ///   - body: the test.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws, or why a node cannot start.
    public nonisolated(nonsending) static func run<Value>(
        _ definition: Definition, workers: Int = 1, journal: LocalJournal = .memory,
        silenceLimit: Duration = .seconds(1), waitLimit: Duration = .seconds(60), checksPurity: Bool = false,
        log: LogHandler = .silent,
        _ body: nonisolated(nonsending) (LocalCluster) async throws -> Value
    ) async throws -> Value {
        let cluster = try LocalCluster(
            definition, journal.place, silenceLimit, waitLimit, checksPurity, log)
        let result: Result<Value, any Error>
        do {
            try await cluster.startReducer()
            for number in 0..<workers { try cluster.worker("w\(number)") }
            result = .success(try await body(cluster))
        } catch {
            result = .failure(error)
        }
        await cluster.end()
        return try result.get()
    }

    private init(
        _ definition: Definition, _ journal: JournalPlace, _ silenceLimit: Duration, _ waitLimit: Duration,
        _ checksPurity: Bool, _ log: LogHandler
    ) throws {
        self.definition = definition
        self.journal = journal
        self.silenceLimit = max(silenceLimit, .milliseconds(100))
        self.waitLimit = waitLimit
        self.log = log
        self.checksPurity = checksPurity
        context = try ZMQContext()
        own = try RemoteLoop(Definition.self, reducer: address, name: "test", context: context, log: log)
    }

    /// Kills all nodes.
    private nonisolated(nonsending) func end() async {
        let nodes = nodes.withLock { nodes in
            defer { nodes = Nodes() }
            return nodes
        }
        for remote in [own] + nodes.remotes { await remote.kill() }
        for worker in nodes.workers { await worker.kill() }
        nodes.reducer?.node.kill()
        await nodes.reducer?.life.goneAfterKill()
    }

    // MARK: The reducer

    /// Starts the reducer on its journal after it was killed or stopped. Returns when it answers.
    /// - Parameter next: the definition that it runs from now on, or nil for the cluster's.
    /// - Throws: ``LocalClusterError/reducerRuns``, or why it cannot start.
    public nonisolated(nonsending) func startReducer(_ next: Definition? = nil) async throws {
        let listens = AwaitedValue<Result<Void, any Error>>()
        var configuration = ReducerNodeConfiguration(
            bind: try BindAddress(address), journal: journal, context: context, log: log)
        configuration.machine.silenceLimit = silenceLimit
        configuration.machine.checksPurity = checksPurity
        configuration.onListening = { _ in listens.set(.success(())) }
        let node = try ReducerNode(next ?? definition, configuration: configuration)
        let failure = failure
        let isFree = nodes.withLock { nodes in
            if let reducer = nodes.reducer, reducer.life.end == nil { return false }
            let run: @Sendable () async throws -> Outcome? = {
                do {
                    return try await node.run()
                } catch {
                    listens.set(.failure(error))
                    throw error
                }
            }
            nodes.reducer = (node, RunningNode(run, fail: { failure.set($0) }))
            return true
        }
        guard isFree else { throw LocalClusterError.reducerRuns }
        guard let result = await listens.getUnlessCancelled() else { throw CancellationError() }
        try result.get()
        // After this the reducer has taken a turn, and the epoch's first records are in the journal. The test's own limits start
        // only now.
        _ = try await status(within: max(waitLimit, .seconds(60)))
    }

    /// Ends the reducer as `kill -9` ends its process, possibly between a write and the messages that follow it. When this returns,
    /// its threads and sockets are gone, and its journal is free. Effects that run in its process are cancelled.
    /// - Throws: ``LocalClusterError/noReducer``.
    public nonisolated(nonsending) func killReducer() async throws {
        let (node, life) = try takeReducer()
        node.kill()
        await life.goneAfterKill()
    }

    /// Stops the reducer as SIGTERM does. A journal in a file gets a snapshot.
    /// - Throws: ``LocalClusterError/noReducer``, or why it has failed.
    public nonisolated(nonsending) func stopReducer() async throws {
        let (node, life) = try takeReducer()
        node.stop()
        _ = try await life.ended().get()
    }

    private func takeReducer() throws(LocalClusterError) -> (ReducerNode<Definition>, RunningNode<Outcome?>) {
        guard let reducer = nodes.withLock({ $0.reducer.take() }) else { throw .noReducer }
        return (reducer.node, reducer.life)
    }

    /// The outcome of the loop. Waits until the reducer has ended with it.
    /// - Returns: the outcome, or nil if the reducer was stopped before.
    /// - Throws: ``LocalClusterError``, why the reducer has failed, or that it was killed.
    public nonisolated(nonsending) func outcome() async throws -> Outcome? {
        guard let life = nodes.withLock({ $0.reducer?.life }) else { throw LocalClusterError.noReducer }
        return try await within(waitLimit, "the loop has ended", last: { "a loop that runs" }) {
            try await life.ended().get()
        }
    }

    // MARK: Workers and handles

    /// The workers in the order in which they were started, including those that have ended.
    public var workers: [LocalWorker] { nodes.withLock { $0.workers } }

    /// Starts a worker, at any time. It joins the reducer by itself.
    /// - Parameters:
    ///   - name: a name for status reports.
    ///   - other: its definition, such as one whose effects never end, or nil for the cluster's.
    ///   - groups: the groups of effects that it serves, or nil for all.
    ///   - capacity: how many effects it runs at once.
    /// - Throws: `NodeError` if it cannot start.
    @discardableResult
    public func worker(
        _ name: String, running other: Definition? = nil, groups: [String]? = nil, capacity: Int = 16
    ) throws -> LocalWorker {
        let configuration = EffectNodeConfiguration(
            reducer: address, groups: groups, capacity: capacity, name: name, context: context, log: log)
        let node = try EffectNode(other ?? definition, configuration: configuration)
        let failure = failure
        let worker = LocalWorker(node, name: name, fail: { failure.set($0) })
        nodes.withLock { $0.workers.append(worker) }
        return worker
    }

    /// Creates another handle besides the cluster's own, for another sender or observer.
    /// - Parameters:
    ///   - name: a name for status reports.
    ///   - updates: how its states are sent.
    ///   - outbox: a file that keeps its events, also when it is killed.
    /// - Throws: `NodeError` if the file cannot be used.
    public func remote(
        _ name: String = "", updates: StateUpdates = .full, outbox: String? = nil
    ) throws -> RemoteLoop<Definition> {
        let remote = try RemoteLoop(
            Definition.self, reducer: address, name: name, updates: updates, outbox: outbox, context: context, log: log)
        nodes.withLock { $0.remotes.append(remote) }
        return remote
    }

    /// Ends a handle as `kill -9` ends its process. Events that have not left are not sent any more, and nothing is written to its
    /// outbox.
    public nonisolated(nonsending) func kill(_ remote: RemoteLoop<Definition>) async { await remote.kill() }
}

extension LocalCluster {
    // MARK: Events

    /// Hands an event over by the cluster's own handle. See ``/LoopNode/RemoteLoop/send(_:)``.
    /// - Throws: why it was not accepted.
    public nonisolated(nonsending) func send(_ event: Definition.Event) async throws(SendRefusal) {
        try await own.send(event)
    }

    /// Hands an event over, and waits until it was applied.
    /// - Returns: the ID of the resulting state, with the seq at which the event was applied.
    /// - Throws: why it was not applied, or that this is not known.
    @discardableResult
    public func sendAndConfirm(_ event: Definition.Event) async throws(SendRefusal) -> StateID {
        let id = try await own.sendAndConfirm(event)
        confirmed.withLock { if id.relation(to: $0) != .before { $0 = id } }
        return id
    }

    // MARK: States

    /// Waits until an observer shows a state that fulfils a condition.
    ///
    /// An observer may skip states while others arrive. So use a condition that stays fulfilled. States before the
    /// last event that ``sendAndConfirm(_:)`` has confirmed do not count.
    /// - Parameters:
    ///   - what: the condition in words, for the failure.
    ///   - id: a state that another handle has made. States before it do not count.
    ///   - isReached: whether a state fulfils the condition.
    /// - Returns: the state and its seq.
    /// - Throws: ``LocalClusterError``, with the last state.
    @discardableResult
    public nonisolated(nonsending) func until(
        _ what: String = "the state is as it is waited for", atLeast id: StateID = .none,
        _ isReached: @escaping @Sendable (Definition.State) -> Bool
    ) async throws -> (seq: Seq, state: Definition.State) {
        let bounds = [id, confirmed.withLock { $0 }].filter { $0 != .none }
        let states = own.states(past: bounds)
        let last = Locked<String?>(nil)
        let shown: @Sendable () -> String = { last.withLock { $0 } ?? "no state" }
        return try await within(waitLimit, what, last: shown) {
            for await (seq, state) in states {
                if isReached(state) { return (seq, state) }
                last.withLock { $0 = "seq \(seq): \(String("\(state)".prefix(1000)))" }
            }
            try Task.checkCancellation()
            throw LocalClusterError.loopEnded(waitingFor: what, last: shown())
        }
    }

    // MARK: The reducer's answers

    /// The reducer's report about itself. Waits for a reducer that does not run yet.
    /// - Throws: `NodeError.noAnswer` after the cluster's `waitLimit`.
    public nonisolated(nonsending) func status() async throws -> StatusReport { try await status(within: waitLimit) }

    nonisolated(nonsending) func status(within limit: Duration) async throws -> StatusReport {
        let (address, context) = (address, context)
        // A thread of its own, because the nodes under test need the threads of the pool.
        return try await NodeThread.run("loop-status") {
            try StatusProbe.ask(address, within: limit, context: context)
        }
    }

    /// Asks for the status until it fulfils a condition.
    /// - Parameters:
    ///   - what: the condition in words, for the failure.
    ///   - isReached: whether a report fulfils the condition.
    /// - Returns: the report.
    /// - Throws: ``LocalClusterError``, with the last report.
    @discardableResult
    public nonisolated(nonsending) func untilStatus(
        _ what: String = "the status is as it is waited for", _ isReached: @escaping @Sendable (StatusReport) -> Bool
    ) async throws -> StatusReport {
        let last = Locked<String?>(nil)
        return try await within(waitLimit, what, last: { last.withLock { $0 } ?? "no status" }) {
            while true {
                let report = try await self.status()
                if isReached(report) { return report }
                last.withLock { $0 = String("\(report)".prefix(2000)) }
                // The pause has no meaning for the test. It only leaves the processor to the nodes.
                try await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// Asks a question as an operator does with `loopctl`: for the history, an earlier state, parked effects or a verification.
    ///
    ///     let page = try await cluster.ask(.history(from: 1, through: nil, after: nil), \.history)
    /// - Throws: the reducer's refusal, or that there was no answer.
    package nonisolated(nonsending) func ask<Answer: Sendable>(
        _ request: AdministrationRequest, _ read: @escaping @Sendable (AdministrationAnswer) -> Answer?
    ) async throws -> Answer {
        let (address, context, limit) = (address, context, waitLimit)
        return try await NodeThread.run("loop-question") {
            var call = try AdministrationCall(reducer: address, context: context)
            return try call.ask(request, read, within: limit)
        }
    }

    // MARK: Limits

    /// Runs the body until it returns, its time is up, or a node fails.
    nonisolated(nonsending) func within<Value: Sendable>(
        _ limit: Duration, _ what: String, last: @escaping @Sendable () -> String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let failure = failure
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                // The limit of the wait itself.
                try await Task.sleep(for: limit)
                throw LocalClusterError.tooLate(waitingFor: what, limit: limit, last: last())
            }
            group.addTask {
                guard let error = await failure.getUnlessCancelled() else { throw CancellationError() }
                throw LocalClusterError.nodeFailed("\(error)")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

/// Why a wait in a ``LocalCluster`` has ended without its condition.
public enum LocalClusterError: Error, Sendable, CustomStringConvertible {
    /// The condition was not fulfilled within the cluster's `waitLimit`; with the last value that was seen.
    case tooLate(waitingFor: String, limit: Duration, last: String)
    /// The loop has ended, so the condition cannot be fulfilled any more.
    case loopEnded(waitingFor: String, last: String)
    /// A node of the cluster has ended with an error.
    case nodeFailed(String)
    /// There is no reducer: it was killed or stopped, and not started again.
    case noReducer
    /// The reducer runs already.
    case reducerRuns

    /// One line for people.
    public var description: String {
        switch self {
        case .tooLate(let what, let limit, let last): "after \(limit) this is not so: \(what); the last was \(last)"
        case .loopEnded(let what, let last): "the loop has ended, and this is not so: \(what); the last was \(last)"
        case .nodeFailed(let why): "a node of the cluster has ended: \(why)"
        case .noReducer: "the cluster has no reducer; start it again: try await cluster.startReducer()"
        case .reducerRuns: "the cluster's reducer runs; kill or stop it first"
        }
    }
}

/// The kind of a reducer's journal in a ``LocalCluster``. Each outlives the reducer, which continues it when it is started again.
public enum LocalJournal: Sendable {
    /// In memory, as long as the cluster, and never on a disk. It keeps every record, and takes no snapshots.
    case memory
    /// In a file with snapshots, as a reducer in production has it. A later cluster may continue it.
    case file(String)

    var place: JournalPlace {
        switch self {
        case .memory: Self.inMemory
        case .file(let path): .file(path)
        }
    }

    private static var inMemory: JournalPlace {
        let records = MemoryRecords { History(SystemRandom.uint64() | 1) }
        return JournalPlace(
            path: { _ in nil }, open: { _ throws(JournalError) in try records.open() },
            read: { _, _ throws(JournalError) in records.reader })
    }
}
