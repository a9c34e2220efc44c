import CBOR
import LoopCluster
public import LoopCore
public import LoopWire
public import ZMQ

/// A handle on a loop that runs elsewhere: follow its state, send it events.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: "tcp://127.0.0.1:7710")
///     let id = try await loop.sendAndConfirm(.carArrived)
///     for await (seq, state) in loop.states { … }
///
/// The state comes as `updates` says.
public final class RemoteLoop<Definition: LoopDefinition>: Sendable {
    let connection: RemoteConnection
    let known: RemoteStates<Definition.State>
    /// The address at which to ask for the newest state.
    let reducer: ReducerAddress
    let context: ZMQContext?

    /// - Parameters:
    ///   - definition: the type of the loop.
    ///   - reducer: the reducer, which need not run yet, or nil for ``ReducerAddress/standard``.
    ///   - name: the name of this peer in status reports.
    ///   - updates: in which form the state comes, and how often.
    ///   - outbox: a file that keeps what is sent until its outcome is known, even if this process dies. The next process that
    ///     opens it sends the rest. Only one process at a time can use it. If nil, unsettled events are lost when the process ends.
    ///   - stopLimit: how long ``close()``, the release of the handle and the exit of the process wait for the outcome of
    ///     what was sent.
    ///   - connectTimeout: how long to wait for the reducer at start, after which the handle fails with `NodeError.noAnswer`.
    ///     If nil, it waits forever. The log says either way what it waits for.
    ///   - health: where the handle answers requests about its health and its metrics over HTTP, or nil for nowhere.
    ///   - traces: where the handle sends the spans of traces, or nil to record none. Contexts go on either way.
    ///   - context: the context of the sockets, or nil for one of its own.
    ///   - log: receives the events of the log. By default it writes lines to standard error.
    /// - Throws: if the outbox file cannot be used, if `LOOP_REDUCER` is needed and is not an address, or if a system call fails.
    public init(
        _ definition: Definition.Type, reducer: ReducerAddress? = nil, name: String = "",
        updates: StateUpdates = .full, outbox: String? = nil, stopLimit: Duration = .seconds(5),
        connectTimeout: Duration? = nil, health: HealthEndpoint? = nil, traces: TraceExport? = nil,
        context: ZMQContext? = nil, log: LogHandler = .standardError
    ) throws(NodeError) {
        let following = updates.following()
        let known = RemoteStates(
            StateFollower(Definition.State.self), dependsOnTheLast: following.dependsOnTheLast,
            log: NodeLog(name: "observer", log),
            advice: "this is schema \(Definition.schema) of the loop; run the reducer's build")
        self.known = known
        self.reducer = try reducer.orStandard()
        self.context = context
        connection = try RemoteConnection(
            loop: Definition.name, schema: UInt64(Definition.schema), reducer: self.reducer, name: name,
            follower: RemoteConnection.Follower(following: following, take: { known.take($0) }), outbox: outbox,
            stopLimit: stopLimit, connectTimeout: connectTimeout, health: health, traces: traces, logsFailure: true,
            context: context, log: log)
    }

    /// The present state, then the newest state after each change, as often as `updates` says and this observer can follow.
    /// Each state existed. Ends with the loop. A state that cannot be decoded, because the reducer has a newer schema, is left
    /// out, and the log says so.
    public var states: AsyncStream<(seq: Seq, state: Definition.State)> {
        known.stream(.bufferingNewest(1), keeping: connection) { ($0.seq, $1) }
    }

    /// Streams states as ``states`` does, from the named state on. With the ID that ``sendAndConfirm(_:)`` returns, it begins with
    /// the state that the event made, or with the first state after that was lost.
    public func states(from id: StateID) -> AsyncStream<(seq: Seq, state: Definition.State)> {
        states(past: [id])
    }

    /// Calls `body` with what is known and with every later change, from any thread, one call at a time and in order.
    /// - Returns: a closure that ends the calls. It keeps the connection open until it is released.
    package func look(
        _ body: @escaping @Sendable (RemoteStates<Definition.State>.News) -> Void
    ) -> @Sendable () -> Void {
        let id = known.look(body)
        return { [connection, known] in withExtendedLifetime(connection) { known.lookAway(id) } }
    }

    /// How often an update did not fit the state here, or the reducer's hash showed a difference, and a state was fetched again.
    public var divergenceCount: Int { known.divergenceCount }

    /// The error that ended the connection, if any, such as another definition at the reducer.
    public var failure: NodeError? { connection.failure }

    /// Sends an event. With an outbox file the event is on disk when this returns, and is applied or refused whatever becomes of
    /// this process. Without such a file, an event can be lost when this process ends. Suspends while the outbox is full, and until
    /// the event is written to the file if there is one.
    public nonisolated(nonsending) func send(_ event: Definition.Event) async throws(SendRefusal) {
        _ = try await connection.send(try encode(event), confirmed: false)
    }

