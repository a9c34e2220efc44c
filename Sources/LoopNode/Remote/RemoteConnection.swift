internal import Glibc
package import LoopCluster
package import LoopCore
import LoopCollections
package import LoopWire
package import ZMQ

/// A session with a loop whose definition is not needed: events are bytes, states and transitions are CBOR.
package final class RemoteConnection: Sendable {
    /// A reader that decodes states from the observer's actions.
    struct Follower: Sendable {
        let following: Following
        /// Called on the connection's thread.
        let take: @Sendable (ObserverAction) -> PeerShell.Observed
    }

    private let gate: OutboxGate
    private let ownExecutor: ConnectionExecutor
    private let watchers = Watchers<ObserverAction> { action in
        switch action {
        case .state, .again: .state
        case .standing: .standing
        case .ended: .ended
        case .begins, .send, .chunk, .assembled, .delta, .hash, .transitions, .missed, .refused: nil
        }
    }
    private let knownFailure = Locked<NodeError?>(nil)
    private let recovered: RecoveredEvents?
    private let thread: NodeThread

    /// - Parameters:
    ///   - loop: the loop's name, or an empty string for the loop of any reducer that answers.
    ///   - schema: the loop's schema, or 0 for any.
    ///   - reducer: the reducer, which need not run yet.
    ///   - name: the name of this peer in status reports.
    ///   - observing: what the connection follows besides its own session, or nil for nothing.
    ///   - outbox: a file that keeps what is sent until its outcome is known, even if this process dies. The next process that
    ///     opens it sends the rest. Only one process at a time can use it. If nil, unsettled events are lost when the process ends.
    ///   - stopLimit: how long `close`, the release of the handle and the exit of the process wait for the outcome of what was
    ///     sent. What is still unknown is reported in the log.
    ///   - connectTimeout: how long to wait for the reducer at start, after which the connection ends with
    ///     `NodeError.noAnswer`. If nil, it waits forever.
    ///   - context: the context of the sockets, or nil for one of its own.
    ///   - log: receives the events of the log. By default it writes lines to standard error.
    /// - Throws: if the outbox file cannot be used, or a system call fails.
    package convenience init(
        loop: String, schema: UInt64 = 0, reducer: ReducerAddress, name: String, observing: Following? = nil,
        outbox: String? = nil, stopLimit: Duration = .seconds(5), connectTimeout: Duration? = nil,
        context: ZMQContext? = nil, log: LogHandler = .standardError
    ) throws(NodeError) {
        try self.init(
            loop: loop, schema: schema, reducer: reducer, name: name,
            follower: observing.map { Follower(following: $0, take: { _ in .fine }) },
            outbox: outbox, stopLimit: stopLimit, connectTimeout: connectTimeout, context: context, log: log)
    }

    /// - Parameters:
    ///   - follower: takes every action before the watchers do.
    ///   - logsFailure: whether a failure of the connection is logged. Callers that use the connection directly
    ///     read `failure` instead.
    init(
        loop: String, schema: UInt64, reducer: ReducerAddress, name: String, follower: Follower?, outbox: String? = nil,
        stopLimit: Duration = .seconds(5), connectTimeout: Duration? = nil, health: HealthEndpoint? = nil,
        traces: TraceExport? = nil, logsFailure: Bool = false, context: ZMQContext? = nil, log: LogHandler
    ) throws(NodeError) {
        let opened = Monitor<Result<RecoveredEvents?, NodeError>?>(nil)
        do {
            let gate = try OutboxGate(
                capacity: 0, keeps: outbox != nil, tracer: traces.map { Tracer($0, loop: loop, role: "client") })
            self.gate = gate
            let executor = ConnectionExecutor(wakeup: gate.wakeup)
            ownExecutor = executor
            let (watchers, knownFailure) = (watchers, knownFailure)
            let life = Life(
                loop: loop, schema: schema, reducer: reducer, name: name, follower: follower, outbox: outbox,
                stopLimit: stopLimit, connectTimeout: connectTimeout, health: health, logsFailure: logsFailure,
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

    /// Sends what was accepted, as ``close()`` does, but only the exit of the process waits for that.
    deinit { gate.requestStop() }

    /// The error that ended the connection, if any.
    package var failure: NodeError? { knownFailure.withLock { $0 } }

    /// Calls `body` with the newest state, if there is one, and then with every later action. The calls come from any thread, one
    /// at a time and in order.
    package func observe(_ body: @escaping @Sendable (ObserverAction) -> Void) { _ = watchers.add(body) }

    /// Waits for the outcomes of all events that an earlier process left in the outbox, and returns them. Returns an empty
    /// array without an outbox file.
    /// - Throws: if the connection ended before.
    package func recoveredEvents() async throws(NodeError) -> [RecoveredEvent] {
        guard let recovered else { return [] }
        return try await recovered.all()
    }

    /// Sends an encoded event. With an outbox file the event is on disk when this returns, and is applied or refused whatever
    /// becomes of this process. Without such a file, an event can be lost when this process ends.
    /// - Returns: the state that the event made if `confirmed`, else `.none`.
    @inline(__always)
    package nonisolated(nonsending) func send(_ event: [UInt8], confirmed: Bool) async throws(SendRefusal) -> StateID {
        try await gate.send(
            Entry(kind: .event, payload: event[...], wantsSeq: confirmed, trace: TraceContext.current)
        ).state
    }

    /// Sends an encoded event, and waits for the definition's answer to it.
    /// - Returns: the answer, encoded, and the state that the event made.
    /// - Throws: why the event was not applied, or why there is no answer although it was.
    package nonisolated(nonsending) func ask(
        _ event: [UInt8]
    ) async throws(AskError) -> (answer: [UInt8], state: StateID) {
        let settlement: Settlement
        do throws(SendRefusal) {
            settlement = try await gate.send(
                Entry(kind: .event, payload: event[...], wantsAnswer: true, trace: TraceContext.current))
        } catch {
            throw .refused(error)
        }
        switch settlement.answer {
        case .value(let bytes)?: return (bytes, settlement.state)
        case .missing(let why)?: throw .unanswered(at: settlement.state.seq, why)
        case nil: throw .unanswered(at: settlement.state.seq, .forgotten)
        }
    }

    /// Runs tasks on the connection's own thread. See ``RemoteLoop/executor``.
    package var executor: any TaskExecutor { ownExecutor }

    /// Waits until the outcome of everything sent is known, for `stopLimit` at most, then ends the session. No more events are
    /// accepted. Events with an unknown outcome that no caller waits for are reported in the log; an outbox file keeps them.
    package nonisolated(nonsending) func close() async {
        gate.requestStop()
        await thread.join()
    }

    /// Ends the connection as the end of the process would: nothing accepted is sent any more or written into the outbox file.
    /// Waiting callers learn that the outcome is unknown.
    package nonisolated(nonsending) func kill() async {
        gate.kill()
        await thread.join()
    }
}

extension RemoteConnection {
    /// The work of a connection's thread from start to end.
    struct Life: Sendable {
        let loop: String
        let schema: UInt64
        let reducer: ReducerAddress
        let name: String
        let follower: Follower?
        let outbox: String?
        let stopLimit: Duration
        let connectTimeout: Duration?
        let health: HealthEndpoint?
        let logsFailure: Bool
        let log: NodeLog
        let gate: OutboxGate
        let executor: ConnectionExecutor
        /// Passes an action to the watchers.
        let tell: @Sendable (ObserverAction) -> Void
        /// Records why the connection has ended.
        let fail: @Sendable (NodeError) -> Void

        /// - Parameters:
        ///   - context: the context of the sockets, or nil for one of its own, whose end waits until the last message has left.
        ///   - opened: set to the result of opening the outbox.
        func live(_ context: ZMQContext?, _ opened: Monitor<Result<RecoveredEvents?, NodeError>?>) {
            let resumed: ResumedOutbox?
            let ownContext: ZMQContext
            do {
                ownContext = try context ?? ZMQContext()
                resumed = try outbox.map { path throws(OutboxError) in try ResumedOutbox(path, loop: loop) }
                if let warning = resumed?.file.warning { log.note(.outbox, warning, [.reason(warning)]) }
                opened.withLock { $0 = .success(resumed?.recovered) }
                opened.broadcast()
            } catch {
                opened.withLock { $0 = .failure(.system("\(error)")) }
                opened.broadcast()
                return
            }
            do {
                try gate.tracer?.start(log)
                defer { gate.tracer?.stop() }
                let board = health.map { _ in PeerBoard(loop: loop, wakeup: gate.wakeup, tracer: gate.tracer) }
                let server = try health.flatMap { endpoint throws(NodeError) in
                    try board.map { board throws(NodeError) in try HealthServer(endpoint, board, log) }
                }
                defer { withExtendedLifetime(server) {} }
                var shell = try shell(resumed, ownContext, board)
                let end: NodeEnd
                do {
                    end = try shell.run(stopLimit: stopLimit)
                } catch let killed as NodeKilled {
                    throw killed
                } catch {
                    gate.close(SendRefusal(.ended, detail: "\(error)"), mayBeApplied: shell.driver.hasOffered)
                    report(shell.driver.unsettled(), within: nil)
                    throw error
                }
                resumed?.recovered.fail(.system("the connection was closed before the outcome was known"))
                switch end {
                case .loopEnded(let exitCode, let text): tellAll(.ended(exitCode: exitCode, text: text))
                case .stopped:
                    report(shell.driver.unsettled(), within: stopLimit)
                    tellAll(.ended(exitCode: 0, text: ""))
                }
            } catch {
                let failure = error as? NodeError ?? .system("\(error)")
                fail(failure)
                if logsFailure, !(error is NodeKilled) {
                    log.note(
                        .connectionEnded, "the connection to \(reducer) has ended: \(failure)",
                        [.address("\(reducer)"), .reason("\(failure)")])
                }
                resumed?.recovered.fail(failure)
                // The gate is closed already if a shell has run.
                gate.close(SendRefusal(.ended, detail: "\(error)"), mayBeApplied: false)
                tellAll(.ended(exitCode: 2, text: "\(error)"))
            }
        }

        private func shell(
            _ resumed: ResumedOutbox?, _ context: ZMQContext, _ board: PeerBoard?
        ) throws -> PeerShell {
            let now = SystemClock.monotonic
            var configuration = PeerConfiguration(
                peer: resumed?.file.peer ?? PeerID(high: SystemRandom.uint64(), low: SystemRandom.uint64()),
                loop: resumed?.loop ?? loop, schema: schema, name: name)
            configuration.places = reducer.each.map(\.description)
            let driver =
                if let resumed {
                    PeerDriver(
                        configuration: configuration, resuming: resumed.stream, of: resumed.file,
                        recovered: resumed.recovered, gate: gate, at: now)
                } else {
                    PeerDriver(configuration: configuration, effects: nil, gate: gate, at: now)
                }
            return try PeerShell(
                context: context, reducer: reducer, driver: driver,
                observer: follower.map { ObserverMachine($0.following, at: now) }, log: log,
                connectTimeout: connectTimeout, executor: executor, board: board,
                observed: { action in
                    let observed = follower?.take(action) ?? .fine
                    tell(action)
                    return observed
                })
        }

        private func tellAll(_ action: ObserverAction) {
            _ = follower?.take(action)
            tell(action)
        }

        private func report(_ events: UnsettledEvents, within limit: Duration?) {
            if let text = events.text(reducer: reducer, within: limit, outbox: outbox) {
                log.note(.unsettled, text, [.address("\(reducer)")])
            }
        }
    }
}
