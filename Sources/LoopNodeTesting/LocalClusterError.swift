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
