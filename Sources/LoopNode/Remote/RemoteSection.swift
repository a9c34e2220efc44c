internal import LoopCluster
public import LoopCore
public import ZMQ

/// A handle on a section of the state of a loop that runs elsewhere: follows it, and nothing else of the state.
///
///     let queue = try RemoteSection(of: Traffic.self, "queue", as: [Car].self, reducer: "tcp://127.0.0.1:7710")
///     for await (seq, cars) in queue.states { … }
///
/// An update comes only when the section has changed. A name that the reducer's definition does not have ends the states,
/// and `failure` names those that there are.
public final class RemoteSection<Value: Codable & Sendable>: Sendable {
    private let connection: RemoteConnection
    private let known: RemoteStates<Value>

    /// - Parameters:
    ///   - definition: the type of the loop.
    ///   - name: of one of the definition's `sections`.
    ///   - type: that of the section.
    ///   - reducer: the reducer, which need not run yet; nil: ``ReducerAddress/standard``.
    ///   - updates: how the section comes, and how often.
    ///   - connectTimeout: how long the first contact may take; nil: as long as it likes.
    ///   - context: the context of the sockets; nil for the process's own.
    ///   - log: receives the events of the log; writes lines to standard error unless given.
    /// - Throws: where `LOOP_REDUCER` is needed and is no address, and where the system refuses something.
    public init<Definition: LoopDefinition>(
        of definition: Definition.Type, _ name: String, as type: Value.Type,
        reducer: ReducerAddress? = nil, updates: StateUpdates = .full,
        connectTimeout: Duration? = nil, context: ZMQContext? = nil,
        log: LogHandler = .standardError
    ) throws(NodeError) {
        let following = updates.following(name)
        let known = RemoteStates(
            StateFollower(Value.self), dependsOnTheLast: following.dependsOnTheLast,
            log: NodeLog(name: "observer", log),
            advice: "this is the section \"\(name)\" as \(Value.self); run the reducer's build")
        self.known = known
        connection = try RemoteConnection(
            loop: Definition.name, schema: UInt64(Definition.schema), reducer: reducer.orStandard(),
            name: "section \(name)",
            follower: RemoteConnection.Follower(following: following, take: { known.take($0) }),
            connectTimeout: connectTimeout, logsFailure: true, context: context, log: log)
    }

    /// The section now, then its latest value after every change that this observer could keep up with. Ends with the loop,
    /// and where there is no such section. The seq is one at which the section has this value.
    public var states: AsyncStream<(seq: Seq, state: Value)> {
        known.stream(.bufferingNewest(1), keeping: connection) { ($0.seq, $1) }
    }

    /// How often what came did not fit what was here, and the section was fetched again.
    public var divergenceCount: Int { known.divergenceCount }

    /// Why the connection ended, where something went wrong.
    public var failure: NodeError? { connection.failure }

    /// Ends the session, and with it the states.
    public func close() async { await connection.close() }
}
