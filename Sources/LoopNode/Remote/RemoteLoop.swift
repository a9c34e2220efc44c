import CBOR
import LoopCluster
public import LoopCore
import LoopLock
public import LoopWire
public import ZMQ

/// A handle on a loop that runs elsewhere: follow its state, send it events.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: "tcp://127.0.0.1:7710")
///     let id = try await loop.sendAndConfirm(.carArrived)
///     for await (seq, state) in loop.states { … }
///
/// The state comes as `updates` says. Whoever has the definition itself can fold the events, and so see every state:
///
///     let loop = try RemoteLoop(folding: Traffic(), reducer: "tcp://127.0.0.1:7710")
///     for await news in loop.everyState { … }
public final class RemoteLoop<Definition: LoopDefinition>: Sendable {
    let connection: RemoteConnection
    let known: RemoteStates<Definition.State>
    /// Where the reducer is asked what its newest seq is.
    let reducer: ReducerAddress
    let context: ZMQContext?

    /// - Parameters:
    ///   - definition: the type of the loop.
    ///   - reducer: the reducer, which need not run yet; nil: ``ReducerAddress/standard``.
    ///   - name: the name of this peer in status reports.
    ///   - updates: how the state comes, and how often.
    ///   - outbox: a file that keeps what is sent until its outcome is known, also when this process dies; whoever
    ///     opens it next sends what is left over. One process at a time has it. nil: what is sent lives as long as the
    ///     process.
    ///   - stopLimit: how long ``close()``, the release of the handle and the exit of the process wait for the outcome
    ///     of what was sent.
    ///   - connectTimeout: how long the first contact may take, after which the handle fails with `NodeError.noAnswer`;
    ///     nil: as long as it likes. What it waits for is in the log either way.
    ///   - context: the context of the sockets; nil for the process's own.
    ///   - log: receives the events of the log; writes lines to standard error unless given.
    /// - Throws: where the file cannot be used, where `LOOP_REDUCER` is needed and is no address, and where the system
    ///   refuses something.
    public convenience init(
        _ definition: Definition.Type, reducer: ReducerAddress? = nil, name: String = "",
        updates: StateUpdates = .full, outbox: String? = nil, stopLimit: Duration = .seconds(5),
        connectTimeout: Duration? = nil, context: ZMQContext? = nil,
        log: LogHandler = .standardError
    ) throws(NodeError) {
        try self.init(
            StateFollower(Definition.State.self), updates.following(), reducer: reducer, name: name, outbox: outbox,
            stopLimit: stopLimit, connectTimeout: connectTimeout, context: context, log: log)
    }

    /// Follows the events, and folds each of them as the reducer does: `everyState` has all states. The reducer must have
    /// the same definition, by its fingerprint; else the connection fails with an error that names both.
    ///
    /// Costs what the reducer's own `reduce` costs, and the whole state once at the beginning. What was lost on the way is
    /// asked for again while the reducer has it, and fetched as a state where it has not.
    /// - Parameters:
    ///   - definition: with the arguments of the reducer's.
    ///   - reducer: the reducer, which need not run yet; nil: ``ReducerAddress/standard``.
    ///   - name: the name of this peer in status reports.
    ///   - outbox: as above.
    ///   - stopLimit: as above.
    ///   - connectTimeout: as above.
    ///   - context: the context of the sockets; nil for the process's own.
    ///   - log: receives the events of the log; writes lines to standard error unless given.
    /// - Throws: where the file cannot be used, where `LOOP_REDUCER` is needed and is no address, and where the system
    ///   refuses something.
    public convenience init(
        folding definition: Definition, reducer: ReducerAddress? = nil, name: String = "",
        outbox: String? = nil, stopLimit: Duration = .seconds(5), connectTimeout: Duration? = nil,
        context: ZMQContext? = nil,
        log: LogHandler = .standardError
    ) throws(NodeError) {
        let fingerprint = DefinitionFingerprint(of: definition).value
        try self.init(
            StateFollower(folding: definition), Following(.events(fingerprint: fingerprint)), reducer: reducer,
            name: name, outbox: outbox, stopLimit: stopLimit, connectTimeout: connectTimeout, context: context, log: log
        )
    }

    private init(
        _ follower: StateFollower<Definition.State>, _ following: Following, reducer: ReducerAddress?, name: String,
        outbox: String?, stopLimit: Duration, connectTimeout: Duration?, context: ZMQContext?,
        log: LogHandler
    ) throws(NodeError) {
        let known = RemoteStates(
            follower, dependsOnTheLast: following.dependsOnTheLast, log: NodeLog(name: "observer", log),
            advice: "this is schema \(Definition.schema) of the loop; run the reducer's build")
        self.known = known
        self.reducer = try reducer.orStandard()
        self.context = context
        connection = try RemoteConnection(
            loop: Definition.name, schema: UInt64(Definition.schema), reducer: self.reducer, name: name,
            follower: RemoteConnection.Follower(following: following, take: { known.take($0) }), outbox: outbox,
            stopLimit: stopLimit, connectTimeout: connectTimeout, logsFailure: true, context: context, log: log)
    }