    /// Sends an event, and waits until it was applied.
    /// - Returns: the ID of the state that the event made, with the seq at which it was applied.
    @discardableResult
    public func sendAndConfirm(_ event: Definition.Event) async throws(SendRefusal) -> StateID {
        try await connection.send(try encode(event), confirmed: true)
    }

    /// Sends an event, and waits for the definition's answer to it, which is computed from the state right after the event was
    /// applied. This takes one round trip.
    ///
    ///     let (receipt, id) = try await loop.ask(.withdraw("ann", 5))
    ///
    /// The answer comes once the event is durable. The event is applied once however often it has to be sent again, and its
    /// answer stays the same.
    /// - Parameter event: one to which the definition answers; see `LoopDefinition.answer(to:in:)`.
    /// - Returns: the answer, and the ID of the state that the event made.
    /// - Throws: why the event was not applied, or why there is no answer although it was.
    public nonisolated(nonsending) func ask(
        _ event: Definition.Event
    ) async throws(AskError) -> (answer: Definition.Answer, id: StateID) {
        let bytes: [UInt8]
        do throws(SendRefusal) {
            bytes = try encode(event)
        } catch {
            throw .refused(error)
        }
        let (answer, id) = try await connection.ask(bytes)
        do {
            return (try CBOR.decode(Definition.Answer.self, from: answer), id)
        } catch {
            throw .otherType(at: id.seq, "\(error)")
        }
    }

    /// Runs tasks on the connection's own thread, for callers that send one event after another and want the shortest delay.
    /// Without it, each event wakes that thread, which wakes the sender when the outcome is known.
    ///
    ///     try await withTaskExecutorPreference(loop.executor) {
    ///         while let move = nextMove() { try await loop.sendAndConfirm(move) }
    ///     }
    ///
    /// What such a task does between two calls must be short and must not block, because the connection receives nothing meanwhile.
    /// After the silence limit its session is lost. When the connection has ended, the tasks continue on the default executor.
    public var executor: any TaskExecutor { connection.executor }

    private func encode(_ event: Definition.Event) throws(SendRefusal) -> [UInt8] {
        do {
            return try CBOR.encode(event)
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
    }

    /// Waits for the outcomes of all events that an earlier process left in the outbox, and returns them. Returns an empty
    /// array without an outbox file.
    /// - Throws: if the connection ended before.
    public func recoveredEvents() async throws(NodeError) -> [RecoveredEvent] { try await connection.recoveredEvents() }

    /// Waits until the outcome of everything sent is known, for `stopLimit` at most, then ends the session. From the call on no
    /// event is accepted, and the streams of states end.
    ///
    /// Events that are not settled by then stay in the outbox file; without one they are lost. Unless callers wait for them,
    /// the log says how many there are, and names the first ones.
    ///
    /// A handle that is released is closed by itself. So is one that still exists when the process exits, and the process waits
    /// for it. A signal that ends the process waits for nothing.
    public nonisolated(nonsending) func close() async { await connection.close() }

    /// Ends the handle as the end of its process would.
    package nonisolated(nonsending) func kill() async { await connection.kill() }
}

/// Reads of one state. Each name says what the read promises: the state of this follower, of this follower once it has reached
/// a state, or of the reducer.
extension RemoteLoop {
    /// What this follower knows now, with its age, or nil before the first state has come. Does not wait, and may be
    /// behind the reducer.
    public var knownState: KnownState<Definition.State>? { known.newest }

    /// The first state of this follower that is the named one or a later one. With the ID that ``sendAndConfirm(_:)`` returns,
    /// a program reads its own writes.
    ///
    ///     let id = try await loop.sendAndConfirm(.carArrived)
    ///     let (_, state) = try await loop.state(atLeast: id)
    ///
    /// Waits until the follower has received that state, which takes as long as the next update. A follower that is in another
    /// history waits ten seconds for the named one to begin.
    /// - Throws: `NodeError` if the loop has begun another history since, so that the event may be undone; if the follower has
    ///   never been in the named history; or if the connection ended before. `CancellationError` if the task was cancelled.
    public func state(atLeast id: StateID) async throws -> (seq: Seq, state: Definition.State) {
        let patience = SystemClock.monotonic + .seconds(10)
        var deadline: MonotonicTime? = patience
        while true {
            for await _ in known.changes(keeping: connection, until: deadline) {
                switch known.answer(about: id) {
                case .reached(let reached, let state): return (reached.seq, state)
                case .lost: throw lost(id)
                case .elsewhere where SystemClock.monotonic >= patience: throw lost(id)
                case .elsewhere, .pending: continue
                }
            }
            try Task.checkCancellation()
            guard connection.failure == nil, deadline.map({ SystemClock.monotonic >= $0 }) ?? false else {
                throw connection.failure ?? NodeError.system("the loop has ended before this follower came to \(id)")
            }
            deadline = nil
        }
    }

