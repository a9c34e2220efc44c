internal import Linux
import LoopCluster

/// Names a reducer to its clients: workers, observers, senders and tools. It is parsed once, so it cannot be malformed.
///
///     let loop = try RemoteLoop(Traffic.self, reducer: "tcp://reducer:7710")
///     let address = try ReducerAddress(parsing: text)
///
/// It is an endpoint, `tcp://HOST:PORT`, `ipc://PATH` or `inproc://NAME`, with keys if the reducer has keys. A client learns
/// the reducer's other two endpoints from the reducer. If there are standbys, it is the endpoints of all reducers, with commas
/// in between, and clients find the leader. All of them have the same key.
public struct ReducerAddress: Hashable, Sendable, CustomStringConvertible {
    /// The environment variable that names the reducer of a process: `LOOP_REDUCER`.
    package static let variable = "LOOP_REDUCER"
    /// The environment variable that names the file of a process's own key: `LOOP_KEY`.
    package static let keyVariable = "LOOP_KEY"
    /// The environment variable that names the reducer's public key, or the file of it: `LOOP_REDUCER_KEY`.
    package static let reducerKeyVariable = "LOOP_REDUCER_KEY"
    /// The standard address, at which a reducer on this machine binds by default.
    package static let fallback: ReducerAddress = "tcp://127.0.0.1:7710"

    /// The endpoints at which the reducers take control messages: at least one, and no duplicates.
    let endpoints: [Endpoint]
    /// The keys by which the client and the reducer identify each other, or nil if neither has keys.
    public private(set) var keys: PeerKeys?

    /// - Parameter text: such as `tcp://reducer:7710`, `tcp://[::1]:7710` or `ipc:///run/loop`, or up to five of them, with
    ///   commas in between.
    /// - Throws: `NodeError.endpoint`, which says which of them is wrong, why, and what is valid.
    public init(parsing text: String) throws(NodeError) {
        var endpoints: [Endpoint] = []
        for part in Self.parts(of: text) {
            let endpoint = try Self.endpoint(parsing: part)
            guard !endpoints.contains(endpoint) else { throw .endpoint(part, "it is named twice") }
            endpoints.append(endpoint)
        }
        guard endpoints.count <= LeaderSearch.placesMax else {
            throw .endpoint(text, "these are \(endpoints.count) addresses, of at most \(LeaderSearch.placesMax)")
        }
        self.endpoints = endpoints
    }

    /// Splits a text at commas. An `ipc://` path may contain commas too.
    private static func parts(of text: String) -> [String] {
        var parts: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            if let last = parts.last, last.hasPrefix("ipc://"), !part.contains("://") {
                parts[parts.count - 1] += ",\(part)"
            } else {
                parts.append(String(part))
            }
        }
        return parts
    }

    private static func endpoint(parsing text: String) throws(NodeError) -> Endpoint {
        let endpoint = try Endpoint(parsing: text)
        guard case .tcp(let host, let port) = endpoint else { return endpoint }
        guard port > 0 else { throw .endpoint(text, "nothing can be reached at port 0") }
        guard host != "*" else { throw .endpoint(text, "'*' is only for a reducer's own --bind; name a host") }
        return endpoint
    }

    private init(_ endpoint: Endpoint, keys: PeerKeys?) {
        endpoints = [endpoint]
        self.keys = keys
    }

    /// The first endpoint, which is the only one in the address of one reducer.
    var endpoint: Endpoint { endpoints[0] }

    /// Its endpoints one by one, each with the keys.
    package var each: [ReducerAddress] { endpoints.map { ReducerAddress($0, keys: keys) } }

    /// The first endpoint. A name that has several addresses is replaced by one that accepts a connection, or else by the first,
    /// because libzmq would try only one. Blocks for up to 300 ms for each address, so it is for tools.
    func reachable() -> ReducerAddress {
        guard case .tcp(_, let port) = endpoint, let name = endpoint.name,
            let addresses = try? Sockets.addresses(of: name), addresses.count > 1
        else { return self }
        let listening = addresses.first {
            if case .accepted = Sockets.tryConnecting(host: "\($0)", port: port, milliseconds: 300) {
                true
            } else {
                false
            }
        }
        return ReducerAddress(endpoint.with(listening ?? addresses[0]), keys: keys)
    }

    /// Another reducer of the same loop, with the same keys.
    /// - Throws: `NodeError.endpoint`, which says what is wrong.
    func other(at text: String) throws(NodeError) -> ReducerAddress {
        ReducerAddress(try Self.endpoint(parsing: text), keys: keys)
    }

    /// Returns the address with keys. Keys need `tcp://` or `ipc://`.
    public func with(_ keys: PeerKeys?) -> ReducerAddress {
        var address = self
        address.keys = keys
        return address
    }

    /// Returns the address with keys as options and variables name them.
    /// - Throws: `NodeError.keys` if a file cannot be used, or if only one of the two is named.
    package func with(key: String?, reducerKey: String?) throws(NodeError) -> ReducerAddress {
        switch (key, reducerKey) {
        case (nil, nil): return self
        case (let key?, let reducerKey?): return with(try PeerKeys(reading: key, reducer: reducerKey))
        case (_?, nil):
            throw .keys("--key without --reducer-key (\(Self.reducerKeyVariable)): name the reducer's server.key too")
        case (nil, _?):
            throw .keys("--reducer-key without --key (\(Self.keyVariable)): name this program's own .key_secret too")
        }
    }

    /// The address in the environment variable `LOOP_REDUCER`, or `tcp://127.0.0.1:7710` if that is unset or empty. It has the
    /// keys that `LOOP_KEY` and `LOOP_REDUCER_KEY` name.
    /// - Throws: `NodeError.endpoint` if the variable's value is not an address, or `NodeError.keys` if a key cannot be used.
    public static var standard: ReducerAddress {
        get throws(NodeError) { try standard(in: ProcessEnvironment.current) }
    }

    static func standard(in environment: [String: String]) throws(NodeError) -> ReducerAddress {
        func value(_ variable: String) -> String? { environment[variable].flatMap { $0.isEmpty ? nil : $0 } }
        let address =
            try value(variable).map { text throws(NodeError) in try ReducerAddress(parsing: text) } ?? fallback
        return try address.with(key: value(keyVariable), reducerKey: value(reducerKeyVariable))
    }

    /// The endpoints as they were given, without the keys.
    public var description: String { endpoints.map(\.description).joined(separator: ",") }

    /// Another endpoint of the reducer.
    /// - Parameter advertised: what the reducer advertises to its peers: a port of the same host, or a whole endpoint.
    func endpoint(advertised: String) -> String {
        guard UInt16(advertised) != nil, case .tcp(let host, _) = endpoint else { return advertised }
        return "tcp://\(host):\(advertised)"
    }
}

/// For addresses in code. An invalid literal ends the process with what is wrong. Use ``ReducerAddress/init(parsing:)`` for
/// text from elsewhere.
extension ReducerAddress: ExpressibleByStringLiteral {
    /// Parses a literal, or ends the process if it is not an address.
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