    /// The state now, then the latest state after every change that this observer could keep up with, as often as it has
    /// chosen: never one that did not exist. Ends with the loop. A state that cannot be decoded, because the reducer has a
    /// newer schema, is left out, and the log says so.
    public var states: AsyncStream<(seq: Seq, state: Definition.State)> {
        known.stream(.bufferingNewest(1), keeping: connection) { ($0.seq, $1) }
    }

    /// As ``states``, from the named state on. With the name that ``sendAndConfirm(_:)`` returns, it begins with the state that the
    /// event made, or with the first state after that one was lost.
    public func states(from id: StateID) -> AsyncStream<(seq: Seq, state: Definition.State)> {
        states(past: [id])
    }

    /// Every state that came, and what is missing between them: each seq is shown or missed. With `folding` these are all
    /// states, as long as they are read as fast as they come: of those that wait to be read the newest 1024 are kept.
    public var everyState: EveryState<Definition.State> {
        EveryState(states: known.stream(.bufferingNewest(1024), keeping: connection) { ($0, $1) })
    }

    /// Calls `body` with what is known and with everything after it, from any thread, one call at a time and in order.
    /// - Returns: what ends that. It keeps the connection until it is released.
    package func look(
        _ body: @escaping @Sendable (RemoteStates<Definition.State>.News) -> Void
    ) -> @Sendable () -> Void {
        let id = known.look(body)
        return { [connection, known] in withExtendedLifetime(connection) { known.lookAway(id) } }
    }

    /// How often what came did not fit what was here, by the reducer's hash or by itself, and a state was fetched again.
    public var divergenceCount: Int { known.divergenceCount }

    /// Why the connection ended, where something went wrong: such as that the reducer's definition is another.
    public var failure: NodeError? { connection.failure }

    /// Hands an event over. With an outbox file it is on disk when this returns, and is applied or refused whatever
    /// becomes of this process; without one, as long as this process lives. Suspends while the outbox is full, and with a
    /// file until it is written.
    public nonisolated(nonsending) func send(_ event: Definition.Event) async throws(SendRefusal) {
        _ = try await connection.send(try encode(event), confirmed: false)
    }

    /// Hands an event over and waits until it was applied.
    /// - Returns: the name of the state that the event made, with the seq at which it was applied.
    @discardableResult
    public func sendAndConfirm(_ event: Definition.Event) async throws(SendRefusal) -> StateID {
        try await connection.send(try encode(event), confirmed: true)
    }

    /// Hands an event over and waits for the definition's answer to it, which is computed from the state right after the
    /// event was applied: one round trip.
    ///
    ///     let (receipt, id) = try await loop.ask(.withdraw("ann", 5))
    ///
    /// The answer is told once the event is durable. The event is applied once however often it has to be sent again, and
    /// its answer stays the same.
    /// - Parameter event: one to which the definition answers; see `LoopDefinition.answer(to:in:)`.
    /// - Returns: the answer, and the name of the state that the event made.
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

    /// Runs tasks on the connection's own thread, which otherwise has to be woken for an event that is sent, and wakes its
    /// sender again when the outcome is known: for those who send one event after the other and want the shortest time.
    ///
    ///     try await withTaskExecutorPreference(loop.executor) {
    ///         while let move = nextMove() { try await loop.sendAndConfirm(move) }
    ///     }
    ///
    /// What such a task does between two calls must be short and must not block, for the connection hears nothing meanwhile:
    /// after the silence limit its session is lost. When the connection has ended, tasks go on where others run.
    public var executor: any TaskExecutor { connection.executor }

    private func encode(_ event: Definition.Event) throws(SendRefusal) -> [UInt8] {
        do {
            return try CBOR.encode(event)
        } catch {
            throw SendRefusal(.undecodable, detail: "it could not be encoded: \(error)")
        }
    }

    /// What became of the events that an earlier process had left in the outbox; waits until all of it is known. Empty
    /// without an outbox file.
    /// - Throws: where the connection ended before.
    public func recoveredEvents() async throws(NodeError) -> [RecoveredEvent] { try await connection.recoveredEvents() }

    /// Waits until the outcome of everything sent is known, for `stopLimit` at most, then ends the session. From the call on
    /// nothing is accepted, and the streams of states end.
    ///
    /// What is not settled by then, and no caller waits for, stays in the outbox file; without one it is lost. The log says how
    /// much, and names the first events.
    ///
    /// A handle that is released, and one that is still there when the process exits, is closed by itself: the process waits
    /// for it. A signal that ends the process waits for nothing.
    public nonisolated(nonsending) func close() async { await connection.close() }

    /// Ends the handle as the end of its process would.
    package nonisolated(nonsending) func kill() async { await connection.kill() }
}
