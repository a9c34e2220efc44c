internal import Linux

/// The address at which a reducer listens: the three endpoints of its sockets, derived from the one that people give.
///
/// `tcp://HOST:PORT` means ROUTER at this port, PUB at the next and PULL at the one after that. Port 0 means any three free
/// ports, and the host `*` means all addresses of the machine. `ipc://PATH` and `inproc://NAME` mean the name itself and the
/// name with `.pub` and `.pull`.
public struct BindAddress: Hashable, Sendable, CustomStringConvertible {
    /// The standard address, which only this machine reaches.
    public static let standard: BindAddress = "tcp://127.0.0.1:7710"

    let endpoint: Endpoint

    /// - Throws: `NodeError.endpoint`, which says what is wrong and what fits.
    public init(parsing text: String) throws(NodeError) {
        self = try BindAddress(Endpoint(parsing: text))
    }

    /// Creates the address at which a client's address expects the reducer.
    /// - Throws: `NodeError.endpoint` if the next two ports do not exist, or if the address is that of several reducers.
    public init(_ address: ReducerAddress) throws(NodeError) {
        guard address.endpoints.count == 1 else { throw .endpoint("\(address)", "a reducer listens at one address") }
        self = try BindAddress(address.endpoint)
    }

    init(_ endpoint: Endpoint) throws(NodeError) {
        self.endpoint = endpoint
        switch endpoint {
        case .tcp(_, 65_534...):
            throw .endpoint(description, "the next two ports are needed too, and 65535 is the last")
        // The path with a suffix must be valid as well.
        case .ipc: _ = try Endpoint(parsing: collector)
        case .tcp, .inproc: break
        }
    }

    /// The address as it was given.
    public var description: String { endpoint.description }

    /// The endpoint of the socket for control messages.
    package var router: String { text(next: 0, suffix: "") }
    /// The endpoint of the socket that publishes.
    package var publisher: String { text(next: 1, suffix: ".pub") }
    /// The endpoint of the socket that takes batches of events.
    package var collector: String { text(next: 2, suffix: ".pull") }

    private func text(next: UInt16, suffix: String) -> String {
        switch endpoint {
        case .tcp(let host, 0): "tcp://\(host):*"
        case .tcp(let host, let port): "tcp://\(host):\(port + next)"
        case .ipc, .inproc: endpoint.description + suffix
        }
    }

    /// The address with the machine's IP address instead of its name, an IPv4 address if there is one. The name of a network
    /// interface stays, because libzmq knows it.
    /// - Throws: `NodeError.endpoint` if the name has no address.
    func lookedUp() throws(NodeError) -> BindAddress {
        // The interface may also have addresses that other machines reach.
        if endpoint.name == Endpoint.loopbackInterface, let address = HostAddress("127.0.0.1") {
            return try BindAddress(endpoint.with(address))
        }
        guard let name = endpoint.name, !Sockets.isInterface(name) else { return self }
        let addresses: [HostAddress]
        do {
            addresses = try Sockets.addresses(of: name)
        } catch {
            throw .endpoint(description, "the host name has no address (\(error.reason))")
        }
        // A local endpoint must not be reachable from other machines, however the system resolves names.
        guard let address = addresses.first(where: { !endpoint.isLocal || $0.isLoopback }) else {
            throw .endpoint(description, "the host name has no loopback address")
        }
        return try BindAddress(endpoint.with(address))
    }

    /// The probable publisher of a reducer that has not named it yet, derived from its address. It may be elsewhere.
    static func publisher(at address: ReducerAddress) -> String? { try? BindAddress(address.endpoint).publisher }

    /// The address at which a process of this machine reaches the reducer, or nil if its port is not known before it listens.
    package var dialled: ReducerAddress? {
        switch endpoint {
        case .tcp(_, 0): nil
        case .tcp, .ipc, .inproc: try? ReducerAddress(parsing: endpoint.dialledHere.description)
        }
    }
}

/// For addresses in code. An invalid literal ends the process with what is wrong.
extension BindAddress: ExpressibleByStringLiteral {
    /// Parses a literal, or ends the process if it is not an address to listen at.
    public init(stringLiteral text: String) {
        do {
            self = try BindAddress(parsing: text)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
