import Linux
import LoopCluster
import LoopCore
import LoopKeys
import LoopCollections
import LoopWire
import ZMQ

/// Ends the connections of a reducer that exceed their limits. It runs on its own thread (`SocketWatch`), so that it also works
/// while the reducer replays its journal or has a long turn. The reducer's thread reports what it reads and sends.
final class ConnectionWatch: Sendable {
    fileprivate struct State {
        var table: ConnectionTable
        var addresses: [ReducerSocket: Set<Connections.LocalAddress>] = [:]
        var gate: ConnectionGate
        /// The sockets that listen, by descriptor.
        var listeners: [Int32: ReducerSocket] = [:]
        var counts: [Counter: UInt64] = [:]
        /// How many connections were ended because of the limit since the log last said so.
        var endedFull = 0
        /// When the log may say so again.
        var tellsFullAt = MonotonicTime.zero
        /// The number of this process's own handshakes that are expected to fail.
        var ownFailures = 0
        /// How many connections have ended since their memory was released.
        var endings = 0
        var givesBackAt = MonotonicTime.zero
        /// When to list the existing connections next.
        var countsAt = MonotonicTime.zero
        /// The connections that are still to be looked at in this round.
        var round: [ConnectionTable.ID] = []
    }

    private let state: Locked<State>

    /// How often connections are looked at, in milliseconds, and how many at a time. The two cost about a hundredth of a processor.
    private static var pulseMilliseconds: Int { 20 }
    /// How often to check while there are no connections, in milliseconds.
    private static var idleMilliseconds: Int { 100 }
    private static var looksPerPulse: Int { 250 }
    /// The number of ended connections after which memory is released.
    private static var endingsPerReturn: Int { 200 }
    /// The shortest time between two releases of memory. A release makes other threads wait for 10 to 20 ms.
    private static var returnInterval: Duration { .seconds(10) }
    /// How often the log says that there is no room.
    private static var fullInterval: Duration { .seconds(60) }
    /// How often the existing connections are listed.
    private static var countInterval: Duration { .seconds(1) }

    init(limits: ConnectionLimits) {
        state = Locked(
            State(table: ConnectionTable(limits: limits), gate: ConnectionGate(perSecond: limits.connectionsPerSecond)))
    }

    /// Sets the local addresses of connections. No connection with another local address is ever ended.
    func listen(at addresses: [ReducerSocket: Set<Connections.LocalAddress>]) {
        state.withLock { $0.addresses = addresses }
    }

    /// Notes that this process is about to make this many handshakes, to see that they fail. They are not counted.
    func expectFailures(_ count: Int) { state.withLock { $0.ownFailures += count } }

    // MARK: Reports of the reducer's thread

    /// Notes that a message was read.
    func hear(_ id: ConnectionTable.ID, _ key: PublicKey?, route: [UInt8]? = nil, byteCount: Int) {
        let now = SystemClock.monotonic
        state.withLock { $0.table.hear(id, key, route: route, byteCount: byteCount, at: now) }
    }

    /// Notes that a socket was read until it had no more messages.
    func drain(_ socket: ReducerSocket) { state.withLock { $0.table.drain(socket) } }

    /// Notes that a subscriber listens to the inbox of a peer.
    func listens(_ id: ConnectionTable.ID, to peer: PeerID) { state.withLock { $0.table.listens(id, to: peer) } }

    /// The peer to whose inbox a connection listens.
    func peer(of id: ConnectionTable.ID) -> PeerID? { state.withLock { $0.table[id]?.peer } }

    /// Whether an answer may be sent. If so, it counts as sent.
    func allowsAnswer(to route: [UInt8], byteCount: Int) -> Bool {
        state.withLock { state in
            switch state.table.verdict(onAnswerTo: route, byteCount: byteCount) {
            case .send: break
            case .look(let id):
                state.note(ConnectionLook(at: id, state.addresses), of: id)
                guard state.table.verdict(onAnswerTo: route, byteCount: byteCount) == .send else {
                    state.end(id, .unreadAnswers)
                    return false
                }
            case .drop:
                state.counts[.answersUnread, default: 0] += 1
                return false
            }
            state.table.answer(route, byteCount: byteCount)
            return true
        }
    }

