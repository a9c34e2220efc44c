import LoopCore
import LoopKeys
import LoopWire

/// The connections of a reducer's sockets, as far as events and messages have told. It has no sockets.
///
/// Events and messages come without a common order, so a connection may be heard before it is said to be open.
struct ConnectionTable {
    /// A descriptor, of one socket: the system uses numbers again.
    struct ID: Hashable, Sendable {
        let socket: ReducerSocket
        let descriptor: Int32
    }

    struct Connection: Equatable {
        let openedAt: MonotonicTime
        /// The keys that messages were of: more than one only if the number was used again.
        var keys: Set<PublicKey> = []
        /// The peer whose inbox it listens to.
        var peer: PeerID?
        /// Whether a message has come.
        var hasSpoken = false
        /// Bytes of messages that were read.
        var deliveredBytes: UInt64 = 0
        /// Bytes of messages that were sent as answers.
        var answeredBytes: UInt64 = 0
    }

    private(set) var connections: [ID: Connection] = [:]

    var count: Int { connections.count }

    subscript(id: ID) -> Connection? { connections[id] }

    mutating func open(_ id: ID, at now: MonotonicTime) { connections[id] = Connection(openedAt: now) }

    mutating func close(_ id: ID) { connections[id] = nil }

    /// A message was read.
    mutating func hear(_ id: ID, _ key: PublicKey?, byteCount: Int, at now: MonotonicTime) {
        connections[id, default: Connection(openedAt: now)].hear(key, byteCount)
    }

    /// A subscriber listens to the inbox of a peer.
    mutating func listens(_ id: ID, to peer: PeerID) { connections[id]?.peer = peer }

    /// An answer was sent.
    mutating func answer(_ id: ID, byteCount: Int) { connections[id]?.answeredBytes += UInt64(byteCount) }

    /// The connections that have spoken with one of these keys.
    func ids(of keys: Set<PublicKey>) -> [ID] {
        connections.filter { !$0.value.keys.isDisjoint(with: keys) }.map(\.key)
    }
}

extension ConnectionTable.Connection {
    fileprivate mutating func hear(_ key: PublicKey?, _ byteCount: Int) {
        hasSpoken = true
        deliveredBytes += UInt64(byteCount)
        if let key, !keys.contains(key) { keys.insert(key) }
    }
}
