import LoopKeys
import LoopWire
import ZMQ

// Every socket of a loop's nodes and tools is made here. The purpose of a socket decides its options.

/// The purpose of a client's socket.
enum ClientSocket {
    /// The messages between a peer and the reducer: DEALER. Nothing is queued without a connection.
    case control
    /// The questions of a tool: DEALER. They are queued until there is a connection.
    case questions
    /// What the reducer publishes: SUB.
    case updates
    /// Batches of events: PUSH. Nothing is queued without a connection.
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
        // The last message is a goodbye.
        if self == .control { options.lingerLimit = .milliseconds(200) }
        // A machine may vanish without closing its connections. Messages to it are repeated over another one.
        if self == .control { options.stalledLimit = .seconds(10) }
        return options
    }
}

/// The purpose of a reducer's socket.
enum ReducerSocket: Int, CaseIterable {
    /// Messages from peers, and the answers: ROUTER.
    case router
    /// Published messages: XPUB.
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

    /// The purpose of the client's socket that connects to this one.
    var client: ClientSocket {
        switch self {
        case .router: .questions
        case .publisher: .updates
        case .collector: .batches
        }
    }

    /// A slow peer fills only its own queue. The only messages from peers to a publisher are topics.
    fileprivate func options(_ limits: ConnectionLimits) -> SocketOptions {
        var options = SocketOptions()
        options.messageBytesMax = self == .publisher ? Wire.subscriptionBytesMax : Wire.messageBytesMax
        options.sendMessagesMax = 2000
        options.receiveMessagesMax = self == .publisher ? 10 : 4096
        options.stalledLimit = limits.stalledLimit
        // Every subscription is checked, not only the first one to a topic.
        options.reportsEverySubscription = self == .publisher
        return options
    }

    /// Which clients may connect.
    func security(_ server: ServerKey?, _ door: Door) -> SocketSecurity {
        server.map { .server(secretKey: $0.secretKey, domain: door.domain(self)) } ?? .none
    }
}

extension ReducerAddress {
    /// Makes a socket that is not connected yet.
    func socket(_ purpose: ClientSocket, in context: ZMQContext) throws(ZMQError) -> Socket {
        var options = purpose.options
        if let keys { options.security = .client(serverKey: keys.reducer, keys: keys.own) }
        return try Socket(purpose.kind, in: context, options: options)
    }

    /// Makes a socket that connects to the reducer at once.
    /// - Parameter advertised: the endpoint that the reducer advertised for this socket, or nil for the address itself.
    func connect(
        _ purpose: ClientSocket, advertised: String? = nil, in context: ZMQContext
    ) throws(ZMQError) -> Socket {
        var socket = try socket(purpose, in: context)
        try socket.connect(advertised.map(endpoint(advertised:)) ?? endpoint.description)
        return socket
    }
}

extension BindAddress {
    /// Makes a socket of the reducer that is not bound yet.
    /// - Parameter server: the reducer's own key, if it has keys.
    func socket(
        _ purpose: ReducerSocket, server: ServerKey?, _ limits: ConnectionLimits, in context: ZMQContext
    ) throws(ZMQError) -> Socket {
        var options = purpose.options(limits)
        options.security = purpose.security(server, .first)
        return try Socket(purpose.kind, in: context, options: options)
    }
}