    /// Ends a connection.
    func end(_ id: ConnectionTable.ID) { state.withLock { $0.shutDown(id) } }

    /// Ends the connections that have used one of these keys.
    func end(of keys: Set<PublicKey>) {
        state.withLock { state in
            for id in state.table.ids(of: keys) { state.shutDown(id) }
        }
    }

    /// Counts what has happened since the last call.
    func takeCounts() -> [Counter: UInt64] {
        state.withLock { state in
            if state.counts.isEmpty { return [:] }
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// How many connections there are, and how many there may be.
    var room: (count: Int, max: Int) { state.withLock { ($0.table.count, $0.table.limits.connectionsMax) } }

    // MARK: The thread that watches

    /// How many connections were ended because of the limit since the last notice, or nil if there is nothing to log now.
    func takeFullNotice(at now: MonotonicTime = SystemClock.monotonic) -> Int? {
        state.withLock { state in
            guard state.endedFull > 0, now >= state.tellsFullAt else { return nil }
            defer { (state.endedFull, state.tellsFullAt) = (0, now + Self.fullInterval) }
            return state.endedFull
        }
    }

    /// Takes an event of a connection.
    func take(_ event: SocketEvent, of socket: ReducerSocket) {
        let now = SystemClock.monotonic
        state.withLock { state in
            switch event {
            case .accepted(let descriptor):
                if state.gate.take(at: now) { state.setGate() }
                // It may have ended already, and its number may be a known connection of another socket.
                let id = ConnectionTable.ID(socket: socket, descriptor: descriptor)
                if state.isOurs(id) { state.open(id, as: .accepted, at: now) }
            case .disconnected(let descriptor):
                state.endings += 1
                let id = ConnectionTable.ID(socket: socket, descriptor: descriptor)
                // A connection that has sent messages may end. One that was shut down is counted already.
                if let connection = state.table[id], !connection.hasSpoken, !connection.isEnding, socket != .collector {
                    state.counts[.disconnected, default: 0] += 1
                }
                state.table.close(id)
            case .acceptFailed: state.counts[.acceptFailed, default: 0] += 1
            case .handshakeFailed where state.ownFailures > 0: state.ownFailures -= 1
            case .handshakeFailed: state.counts[.handshakeFailed, default: 0] += 1
            case .listening(let descriptor):
                state.listeners[descriptor] = socket
                if !state.gate.isOpen { state.setGate() }
            case .closed(let descriptor): state.listeners[descriptor] = nil
            case .connected, .connectRetried, .monitorStopped, .handshakeSucceeded, .other: break
            }
        }
    }

    /// The files of the sockets. A socket in the abstract namespace has none.
    var paths: Set<String> {
        let addresses = state.withLock { $0.addresses.values.reduce(into: Set()) { $0.formUnion($1) } }
        return Set(
            addresses.compactMap {
                guard case .path(let path) = $0, !path.hasPrefix("@") else { return nil }
                return path
            })
    }

    /// Looks at some connections. The system calls are made without the lock, which the reducer's thread needs for each message.
    /// - Returns: when to call it again, in milliseconds.
    func pulse() -> Int {
        let now = SystemClock.monotonic
        let (ids, addresses) = state.withLock { state in
            if state.gate.advance(to: now) { state.setGate() }
            for id in state.table.silentTooLong(at: now) { state.end(id, .silence) }
            return (state.nextToLookAt(Self.looksPerPulse), state.addresses)
        }
        if mustGiveBack(at: now) { System.giveBackFreeMemory() }
        openUnknown(at: now)
        // All looks together take milliseconds, in which a woken thread would wait for the processor.
        let looks = BackgroundWork.run {
            ids.map { id in
                BackgroundWork.giveWay()
                return (id, ConnectionLook(at: id, addresses))
            }
        }
        return state.withLock { state in
            for (id, look) in looks { state.note(look, of: id) }
            if let (id, offence) = state.table.largest() { state.end(id, offence) }
            return state.table.count == 0 ? Self.idleMilliseconds : Self.pulseMilliseconds
        }
    }

    /// Adds existing connections that the table does not know.
    private func openUnknown(at now: MonotonicTime) {
        let addresses = state.withLock { state in
            defer { if now >= state.countsAt { state.countsAt = now + Self.countInterval } }
            return now >= state.countsAt ? state.addresses : [:]
        }
        guard !addresses.isEmpty else { return }
        let found = Connections.all(at: addresses)
        state.withLock { state in
            for (descriptor, socket) in found {
                let id = ConnectionTable.ID(socket: socket, descriptor: descriptor)
                if !state.table.isKnown(id), state.isOurs(id) { state.open(id, as: .found, at: now) }
            }
        }
    }

    /// Whether enough connections have ended to release their memory, which the allocator keeps otherwise.
    private func mustGiveBack(at now: MonotonicTime) -> Bool {
        state.withLock { state in
            guard state.endings >= Self.endingsPerReturn, now >= state.givesBackAt else { return false }
            state.endings = 0
            state.givesBackAt = now + Self.returnInterval
            return true
        }
    }
}

/// What the system reports of a connection.
private enum ConnectionLook {
    /// It has ended, and its descriptor may belong to another file.
    case gone
    /// What it has sent and taken, or nil if that is not counted.
    case traffic(Connections.Traffic?)

    init(at id: ConnectionTable.ID, _ addresses: [ReducerSocket: Set<Connections.LocalAddress>]) {
        let address = Connections.localAddress(of: id.descriptor)
        let isOurs = address.flatMap { addresses[id.socket]?.contains($0) } ?? false
        self = isOurs ? .traffic(Connections.traffic(of: id.descriptor)) : .gone
    }
}

extension ConnectionWatch.State {
    /// Makes all listeners take new connections, or none of them.
    fileprivate mutating func setGate() {
        if !gate.isOpen { counts[.connectionsPutOff, default: 0] += 1 }
        for (descriptor, socket) in listeners {
            Connections.setTakesConnections(gate.isOpen, descriptor, at: addresses[socket] ?? [])
        }
    }

    /// Whether a descriptor is at present a connection of its socket.
    fileprivate func isOurs(_ id: ConnectionTable.ID) -> Bool {
        Connections.localAddress(of: id.descriptor).map { addresses[id.socket]?.contains($0) ?? false } ?? false
    }

    fileprivate mutating func open(
        _ id: ConnectionTable.ID, as standing: ConnectionTable.Standing, at now: MonotonicTime
    ) {
        if let other = table.open(id, as: standing, at: now) { end(other, .oneTooMany) }
    }

    /// The next connections in a round over all of them.
    fileprivate mutating func nextToLookAt(_ count: Int) -> ArraySlice<ConnectionTable.ID> {
        if round.isEmpty { round = Array(table.connections.keys) }
        let ids = round.suffix(count)
        round.removeLast(ids.count)
        return ids
    }

    /// Notes the result of a look. A connection that has gone is removed, because libzmq does not report each end.
    fileprivate mutating func note(_ look: ConnectionLook, of id: ConnectionTable.ID) {
        switch look {
        case .gone: table.close(id)
        case .traffic(let traffic):
            if let offence = table.look(id, traffic) { end(id, offence) }
        }
    }

    fileprivate mutating func end(_ id: ConnectionTable.ID, _ offence: ConnectionTable.Offence) {
        counts[offence.counter, default: 0] += 1
        if offence == .oneTooMany { endedFull += 1 }
        shutDown(id)
    }

    fileprivate func shutDown(_ id: ConnectionTable.ID) {
        Connections.end(id.descriptor, at: addresses[id.socket] ?? [])
    }
}

extension ConnectionTable.Offence {
    var counter: Counter {
        switch self {
        case .oneTooMany: .connectionsFull
        case .silence: .connectionSilent
        case .input: .inputFull
        case .unreadAnswers: .answersUnread
        }
    }
}
