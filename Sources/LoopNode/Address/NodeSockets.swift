import LoopKeyFiles
import LoopKeys
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
        // A machine may vanish without closing its connections. Messages to it are repeated over another one.
        if self == .control { options.stalledLimit = .seconds(10) }
        return options
    }
}

/// What a reducer has a socket for.
enum ReducerSocket: Int, CaseIterable {
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

    /// What a client has a socket for that connects to it.
    var client: ClientSocket {
        switch self {
        case .router: .questions
        case .publisher: .updates
        case .collector: .batches
        }
    }

    /// A slow peer fills only its own queue. What peers say upstream to a publisher is a topic and no more.
    fileprivate func options(_ limits: ConnectionLimits) -> SocketOptions {
        var options = SocketOptions()
        options.messageBytesMax = self == .publisher ? Wire.subscriptionBytesMax : Wire.messageBytesMax
        options.sendMessagesMax = 2000
        options.receiveMessagesMax = self == .publisher ? 10 : 4096
        options.stalledLimit = limits.stalledLimit
        // Every subscription is judged, not only the first to a topic.
        options.reportsEverySubscription = self == .publisher
        return options
    }

    /// Who may connect.
    func security(_ server: ServerKey?, _ door: Door) -> SocketSecurity {
        server.map { .server(secretKey: $0.secretKey, domain: door.domain(self)) } ?? .none
    }
}

extension ReducerAddress {
    /// A socket that is not connected yet.
    func socket(_ purpose: ClientSocket, in context: ZMQContext) throws(ZMQError) -> Socket {
        var options = purpose.options
        if let keys { options.security = .client(serverKey: keys.reducer, keys: keys.own) }
        return try Socket(purpose.kind, in: context, options: options)
    }

    /// A socket that dials the reducer at once.
    /// - Parameter advertised: where the reducer told its peers to connect this socket; nil: at the address itself.
    func connect(
        _ purpose: ClientSocket, advertised: String? = nil, in context: ZMQContext
    ) throws(ZMQError) -> Socket {
        var socket = try socket(purpose, in: context)
        try socket.connect(advertised.map(endpoint(advertised:)) ?? endpoint.description)
        return socket
    }
}

extension BindAddress {
    /// A socket of the reducer that is not bound yet.
    /// - Parameter server: the reducer's own key, if it has keys.
    func socket(
        _ purpose: ReducerSocket, server: ServerKey?, _ limits: ConnectionLimits, in context: ZMQContext
    ) throws(ZMQError) -> Socket {
        var options = purpose.options(limits)
        options.security = purpose.security(server, .first)
        return try Socket(purpose.kind, in: context, options: options)
    }
}
