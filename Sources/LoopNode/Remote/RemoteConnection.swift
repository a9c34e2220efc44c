internal import Glibc
public import LoopCluster
public import LoopCore
import LoopLock
public import LoopWire
public import ZMQ

/// A session with a loop whose definition need not be known: events are bytes, states and transitions are CBOR.
public final class RemoteConnection: Sendable {
    /// What is followed besides the own session.
    public enum Observing: Sendable {
        case nothing
        /// Whole states.
        case states
        case transitions
    }

    /// A reader that makes states of what is handed out.
    struct Follower: Sendable {
        let following: Following
        /// On the connection's thread.
        let take: @Sendable (ObserverAction) -> PeerShell.Observed
    }

    private let gate: OutboxGate
    private let ownExecutor: ConnectionExecutor
    private let watchers = Watchers<ObserverAction> { action in
        switch action {
        case .state, .again: .state
        case .standing: .standing
        case .ended: .ended
        case .begins, .send, .chunk, .assembled, .delta, .events, .hash, .transitions, .missed, .refused: nil
        }
    }
    private let knownFailure = Locked<NodeError?>(nil)
    private let recovered: RecoveredEvents?
    private let thread: NodeThread

    /// - Parameters:
    ///   - loop: the loop's name; empty for whichever answers.
    ///   - schema: 0 for any.
    ///   - reducer: the reducer, which need not run yet.
    ///   - name: the name of this peer in status reports.
    ///   - observing: what the connection follows.
    ///   - outbox: a file that keeps what is sent until its outcome is known, also when this process dies; whoever
    ///     opens it next sends what is left over. One process at a time has it. nil: what is sent lives as long as the
    ///     process.
    ///   - stopLimit: how long `close`, the release of the handle and the exit of the process wait for the outcome of
    ///     what was sent. What is unknown then is reported in the log.
    ///   - connectTimeout: how long the first contact may take, after which the connection ends with
    ///     `NodeError.noAnswer`; nil: as long as it likes.
    ///   - context: the context of the sockets; nil for the process's own.
    ///   - log: receives the events of the log; writes lines to standard error unless given.
    /// - Throws: where the file cannot be used, and where the system refuses something.
    public convenience init(
        loop: String, schema: UInt64 = 0, reducer: ReducerAddress, name: String, observing: Observing,
        outbox: String? = nil, stopLimit: Duration = .seconds(5), connectTimeout: Duration? = nil,
        context: ZMQContext? = nil, log: LogHandler = .standardError
    ) throws(NodeError) {
        try self.init(
            loop: loop, schema: schema, reducer: reducer, name: name,
            follower: observing.following.map { Follower(following: $0, take: { _ in .fine }) },
            outbox: outbox, stopLimit: stopLimit, connectTimeout: connectTimeout, context: context, log: log)
    }

    /// - Parameter follower: told everything before those who observe. A failure is in the log where there is one of its
    ///   own kind: whoever uses the connection itself asks for `failure`.
    init(
        loop: String, schema: UInt64, reducer: ReducerAddress, name: String, follower: Follower?, outbox: String? = nil,
        stopLimit: Duration = .seconds(5), connectTimeout: Duration? = nil, logsFailure: Bool = false,
        context: ZMQContext? = nil, log: LogHandler
    ) throws(NodeError) {
        let opened = Monitor<Result<RecoveredEvents?, NodeError>?>(nil)
        do {
            let gate = try OutboxGate(countMax: 4096, bytesMax: 16 << 20, keeps: outbox != nil)
            self.gate = gate
            let executor = ConnectionExecutor(wakeup: gate.wakeup)
            ownExecutor = executor
            let (watchers, knownFailure) = (watchers, knownFailure)
            let life = Life(
                loop: loop, schema: schema, reducer: reducer, name: name, follower: follower, outbox: outbox,
                stopLimit: stopLimit, connectTimeout: connectTimeout, logsFailure: logsFailure,
                log: NodeLog(name: name.isEmpty ? "observer" : name, log), gate: gate, executor: executor,
                tell: { action in
                    watchers.post(action)
                    watchers.deliver()
                }, fail: { failure in knownFailure.withLock { $0 = failure } })
            let isOver = Monitor(false)
            thread = try NodeThread("loop-remote") {
                let own = pthread_self()
                let id = OpenConnections.add(
                    OpenConnections.Entry(
                        reducer: reducer, limit: stopLimit,
                        stop: { gate.requestStop() }, isOver: isOver,
                        isOwnThread: { pthread_equal(pthread_self(), own) != 0 }))
                life.live(context, opened)
                executor.end()
                OpenConnections.remove(id)
                isOver.withLock { $0 = true }
                isOver.broadcast()
            }
        } catch {
            throw .system("\(error)")
        }
        let result = opened.wait(until: { $0 != nil }, then: { $0 })
        recovered = try (result ?? .success(nil)).get()
    }

