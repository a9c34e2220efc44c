/// Names a reducer to its clients: workers, observers, senders and tools. It is parsed once, so it cannot be malformed.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: "tcp://reducer:7710")
///     let address = try ReducerAddress(parsing: text)
///
/// Today it is one endpoint: `tcp://HOST:PORT`, `ipc://PATH` or `inproc://NAME`. A client learns the reducer's other two
/// endpoints from the reducer. Whatever else a client must know to reach its reducer belongs here.
public struct ReducerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The environment variable that names the reducer of a process: `LOOP_REDUCER`.
    public static let variable = "LOOP_REDUCER"
    /// On this machine, where a reducer binds by default.
    package static let fallback: ReducerAddress = "tcp://127.0.0.1:7710"

    /// Where the reducer takes control messages.
    let endpoint: Endpoint

    /// - Parameter text: such as `tcp://reducer:7710`, `tcp://[::1]:7710` or `ipc:///run/loop`.
    /// - Throws: `NodeError.endpoint`, which says what is wrong and what fits.
    public init(parsing text: String) throws(NodeError) {
        endpoint = try Endpoint(parsing: text)
        guard case .tcp(let host, let port) = endpoint else { return }
        guard port > 0 else { throw .endpoint(text, "nothing can be reached at port 0") }
        guard host != "*" else { throw .endpoint(text, "'*' is only for a reducer's own --bind; name a host") }
    }

    /// What the environment variable `LOOP_REDUCER` names; `tcp://127.0.0.1:7710` if it is not set or empty.
    /// - Throws: `NodeError.endpoint` if the variable's value is no address.
    public static var standard: ReducerAddress {
        get throws(NodeError) { try standard(in: ProcessEnvironment.current) }
    }

    static func standard(in environment: [String: String]) throws(NodeError) -> ReducerAddress {
        guard let text = environment[variable], !text.isEmpty else { return fallback }
        return try ReducerAddress(parsing: text)
    }

    /// As it was given.
    public var description: String { endpoint.description }

    /// Another endpoint of the reducer.
    /// - Parameter advertised: what the reducer told its peers: a port of the same host, or a whole endpoint.
    func endpoint(advertised: String) -> String {
        guard UInt16(advertised) != nil, case .tcp(let host, _) = endpoint else { return advertised }
        return "tcp://\(host):\(advertised)"
    }
}

/// For addresses in code: a literal that is no address ends the process with what is wrong. Text from elsewhere is parsed
/// by ``ReducerAddress/init(parsing:)``.
extension ReducerAddress: ExpressibleByStringLiteral {
    /// Parses a literal. A literal that is no address ends the process.
    public init(stringLiteral text: String) {
        do {
            self = try ReducerAddress(parsing: text)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension ReducerAddress? {
    /// The address that was given, or the standard one.
    func orStandard() throws(NodeError) -> ReducerAddress {
        if let self { return self }
        return try .standard
    }
}
