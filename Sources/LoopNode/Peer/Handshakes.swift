import LoopKeys
import ZMQ

/// The state of the handshakes of a client's connection. A pure machine over the events of its socket.
///
/// libzmq tries again by itself, except after a final answer.
struct Handshakes: Equatable {
    /// What prevents a connection.
    enum Obstacle: Equatable, Sendable {
        /// The reducer does not admit the client's key. It says so, and libzmq does not try again.
        case notAdmitted(PublicKey)
        /// The other side has keys and ends each handshake, because its key is not the one that the client was given.
        case otherReducerKey(PublicKey)
        /// The client has keys, and the other side has none.
        case reducerWithoutKeys
        /// The client has no keys, and the other side demands them.
        case keysNeeded
        /// The other side breaks ZeroMQ's protocol, by this code of libzmq.
        case unreadable(Int32)
        /// The other side ends each connection without a reason. A look at the address may show more.
        case ended

        /// One line for people: what is wrong, and what to do.
        var text: String {
            switch self {
            case .notAdmitted(let key):
                "the reducer does not admit the key \(key); add its certificate to allowed/ of the reducer's folder of keys"
            case .otherReducerKey(let key):
                "what listens there has keys, and not the key \(key); give the server.key of that reducer (--reducer-key)"
            case .reducerWithoutKeys:
                "what listens there has no keys; leave out --key and --reducer-key if that is the reducer that you mean"
            case .keysNeeded:
                "what listens there does not talk without keys; if it is a reducer, give --key and --reducer-key"
            case .unreadable(let code):
                "what listens there breaks ZeroMQ's protocol (error 0x\(String(code, radix: 16))); is it a reducer?"
            case .ended:
                "connections are accepted there, and ended at once for an unknown reason; if it is a reducer, it may have no room for"
                    + " more (--connections-max, see its log)"
            }
        }
    }

    private let keys: PeerKeys?
    /// How many connections were ended without a reason since a time when no connection was accepted.
    private var unexplained = 0
    /// What is wrong, or nil if no obstacle is known.
    private(set) var obstacle: Obstacle?
    /// Whether the newest handshake was successful, and its connection still exists.
    private(set) var isSuccessful = false
    /// Whether libzmq does not try again by itself.
    private(set) var isOver = false
    /// Whether the other side has accepted a connection since the last retry.
    private var isAccepted = false

    /// The limit is more than one, because the reducer may have ended at just that moment.
    private static var unexplainedMax: Int { 3 }

    init(keys: PeerKeys?) { self.keys = keys }

    /// Notes that the client connects again. The obstacle stays, because it may last.
    mutating func redial() { isOver = false }

    mutating func take(_ event: SocketEvent) {
        switch event {
        case .handshakeSucceeded: (obstacle, isOver, isSuccessful) = (nil, false, true)
        case .handshakeFailed(.notAdmitted(status: 300)): break
        case .handshakeFailed(.notAdmitted):
            obstacle = keys.map { .notAdmitted($0.own.publicKey) }
            isOver = true
        case .handshakeFailed(.mechanismMismatch):
            obstacle = keys == nil ? .keysNeeded : .reducerWithoutKeys
            isOver = true
        case .handshakeFailed(.protocolError(let code)):
            obstacle = .unreadable(code)
            isOver = true
        case .handshakeFailed(.noDetail): noteEnd()
        case .connected: isAccepted = true
        case .connectRetried:
            // Nothing accepts connections there any more, so the obstacle is outdated.
            if !isAccepted { (obstacle, unexplained) = (nil, 0) }
            isAccepted = false
        case .disconnected:
            // A reducer that has no room may end a connection after its handshake.
            if isSuccessful { noteEnd() }
            isSuccessful = false
        case .listening, .accepted, .acceptFailed, .closed, .monitorStopped, .other: break
        }
    }

    private mutating func noteEnd() {
        unexplained += 1
        if unexplained >= Self.unexplainedMax { obstacle = .ended }
    }
}