    /// Streams states as ``states`` does, from the first one that is past all of these.
    package func states(past bounds: [StateID]) -> AsyncStream<(seq: Seq, state: Definition.State)> {
        known.stream(.bufferingNewest(1), keeping: connection) { [known] id, state in
            bounds.allSatisfy { known.isPast($0, at: id) } ? (id.seq, state) : nil
        }
    }

    private func lost(_ id: StateID) -> NodeError {
        let place = known.place
        return .system(
            "\(id) is lost: the journal goes on as epoch \(place.epoch) of history \(place.history) without it; read the state,"
                + " and send again what it lacks")
    }

    /// A state that contains every event whose outcome was known to any sender before the call (linearizable). Asks the reducer
    /// for its newest state, and waits until this follower has received it.
    ///
    /// The reducer answers once everything up to that state is durable. The read costs a connection and a round trip; to learn
    /// the consequence of your own event, `ask` is shorter.
    /// - Parameter limit: how long the answer may take, together with the wait for this follower.
    /// - Throws: ``NodeError/noAnswer(_:after:because:)`` if the time is over, or the error that ended the connection.
    ///   `CancellationError` if the task was cancelled.
    public func currentState(
        within limit: Duration = .seconds(10)
    ) async throws -> (seq: Seq, state: Definition.State) {
        let deadline = SystemClock.monotonic + limit
        while true {
            let place = known.place
            let wanted = try await leader(within: max(.zero, deadline - SystemClock.monotonic)).state
            // A follower that has moved to another epoch may never reach the wanted state, so the reducer is asked again.
            for await _ in known.changes(keeping: connection, until: deadline) {
                if case .reached(let reached, let state) = known.answer(about: wanted) { return (reached.seq, state) }
                guard known.place == place || known.place.isOfTheEpoch(of: wanted) else { break }
            }
            try Task.checkCancellation()
            if let failure = connection.failure { throw failure }
            guard SystemClock.monotonic < deadline else {
                let own = known.newest.map { "\($0.id)" } ?? "no state"
                throw NodeError.noAnswer(
                    reducer, after: limit, because: "the reducer is at \(wanted), and this follower at \(own)")
            }
        }
    }

    /// Asks the reducer for the progress of the running effects that report it, of a hundred at most.
    /// - Parameter limit: how long the answer may take.
    /// - Throws: ``NodeError/noAnswer(_:after:because:)`` if none comes.
    public func effectReports(within limit: Duration = .seconds(10)) async throws -> [StatusReport.EffectReport] {
        try await leader(within: limit).report.effectReports ?? []
    }

    private func leader(within limit: Duration) async throws -> StatusProbe.Member {
        let (reducer, context) = (reducer, context)
        return try await NodeThread.run("loop-read") {
            // A standby's state may be old, and a reducer without its journal has none.
            try StatusProbe.readable(of: reducer, within: limit, context: context)
        }
    }
}

/// What a follower knows of a state. It existed, but need not be the newest.
public struct KnownState<State: Sendable>: Sendable {
    /// The identity of the state.
    public let id: StateID
    /// The state.
    public let state: State
    /// How long ago it came.
    public let age: Duration
    /// Whether nothing newer is known, and the reducer is in contact. A newer state may have been made in the last tick interval.
    public let isNewest: Bool

    /// The seq of the transition that made the state.
    public var seq: Seq { id.seq }
}

extension KnownState: Equatable where State: Equatable {}

/// Runs a body with a handle on a loop that runs elsewhere. When the body ends, throws or is cancelled, the handle is closed:
/// what it has sent is settled then, or reported after `stopLimit`.
///
///     try await withRemoteLoop(Traffic.self, reducer: "tcp://reducer:7710") { loop in
///         for car in cars { try await loop.send(.arrived(car)) }
///     }
///
/// The parameters are those of ``RemoteLoop``.
/// - Returns: what the body returns.
/// - Throws: what the body throws, or `NodeError` if the handle cannot be made.
public nonisolated(nonsending) func withRemoteLoop<Definition: LoopDefinition, Success>(
    _ definition: Definition.Type, reducer: ReducerAddress? = nil, name: String = "",
    updates: StateUpdates = .full, outbox: String? = nil, stopLimit: Duration = .seconds(5),
    connectTimeout: Duration? = nil, context: ZMQContext? = nil,
    log: LogHandler = .standardError,
    _ body: nonisolated(nonsending) (RemoteLoop<Definition>) async throws -> Success
) async throws -> Success {
    let loop = try RemoteLoop(
        definition, reducer: reducer, name: name, updates: updates, outbox: outbox, stopLimit: stopLimit,
        connectTimeout: connectTimeout, context: context, log: log)
    do {
        let result = try await body(loop)
        await loop.close()
        return result
    } catch {
        await loop.close()
        throw error
    }
}
