import Linux
import LoopCore
import LoopKeys
import LoopWire

/// The connections of a reducer's sockets: what they are known to be, what they cost, and which of them have to end. It
/// has no sockets.
///
/// Events and messages come in no common order, so a message may come before the event that its connection is open.
struct ConnectionTable {
    /// A descriptor, with its socket, because the system uses numbers again.
    struct ID: Hashable, Sendable {
        let socket: ReducerSocket
        let descriptor: Int32
    }

    /// Why a connection has to end.
    enum Offence: Hashable, CaseIterable {
        /// The number of connections is above the limit.
        case oneTooMany
        /// It has not sent its first message in time.
        case silence
        /// Too many of its bytes wait, or it has sent too many bytes of subscriptions.
        case input
        /// It does not read its answers.
        case unreadAnswers
    }

    /// What to do with an answer.
    enum AnswerVerdict: Equatable {
        case send
        /// The connection may have read more than is known, so look at it first.
        case look(ID)
        /// Too many bytes are on their way to all connections.
        case drop
    }

    /// How a connection became known.
    enum Standing: Equatable {
        /// A message of it was read, perhaps before any event.
        case heard
        /// It was found among the connections of the process.
        case found
        /// An event reported that it was accepted.
        case accepted
    }

    struct Connection {
        let openedAt: MonotonicTime
        fileprivate(set) var standing = Standing.heard
        /// The keys of its messages. There is more than one only if the number was used again.
        var keys: Set<PublicKey> = []
        /// The peer whose inbox it listens to.
        var peer: PeerID?
        /// The ID by which the router knows it.
        var route: [UInt8]?
        /// Whether a message has come.
        var hasSpoken = false
        /// Bytes of messages that were read, on the wire.
        var deliveredBytes: UInt64 = 0
        /// Bytes of answers that were sent.
        var answeredBytes: UInt64 = 0
        /// The number of bytes that it has taken by the last look at it, or nil before the first look.
        var acknowledgedBytes: UInt64?
        /// The number of bytes that had arrived by the last look and were not read as a message.
        var waitingBytes: UInt64 = 0
        /// The result of an earlier look, and how often its socket had been drained by then. When it is drained again, the
        /// bytes that had arrived and were not read belong to an incomplete message.
        fileprivate var earlier: (arrivedBytes: UInt64, drains: UInt64)?
        /// The least number of bytes of an incomplete message.
        fileprivate(set) var unfinishedBytes: UInt64 = 0
        /// Whether the system reports how many bytes it has sent and taken.
        var isCounted = true
        /// Whether it was shut down and has not ended yet.
        var isEnding = false

        /// Bytes of answers on their way.
        var unreadBytes: UInt64 {
            guard isCounted, let acknowledgedBytes, answeredBytes > acknowledgedBytes else { return 0 }
            return answeredBytes - acknowledgedBytes
        }
    }

    let limits: ConnectionLimits
    private(set) var connections: [ID: Connection] = [:]
    /// Connections that may still be silent, in the order in which they were opened. Some have sent messages since, or have gone.
    private var silent = Queue()
    private var idByRoute: [[UInt8]: ID] = [:]
    /// How often each socket was read until it had no more messages.
    private var drains = ReducerSocket.allCases.map { _ in UInt64(0) }
    /// The bytes of all connections, by the last looks at them.
    private(set) var waitingBytes: UInt64 = 0
    private(set) var unreadBytes: UInt64 = 0

    /// The size of a message of one frame on the wire: flags and a length, and with keys the overhead of CURVE. (ZeroMQ RFC
    /// 23 and 26)
    static func wireBytes(ofMessage byteCount: Int, isEncrypted: Bool) -> UInt64 {
        let body = UInt64(byteCount) + (isEncrypted ? 33 : 0)
        return body + (body < 256 ? 2 : 9)
    }

    init(limits: ConnectionLimits) { self.limits = limits }

    var count: Int { connections.count }

    subscript(id: ID) -> Connection? { connections[id] }

    /// Whether a connection was accepted or found, and has not ended since.
    func isKnown(_ id: ID) -> Bool { connections[id].map { $0.standing != .heard } ?? false }

