public import LoopCluster

/// The three addresses of a reducer, derived from the one that people give.
///
/// `tcp://H:P` stands for ROUTER at P, PUB at P+1 and PULL at P+2 (port 0: any three free ports); `ipc://PATH` and
/// `inproc://NAME` for the name itself and the name with `.pub` and `.pull`.
public struct ReducerEndpoints: Equatable, Sendable {
    public var router: String
    public var publisher: String
    public var collector: String

    /// - Throws: `NodeError.endpoint` where the address cannot be bound by its form.
    public init(bind endpoint: String) throws(NodeError) {
        router = endpoint
        guard endpoint.hasPrefix("tcp://") else {
            guard endpoint.hasPrefix("ipc://") || endpoint.hasPrefix("inproc://") else {
                throw .endpoint(endpoint, "it begins with none of tcp://, ipc://, inproc://")
            }
            publisher = endpoint + ".pub"
            collector = endpoint + ".pull"
            return
        }
        guard let (host, port) = Self.hostAndPort(endpoint) else {
            throw .endpoint(endpoint, "it is not of the form tcp://HOST:PORT")
        }
        if port == 0 {
            publisher = "tcp://\(host):*"
            collector = "tcp://\(host):*"
            router = "tcp://\(host):*"
        } else {
            guard port <= 65_533 else { throw .endpoint(endpoint, "the next two ports are needed too") }
            publisher = "tcp://\(host):\(port + 1)"
            collector = "tcp://\(host):\(port + 2)"
        }
    }

    /// What is told to peers: a port where the transport is TCP, since the peer knows the host; else the endpoint.
    static func advertised(_ bound: String) -> String {
        hostAndPort(bound).map { String($0.port) } ?? bound
    }

    /// The endpoint that a peer connects to, from the address it dialled and what was advertised.
    static func resolve(_ advertised: String, dialled: String) -> String {
        guard UInt16(advertised) != nil, let (host, _) = hostAndPort(dialled) else { return advertised }
        return "tcp://\(host):\(advertised)"
    }

    /// Whether nobody from another machine can reach the address.
    public static func isLocal(_ endpoint: String) -> Bool {
        guard endpoint.hasPrefix("tcp://") else { return true }
        guard let (host, _) = hostAndPort(endpoint) else { return false }
        return host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
    }

    static func hostAndPort(_ endpoint: String) -> (host: String, port: UInt16)? {
        guard endpoint.hasPrefix("tcp://"), let colon = endpoint.lastIndex(of: ":") else { return nil }
        let host = endpoint[endpoint.index(endpoint.startIndex, offsetBy: 6)..<colon]
        guard !host.isEmpty, let port = UInt16(endpoint[endpoint.index(after: colon)...]) else { return nil }
        return (String(host), port)
    }
}

/// Why a node could not start or go on.
public enum NodeError: Error, Sendable, CustomStringConvertible {
    /// An address cannot be used as it is.
    case endpoint(String, String)
    /// Binding beyond this machine without keys was not asked for.
    case notSecured(String)
    /// The definition cannot run as it is placed.
    case definition(String)
    /// The other side does not let this node in.
    case refused(String)
    /// Nobody answered; why, as far as is known.
    case noAnswer(String, after: Duration, because: String? = nil)
    /// A socket or the system refused something.
    case system(String)
    /// The journal refused something; nothing that depends on it has left.
    case journal(String)

    /// Acknowledged records are missing from a journal that promised to keep them.
    case historyLost(HistoryLost)

    public var description: String {
        switch self {
        case .historyLost(let lost):
            "\(lost); the disk has lost what it said was synced, or the journal is an older copy: put the newest copy in its"
                + " place, or pass --durability os once to begin a new history with what is there"
        case .endpoint(let endpoint, let why): "cannot use the address \(endpoint): \(why)"
        case .notSecured(let endpoint):
            "binding \(endpoint) lets everybody who can reach it send events and see the state;"
                + " bind tcp://127.0.0.1:… or pass --insecure to do it all the same"
        case .definition(let why): why
        case .refused(let why): why
        case .noAnswer(let endpoint, let limit, let why):
            "no reducer answered at \(endpoint) within \(limit)\(why.map { ": \($0)" } ?? ""); is it running?"
        case .system(let what): what
        case .journal(let what): what
        }
    }
}
