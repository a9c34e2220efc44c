import LoopNode

/// The addresses of all participants, and the links of the proxies: the peers' connections to one reducer, or the
/// connections of several reducers to the database.
struct ChaosWays: Sendable {
    /// The addresses at which the reducers listen.
    let reducers: [String]
    /// The reducers' addresses for participants without faults.
    let reducer: ReducerAddress
    /// The reducers' addresses for each peer.
    private(set) var dialled: [Target: ReducerAddress] = [:]
    private(set) var links: [FaultProxy.Link] = []
    /// The journal's URL for each reducer.
    private(set) var journals: [String] = []

    private static let databasePort: UInt16 = 5432

    /// One reducer, whose peers connect through the proxies.
    init(peers: [Target], in network: FaultNetwork) throws {
        let host = network.address(FaultNetwork.reducerHost)
        reducers = [host]
        reducer = try ReducerAddress(parsing: "tcp://\(host):\(ChaosPlan.port)")
        for (index, peer) in peers.enumerated() {
            guard ChaosSchedule.isProxied(peer) else {
                dialled[peer] = reducer
                continue
            }
            let address = network.address(FaultNetwork.proxyHost, 1 + index)
            dialled[peer] = try ReducerAddress(parsing: "tcp://\(address):\(ChaosPlan.port)")
            for port in ChaosPlan.port..<(ChaosPlan.port + 3) {
                links.append(
                    .init(
                        target: peer, listen: SocketAddress(host: address, port: port),
                        upstream: SocketAddress(host: host, port: port)))
            }
        }
    }

    /// Several reducers, each of which connects through the proxies to each server of the database.
    init(peers: [Target], reducers: Int, servers: Int, in network: FaultNetwork) throws {
        self.reducers = (1...reducers).map { network.address(Target.member($0).description) }
        reducer = try ReducerAddress(
            parsing: self.reducers.map { "tcp://\($0):\(ChaosPlan.port)" }.joined(separator: ","))
        for peer in peers { dialled[peer] = reducer }
        for member in 1...reducers {
            var hosts: [String] = []
            for server in 1...servers {
                let address = network.address(FaultNetwork.proxyHost, 1 + (member - 1) * servers + server - 1)
                hosts.append("\(address):\(Self.databasePort)")
                let host = network.address(Target.server(server).description)
                links.append(
                    .init(
                        target: .member(member), listen: SocketAddress(host: address, port: Self.databasePort),
                        upstream: SocketAddress(host: host, port: Self.databasePort)))
            }
            journals.append("postgres://loop@\(hosts.joined(separator: ","))/\(ChaosDatabase.name)")
        }
    }
}
