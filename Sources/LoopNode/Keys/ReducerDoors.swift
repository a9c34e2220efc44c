import Linux
import LoopKeys
import LoopWire

/// The endpoints of a reducer's sockets: three for each of its own keys, because an endpoint has one key.
///
/// Those of `server` are the ones that `--bind` names. Those of `server-2` are the next three ports, or the same path with
/// `.2`, and so on. Peers change from one key to the other by address and key, while both are open.
struct ReducerDoors {
    /// The endpoints of one key.
    struct Endpoints: Hashable {
        let router: String
        let publisher: String
        let collector: String

        func endpoint(of socket: ReducerSocket) -> String {
            switch socket {
            case .router: router
            case .publisher: publisher
            case .collector: collector
            }
        }

        /// The addresses to which a process of this machine connects.
        /// - Throws: `NodeError.endpoint` if one of them cannot be used.
        func dialled() throws(NodeError) -> [(purpose: ClientSocket, address: ReducerAddress)] {
            var sockets: [(purpose: ClientSocket, address: ReducerAddress)] = []
            for socket in ReducerSocket.allCases {
                let endpoint = try Endpoint(parsing: endpoint(of: socket)).dialledHere
                sockets.append((socket.client, try ReducerAddress(parsing: endpoint.description)))
            }
            return sockets
        }
    }

    /// What to do after a change of the reducer's own keys.
    enum Change {
        case close(Endpoints)
        case open(Door, ServerKey, Endpoints)
    }

    private struct OpenDoor {
        let key: PublicKey?
        let endpoints: Endpoints
    }

    private let bound: ReducerAddress
    private var doors: [Door: OpenDoor]
    /// The peers that came in by another door than the first, by their routing IDs.
    private var visitors: [[UInt8]: Door] = [:]

    private static var visitorsMax: Int { 16_384 }

    init(_ first: Endpoints, of bound: ReducerAddress, server: ServerKey?) {
        self.bound = bound
        doors = [.first: OpenDoor(key: server?.certificate.publicKey, endpoints: first)]
    }

    /// Returns the changes that lead to these keys, and assumes that the caller makes them.
    /// - Throws: `NodeError.endpoint` if there is no port for a key.
    mutating func changes(to servers: [ServerKey]) throws(NodeError) -> [Change] {
        guard !servers.isEmpty else { return [] }
        let wanted = Dictionary(servers.map { (Door(number: $0.number), $0) }) { $1 }
        var changes: [Change] = []
        for (door, open) in doors where wanted[door]?.certificate.publicKey != open.key {
            changes.append(.close(open.endpoints))
            doors[door] = nil
        }
        for (door, server) in wanted.sorted(by: { $0.key.number < $1.key.number }) where doors[door] == nil {
            let endpoints = try endpoints(of: door)
            doors[door] = OpenDoor(key: server.certificate.publicKey, endpoints: endpoints)
            changes.append(.open(door, server, endpoints))
        }
        return changes
    }

    private func endpoints(of door: Door) throws(NodeError) -> Endpoints {
        let address = try BindAddress(bound.endpoint.next(door.number - 1))
        return Endpoints(router: address.router, publisher: address.publisher, collector: address.collector)
    }

    /// The local side of the connections of each socket.
    var localAddresses: [ReducerSocket: Set<Connections.LocalAddress>] {
        var addresses: [ReducerSocket: Set<Connections.LocalAddress>] = [:]
        for socket in ReducerSocket.allCases {
            addresses[socket] = Set(
                doors.values.compactMap { (try? Endpoint(parsing: $0.endpoints.endpoint(of: socket)))?.localAddress })
        }
        return addresses
    }

    // MARK: What is advertised to peers

    /// Notes by which door a peer has come in.
    mutating func note(_ door: Door, of route: [UInt8]) {
        if door == .first {
            visitors[route] = nil
        } else {
            if visitors.count >= Self.visitorsMax { visitors.removeAll() }
            visitors[route] = door
        }
    }

    /// Puts the endpoints of the peer's door into an introduction.
    func addressed(_ frame: PeerFrame, to route: [UInt8]) -> PeerFrame {
        guard case .introduction(var introduction) = frame.message, let door = visitors[route],
            let endpoints = doors[door]?.endpoints, let publisher = try? Endpoint(parsing: endpoints.publisher),
            let collector = try? Endpoint(parsing: endpoints.collector)
        else { return frame }
        introduction.publisher = publisher.advertised
        introduction.collector = collector.advertised
        return PeerFrame(
            history: frame.history, epoch: frame.epoch, session: frame.session, message: .introduction(introduction))
    }
}

/// Which of the reducer's own keys a connection uses: 1 for `server`, 2 for `server-2`. Each has its own endpoints.
struct Door: Hashable {
    /// The property under which the authenticator adds it to the messages of a connection.
    static let property = "X-Door"
    static let first = Door(number: 1)

    /// Counts from 1.
    let number: Int

    init(number: Int) { self.number = number }

    init(domain: String) {
        number = domain.lastIndex(of: "/").flatMap { Int(domain[domain.index(after: $0)...]) } ?? 1
    }

    init(property text: String?) { number = text.flatMap { Int($0) } ?? 1 }

    var text: String { "\(number)" }

    func domain(_ socket: ReducerSocket) -> String { "loop.\(socket)/\(number)" }
}
