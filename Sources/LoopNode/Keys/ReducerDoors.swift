import Linux
import LoopKeyFiles
import LoopKeys
import LoopWire
import ZMQ

/// The endpoints of a reducer's sockets: three for each of its own keys, since an endpoint has one key.
///
/// Those of `server` are where the reducer was told to bind. Those of `server-2` are the next three ports, or the same path with
/// `.2`, and so on. Peers change from one key to the other by address and key, while both are open.
struct ReducerDoors {
    /// Of one key.
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

        /// As this machine dials them.
        /// - Throws: `NodeError.endpoint` if one cannot be dialled.
        func dialled() throws(NodeError) -> [(purpose: ClientSocket, address: ReducerAddress)] {
            var sockets: [(purpose: ClientSocket, address: ReducerAddress)] = []
            for socket in ReducerSocket.allCases {
                let endpoint = try Endpoint(parsing: endpoint(of: socket)).dialledHere
                sockets.append((socket.client, try ReducerAddress(parsing: endpoint.description)))
            }
            return sockets
        }
    }

    /// What is to be done where the reducer's own keys have changed.
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
    /// The peers that came in by another door than the first, by their routing ids.
    private var visitors: [[UInt8]: Door] = [:]

    private static var visitorsMax: Int { 16_384 }

    init(_ first: Endpoints, of bound: ReducerAddress, server: ServerKey?) {
        self.bound = bound
        doors = [.first: OpenDoor(key: server?.certificate.publicKey, endpoints: first)]
    }

    /// The changes that lead to these keys. They are taken to be made.
    /// - Throws: `NodeError.endpoint` if there is no port left for a key.
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

    /// Where the connections of each socket are on this side.
    var localAddresses: [ReducerSocket: Set<Connections.LocalAddress>] {
        var addresses: [ReducerSocket: Set<Connections.LocalAddress>] = [:]
        for socket in ReducerSocket.allCases {
            addresses[socket] = Set(
                doors.values.compactMap { (try? Endpoint(parsing: $0.endpoints.endpoint(of: socket)))?.localAddress })
        }
        return addresses
    }

    // MARK: What peers are told

    /// A peer has come in by a door.
    mutating func note(_ door: Door, of route: [UInt8]) {
        if door == .first {
            visitors[route] = nil
        } else {
            if visitors.count >= Self.visitorsMax { visitors.removeAll() }
            visitors[route] = door
        }
    }

    /// An introduction names the endpoints of the door by which its peer came in.
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
