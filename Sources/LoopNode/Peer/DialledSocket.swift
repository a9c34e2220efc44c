import LoopCore
import ZMQ

/// A client's socket that connects to its reducer, and the state of its handshakes.
struct DialledSocket: ~Copyable {
    private let reducer: ReducerAddress
    private let endpoint: String
    private let isInProcess: Bool
    var socket: Socket
    private var monitor: SocketMonitor
    private var handshakes: Handshakes
    /// When it connects again after a final answer.
    private var redialsAt: MonotonicTime?

    /// The fate of a message.
    enum Sent {
        case queued
        /// It is queued for a new connection, and earlier messages may be lost.
        case redialled
        /// No connection takes it.
        case unheard
    }

    private static var redialDelay: Duration { .seconds(1) }

    /// - Parameter reducer: the address of one reducer.
    init(_ reducer: ReducerAddress, _ purpose: ClientSocket, in context: ZMQContext) throws(ZMQError) {
        var socket = try reducer.socket(purpose, in: context)
        let monitor = try SocketMonitor(socket, eventsMax: 1000)
        let endpoint = reducer.endpoint.description
        try socket.connect(endpoint)
        self.reducer = reducer
        self.endpoint = endpoint
        isInProcess = if case .inproc = reducer.endpoint { true } else { false }
        handshakes = Handshakes(keys: reducer.keys)
        self.socket = socket
        self.monitor = monitor
    }

    /// What prevents a connection, or nil if nothing is known.
    var obstacle: Handshakes.Obstacle? { handshakes.obstacle }

    /// The obstacle for people, with a look at the address if the other side ends connections without a reason. Blocks for up
    /// to two seconds, so it is for tools.
    var explanation: String? {
        obstacle == .ended ? AddressLook.obstacle(at: reducer, isEnding: true).text : obstacle?.text
    }

    /// When `readEvents` has something to do even without an event.
    var deadline: MonotonicTime { redialsAt ?? MonotonicTime(nanoseconds: .max) }

    /// Whether there is a connection.
    var isConnected: Bool { handshakes.isSuccessful }

    /// Queues a message. libzmq makes a connection over `inproc://` once, and not again if the other side was closed and
    /// another socket has taken its name. So a connection of this kind that takes nothing is made again.
    mutating func send(_ bytes: [UInt8]) throws(ZMQError) -> Sent {
        if try socket.send(bytes) == .sent { return .queued }
        guard isInProcess else { return .unheard }
        try redial()
        _ = try socket.send(bytes)
        return .redialled
    }

    /// Ends the connection, and makes a new one.
    mutating func redial() throws(ZMQError) {
        // libzmq does not know a connection that has gone, which is no error here.
        try? socket.disconnect(endpoint)
        try socket.connect(endpoint)
    }

    /// Watches the socket and its handshakes.
    func add(to polls: inout PollSet) -> (socket: PollSet.Item, handshakes: PollSet.Item) {
        (polls.add(socket), polls.add(monitor))
    }

    /// Reads what has happened, as `readEvents` does.
    /// - Throws: `NodeError.refused` if the reducer does not admit this client's key, or an error of the socket.
    mutating func readEventsIfAdmitted(at now: MonotonicTime) throws {
        try readEvents(at: now)
        if let obstacle, case .notAdmitted = obstacle { throw NodeError.refused(obstacle.text) }
    }

    /// Reads what has happened to the connection, and connects again if libzmq does not.
    mutating func readEvents(at now: MonotonicTime) throws(ZMQError) {
        while let event = try monitor.next() { handshakes.take(event) }
        guard handshakes.isOver else { return }
        guard let redialsAt else {
            redialsAt = now + Self.redialDelay
            return
        }
        guard now >= redialsAt else { return }
        self.redialsAt = nil
        handshakes.redial()
        try redial()
    }
}