    // MARK: What happens to connections

    /// Notes that a connection was accepted or found. Messages that came before count. If it is known as accepted already, the
    /// earlier one has ended.
    /// - Returns: the connection that has to end to make room, or nil.
    mutating func open(_ id: ID, as standing: Standing = .accepted, at now: MonotonicTime) -> ID? {
        if standing == .accepted, connections[id]?.standing == .accepted { close(id) }
        if let known = connections[id], known.standing != .heard {
            if standing == .accepted { connections[id]?.standing = .accepted }
            return nil
        }
        // A number belongs to one connection. If another socket had it, that connection has ended.
        for socket in ReducerSocket.allCases where socket != id.socket {
            close(ID(socket: socket, descriptor: id.descriptor))
        }
        var connection = connections[id] ?? Connection(openedAt: now)
        connection.standing = standing
        connections[id] = connection
        silent.append(id, connection.openedAt)
        guard connections.count > limits.connectionsMax else { return nil }
        let oldest = takeOldestSilent() ?? id
        connections[oldest]?.isEnding = true
        return oldest
    }

    private mutating func takeOldestSilent() -> ID? {
        while let (id, openedAt) = silent.first {
            silent.removeFirst()
            if isSilent(id, since: openedAt) { return id }
        }
        return nil
    }

    mutating func close(_ id: ID) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        waitingBytes -= connection.waitingBytes
        unreadBytes -= connection.unreadBytes
        if let route = connection.route, idByRoute[route] == id { idByRoute[route] = nil }
    }

    /// Notes that a message was read.
    /// - Parameter route: the ID by which the router knows its connection.
    mutating func hear(_ id: ID, _ key: PublicKey?, route: [UInt8]?, byteCount: Int, at now: MonotonicTime) {
        if let route, idByRoute[route] != id {
            idByRoute[route] = id
            connections[id, default: Connection(openedAt: now)].route = route
        }
        connections[id, default: Connection(openedAt: now)]
            .hear(key, Self.wireBytes(ofMessage: byteCount, isEncrypted: key != nil))
    }

    /// Notes that a socket was read until it had no more messages.
    mutating func drain(_ socket: ReducerSocket) { drains[socket.rawValue] += 1 }

    /// Notes that a subscriber listens to the inbox of a peer.
    mutating func listens(_ id: ID, to peer: PeerID) { connections[id]?.peer = peer }

    /// The connections that have used one of these keys.
    func ids(of keys: Set<PublicKey>) -> [ID] {
        connections.filter { !$0.value.keys.isDisjoint(with: keys) }.map(\.key)
    }

    // MARK: What they cost

    /// Notes what the system reports of a connection.
    /// - Parameter traffic: nil if the system does not count the bytes of such a connection.
    /// - Returns: why it has to end, or nil if it may stay.
    mutating func look(_ id: ID, _ traffic: Connections.Traffic?) -> Offence? {
        guard var connection = connections[id], !connection.isEnding else { return nil }
        waitingBytes -= connection.waitingBytes
        unreadBytes -= connection.unreadBytes
        connection.look(traffic, drains: drains[id.socket.rawValue])
        let offence = limits.offence(of: connection, at: id.socket)
        connection.isEnding = offence != nil
        waitingBytes += connection.waitingBytes
        unreadBytes += connection.unreadBytes
        connections[id] = connection
        return offence
    }

    /// The connection with the most bytes, if all together have too many.
    mutating func largest() -> (id: ID, offence: Offence)? {
        func largest(_ bytes: (Connection) -> UInt64) -> ID? {
            connections.filter { !$0.value.isEnding && bytes($0.value) > 0 }.max { bytes($0.value) < bytes($1.value) }?
                .key
        }
        var found: (id: ID, offence: Offence)?
        if waitingBytes > UInt64(limits.inputBytesTotal) {
            found = largest(\.waitingBytes).map { ($0, .input) }
        } else if unreadBytes > UInt64(limits.answerBytesTotal) {
            found = largest(\.unreadBytes).map { ($0, .unreadAnswers) }
        }
        if let found { connections[found.id]?.isEnding = true }
        return found
    }

    /// The connections to the router and the publisher that were silent for too long. Those to the collector may have
    /// nothing to send.
    mutating func silentTooLong(at now: MonotonicTime) -> [ID] {
        var ids: [ID] = []
        while let (id, openedAt) = silent.first,
            openedAt + limits.firstMessageLimit <= now || !isSilent(id, since: openedAt)
        {
            silent.removeFirst()
            guard isSilent(id, since: openedAt), id.socket != .collector else { continue }
            connections[id]?.isEnding = true
            ids.append(id)
        }
        return ids
    }

    private func isSilent(_ id: ID, since openedAt: MonotonicTime) -> Bool {
        guard let connection = connections[id] else { return false }
        return connection.openedAt == openedAt && !connection.hasSpoken && !connection.isEnding
    }

    /// Whether an answer of this size may be sent by a route.
    func verdict(onAnswerTo route: [UInt8], byteCount: Int) -> AnswerVerdict {
        if unreadBytes + UInt64(byteCount) > UInt64(limits.answerBytesTotal) { return .drop }
        guard let id = idByRoute[route], let connection = connections[id], connection.isCounted else { return .send }
        let bytes = connection.answeredBytes - min(connection.acknowledgedBytes ?? 0, connection.answeredBytes)
        return bytes + UInt64(byteCount) > UInt64(limits.answerBytesMax) ? .look(id) : .send
    }

    /// Notes that an answer was sent.
    mutating func answer(_ route: [UInt8], byteCount: Int) {
        guard let id = idByRoute[route], var connection = connections[id] else { return }
        unreadBytes -= connection.unreadBytes
        connection.answeredBytes += UInt64(byteCount)
        unreadBytes += connection.unreadBytes
        connections[id] = connection
    }
}

