internal import LoopCluster
public import LoopCore
public import ZMQ

/// A handle on a section of the state of a loop that runs elsewhere. It follows that section and nothing else.
///
///     let queue = try RemoteSection(of: Traffic.self, "queue", as: [Car].self, reducer: "tcp://127.0.0.1:7710")
///     for await (seq, cars) in queue.states { … }
///
/// An update comes only when the section has changed. If the reducer's definition has no section of this name, the states end,
/// and `failure` names the sections that there are.
public final class RemoteSection<Value: Codable & Sendable>: Sendable {
    private let connection: RemoteConnection
    private let known: RemoteStates<Value>

    /// - Parameters:
    ///   - definition: the type of the loop.
    ///   - name: the name of one of the definition's `sections`.
    ///   - type: the type of the section.
    ///   - reducer: the reducer, which need not run yet, or nil for ``ReducerAddress/standard``.
    ///   - updates: in which form the section comes, and how often.
    ///   - connectTimeout: how long to wait for the reducer at start, or nil to wait forever.
    ///   - context: the context of the sockets, or nil for one of its own.
    ///   - log: receives the events of the log. By default it writes lines to standard error.
    /// - Throws: if `LOOP_REDUCER` is needed and is not an address, or if a system call fails.
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

    /// The present section, then its newest value after each change that this observer can follow. Ends with the loop, or if
    /// there is no such section. The seq is one at which the section has this value.
    public var states: AsyncStream<(seq: Seq, state: Value)> {
        known.stream(.bufferingNewest(1), keeping: connection) { ($0.seq, $1) }
    }

    /// How often an update did not fit the section here, so that the section was fetched again.
    public var divergenceCount: Int { known.divergenceCount }

    /// The error that ended the connection, if any.
    public var failure: NodeError? { connection.failure }

    /// Ends the session, and with it the states.
    public func close() async { await connection.close() }
}
