import LoopWire
import ZMQ

// Every socket of a loop's nodes and tools is made here: what a socket is for decides its options.

/// What a client of a reducer has a socket for.
enum ClientSocket {
    /// What a peer says to the reducer and hears from it: DEALER. Nothing waits for a connection that does not stand.
    case control
    /// The questions of a tool: DEALER. They wait for the connection.
    case questions
    /// What the reducer publishes: SUB.
    case updates
    /// Batches of events: PUSH. Nothing waits for a connection that does not stand.
    case batches

    fileprivate var kind: SocketKind {
        switch self {
        case .control, .questions: .dealer
        case .updates: .sub
        case .batches: .push
        }
    }

    fileprivate var options: SocketOptions {
        var options = SocketOptions()
        options.messageBytesMax = Wire.messageBytesMax
        options.receiveMessagesMax = 4096
        options.reconnectDelay = .milliseconds(50)
        options.reconnectDelayMax = .milliseconds(500)
        options.immediate = self != .questions
        // The way out says goodbye.
        if self == .control { options.lingerLimit = .milliseconds(200) }
        return options
    }
}

/// What a reducer has a socket for.
enum ReducerSocket {
    /// What peers say, and the answers: ROUTER.
    case router
    /// What is published: XPUB.
    case publisher
    /// Batches of events: PULL.
    case collector

    fileprivate var kind: SocketKind {
        switch self {
        case .router: .router
        case .publisher: .xpub
        case .collector: .pull
        }
    }

    /// A slow peer fills only its own queue.
    fileprivate var options: SocketOptions {
        var options = SocketOptions()
        options.messageBytesMax = Wire.messageBytesMax
        options.sendMessagesMax = 2000
        options.receiveMessagesMax = 4096
        return options
    }
}

extension ReducerAddress {
    /// A socket that dials the reducer at once.
    /// - Parameter advertised: where the reducer told its peers to connect this socket; nil: at the address itself.
    func connect(
        _ purpose: ClientSocket, advertised: String? = nil, in context: ZMQContext
    ) throws(ZMQError) -> Socket {
        var socket = try Socket(purpose.kind, in: context, options: purpose.options)
        try socket.connect(advertised.map(endpoint(advertised:)) ?? endpoint.description)
        return socket
    }
}

extension BindAddress {
    /// A socket of the reducer that is not bound yet.
    func socket(_ purpose: ReducerSocket, in context: ZMQContext) throws(ZMQError) -> Socket {
        try Socket(purpose.kind, in: context, options: purpose.options)
    }
}