    /// What was accepted still leaves, as after ``close()``; only the exit of the process waits for that.
    deinit { gate.requestStop() }

    /// Why the connection ended, where something went wrong.
    public var failure: NodeError? { knownFailure.withLock { $0 } }

    /// Calls `body` with the newest state, if there is one, and with everything after it: from any thread, one call at a time and
    /// in order.
    /// - Returns: what ends it, for `stopObserving`.
    public func observe(_ body: @escaping @Sendable (ObserverAction) -> Void) -> Int { watchers.add(body) }

    /// Ends an observation. Does nothing when it has ended.
    public func stopObserving(_ id: Int) { watchers.remove(id) }

    /// What became of the events that an earlier process had left in the outbox; waits until all of it is known. Empty
    /// without an outbox file.
    /// - Throws: where the connection ended before.
    public func recoveredEvents() async throws(NodeError) -> [RecoveredEvent] {
        guard let recovered else { return [] }
        return try await recovered.all()
    }

    /// Hands an encoded event over. With an outbox file it is on disk when this returns, and is applied or refused
    /// whatever becomes of this process; without one, as long as this process lives.
    /// - Returns: the state that the event made if `confirmed`, else `.none`.
    @inline(__always)
    public nonisolated(nonsending) func send(_ event: [UInt8], confirmed: Bool) async throws(SendRefusal) -> StateID {
        try await gate.send(Entry(kind: .event, payload: event[...], wantsSeq: confirmed))
    }

    /// Hands an encoded event over, and waits for the definition's answer to it.
    /// - Returns: the answer, encoded, and the state that the event made.
    /// - Throws: why the event was not applied, or why there is no answer although it was.
    public nonisolated(nonsending) func ask(
        _ event: [UInt8]
    ) async throws(AskError) -> (answer: [UInt8], state: StateID) {
        let settlement: Settlement
        do throws(SendRefusal) {
            settlement = try await gate.settle(Entry(kind: .event, payload: event[...], wantsAnswer: true))
        } catch {
            throw .refused(error)
        }
        switch settlement.answer {
        case .value(let bytes)?: return (bytes, settlement.state)
        case .missing(let why)?: throw .unanswered(at: settlement.state.seq, why)
        case nil: throw .unanswered(at: settlement.state.seq, .forgotten)
        }
    }

    /// Runs tasks on the connection's own thread; see ``RemoteLoop/executor``.
    public var executor: any TaskExecutor { ownExecutor }

    /// Waits until the outcome of everything sent is known, for `stopLimit` at most, then ends the session. Nothing is
    /// accepted any more. What is not known by then, and no caller waits for, is reported in the log; in an outbox file it stays.
    public nonisolated(nonsending) func close() async {
        gate.requestStop()
        await thread.join()
    }

    /// Ends the connection as the end of the process would: nothing that was accepted leaves any more, and nothing is written into
    /// the outbox file. Those who wait are told that the outcome is not known.
    package nonisolated(nonsending) func kill() async {
        gate.kill()
        await thread.join()
    }
}

extension RemoteConnection.Observing {
    fileprivate var following: Following? {
        switch self {
        case .nothing: nil
        case .states: .wholeStates
        case .transitions: .transitions
        }
    }
}
