internal import CZMQ

/// The messaging pattern of a socket.
package enum SocketKind: String, Sendable {
    /// Sends to every subscriber whose prefix matches. Drops messages for slow subscribers. It also receives a message for each
    /// first subscription and last unsubscription of a prefix: the byte 1 or 0, then the prefix.
    case xpub
    /// Receives the messages that it has subscribed to.
    case sub
    /// Hands each message to one `pull`.
    case push
    /// Receives from every `push`, fairly.
    case pull
    /// Receives messages with the sender's routing ID, and sends to one peer by its routing ID.
    case router
    /// Sends to one of its peers in turn, and receives from all.
    case dealer
    /// Has exactly one peer.
    case pair

    var code: Int32 {
        switch self {
        case .xpub: ZMQ_XPUB
        case .sub: ZMQ_SUB
        case .push: ZMQ_PUSH
        case .pull: ZMQ_PULL
        case .router: ZMQ_ROUTER
        case .dealer: ZMQ_DEALER
        case .pair: ZMQ_PAIR
        }
    }
}
