import LoopKeys
import ZMQ

/// What the handshakes of a client's connection have come to; a pure machine over the events of its socket.
///
/// libzmq tries again by itself, except after an answer that is final.
struct Handshakes: Equatable {
    /// What keeps a connection from standing.
    enum Obstacle: Equatable, Sendable {
        /// The reducer does not admit the client's key. It says so, and a connection is not tried again.
        case notAdmitted(PublicKey)
        /// The other side ends each handshake: it has another key than the client was told.
        case otherReducerKey(PublicKey)
        /// The client has keys, and the other side has none, or is no reducer.
        case reducerWithoutKeys
        /// The client has no keys, and the other side demands them, or is no reducer.
        case keysNeeded

        /// One line for people: what is wrong, and what to do.
        var text: String {
            switch self {
            case .notAdmitted(let key):
                "the reducer does not admit the key \(key); add its certificate to allowed/ of the reducer's folder of keys"
            case .otherReducerKey(let key):
                "the reducer there does not have the key \(key); give the server.key of that reducer (--reducer-key)"
            case .reducerWithoutKeys:
                "what listens there has no keys; leave out --key and --reducer-key if that is the reducer that you mean"
            case .keysNeeded:
                "what listens there does not talk without keys; if it is a reducer, give --key and --reducer-key"
            }
        }
    }

    private let keys: PeerKeys?
    /// How many handshakes were ended without a reason, since one was successful.
    private var unexplained = 0
    /// Nil: nothing is known to be wrong.
    private(set) var obstacle: Obstacle?
    /// Whether the newest handshake was successful, and its connection stands.
    private(set) var isSuccessful = false
    /// Whether libzmq does not try again by itself.
    private(set) var isOver = false

    /// One may fail because the reducer ends at that moment.
    private static var unexplainedMax: Int { 3 }

    init(keys: PeerKeys?) { self.keys = keys }

    /// The client dials again. What was wrong is not known to be right.
    mutating func redial() { isOver = false }

    mutating func take(_ event: SocketEvent) {
        switch event.kind {
        case .handshakeSucceeded:
            self = Handshakes(keys: keys)
            isSuccessful = true
        case .handshakeFailed(.notAdmitted(status: 300)): break
        case .handshakeFailed(.notAdmitted):
            obstacle = keys.map { .notAdmitted($0.own.publicKey) }
            isOver = true
        case .handshakeFailed(.protocolError):
            obstacle = keys == nil ? .keysNeeded : .reducerWithoutKeys
            isOver = true
        case .handshakeFailed(.noDetail):
            unexplained += 1
            guard unexplained >= Self.unexplainedMax else { return }
            obstacle = keys.map { .otherReducerKey($0.reducer) } ?? .keysNeeded
        case .connected, .connectDelayed, .connectRetried, .listening, .bindFailed, .accepted, .acceptFailed, .closed,
            .closeFailed, .disconnected, .monitorStopped, .other:
            break
        }
        if case .disconnected = event.kind { isSuccessful = false }
    }
}