extension ConnectionTable.Connection {
    fileprivate mutating func hear(_ key: PublicKey?, _ byteCount: UInt64) {
        hasSpoken = true
        deliveredBytes += byteCount
        if let key, !keys.contains(key) { keys.insert(key) }
    }

    fileprivate mutating func look(_ traffic: Connections.Traffic?, drains: UInt64) {
        guard let traffic else {
            isCounted = false
            waitingBytes = 0
            return
        }
        acknowledgedBytes = traffic.acknowledgedBytes
        let arrivedBytes = traffic.receivedBytes - min(traffic.unreadBytes, traffic.receivedBytes)
        waitingBytes = arrivedBytes - min(deliveredBytes, arrivedBytes)
        guard let earlier, earlier.drains == drains else {
            unfinishedBytes = earlier.map { $0.arrivedBytes - min(deliveredBytes, $0.arrivedBytes) } ?? 0
            earlier = (arrivedBytes, drains)
            return
        }
    }
}

extension ConnectionLimits {
    fileprivate func offence(of connection: ConnectionTable.Connection, at socket: ReducerSocket)
        -> ConnectionTable.Offence?
    {
        if socket != .publisher, connection.unfinishedBytes > UInt64(unfinishedBytesMax) { return .input }
        let inputMax = socket == .publisher ? subscriptionBytesMax : inputBytesMax
        // Subscriptions cost memory as long as they last, so their bytes count even after they were read.
        let input = connection.waitingBytes + (socket == .publisher ? connection.deliveredBytes : 0)
        if input > UInt64(inputMax) { return .input }
        return connection.unreadBytes > UInt64(answerBytesMax) ? .unreadAnswers : nil
    }
}

/// Connections in the order in which they were opened.
private struct Queue {
    private var elements: [(id: ConnectionTable.ID, openedAt: MonotonicTime)] = []
    private var start = 0

    var first: (id: ConnectionTable.ID, openedAt: MonotonicTime)? { start < elements.count ? elements[start] : nil }

    mutating func append(_ id: ConnectionTable.ID, _ openedAt: MonotonicTime) { elements.append((id, openedAt)) }

    mutating func removeFirst() {
        start += 1
        guard start > 1024, start * 2 > elements.count else { return }
        elements.removeFirst(start)
        start = 0
    }
}
