import Linux
import LoopCluster
import LoopCore
import LoopKeys
import LoopLock
import LoopWire
import ZMQ

/// Ends the connections of a reducer that cost more than they may. It works on a thread of its own (`SocketWatch`), so that it does
/// while the reducer replays its journal or has a long turn; the reducer's thread tells what it reads and sends.
final class ConnectionWatch: Sendable {
    fileprivate struct State {
        var table: ConnectionTable
        var addresses: [ReducerSocket: Set<Connections.LocalAddress>] = [:]
        var counts: [Counter: UInt64] = [:]
        /// Whom to look at next.
        var round: [ConnectionTable.ID] = []
    }

    private let state: Locked<State>

    /// How often connections are looked at, in milliseconds, and at how many of them: as much as costs a hundredth of a processor.
    private static var pulseMilliseconds: Int { 20 }
    private static var looksPerPulse: Int { 250 }

    init(limits: ConnectionLimits) { state = Locked(State(table: ConnectionTable(limits: limits))) }

    /// Where connections are on this side: no other is ever ended.
    func listen(at addresses: [ReducerSocket: Set<Connections.LocalAddress>]) {
        state.withLock { $0.addresses = addresses }
    }

    // MARK: What the reducer's thread tells

    /// A message was read.
    func hear(_ id: ConnectionTable.ID, _ key: PublicKey?, route: [UInt8]? = nil, byteCount: Int) {
        let now = SystemClock.monotonic
        state.withLock { $0.table.hear(id, key, route: route, byteCount: byteCount, at: now) }
    }

    /// All was read that a socket had.
    func drain(_ socket: ReducerSocket) { state.withLock { $0.table.drain(socket) } }

    /// A subscriber listens to the inbox of a peer.
    func listens(_ id: ConnectionTable.ID, to peer: PeerID) { state.withLock { $0.table.listens(id, to: peer) } }

    /// The peer to whose inbox a connection listens.
    func peer(of id: ConnectionTable.ID) -> PeerID? { state.withLock { $0.table[id]?.peer } }

    /// Whether an answer may be sent, which counts as sent then.
    func allowsAnswer(to route: [UInt8], byteCount: Int) -> Bool {
        state.withLock { state in
            switch state.table.verdict(onAnswerTo: route, byteCount: byteCount) {
            case .send: break
            case .look(let id):
                state.look(id)
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

    /// Ends the connections that have spoken with one of these keys.
    func end(of keys: Set<PublicKey>) {
        state.withLock { state in
            for id in state.table.ids(of: keys) { state.shutDown(id) }
        }
    }

    /// What has happened since the last call.
    func takeCounts() -> [Counter: UInt64] {
        state.withLock { state in
            if state.counts.isEmpty { return [:] }
            defer { state.counts = [:] }
            return state.counts
        }
    }

    /// How many connections there are, and may be.
    var room: (count: Int, max: Int) { state.withLock { ($0.table.count, $0.table.limits.connectionsMax) } }

    // MARK: The thread that watches

    /// Something has happened to a connection.
    func take(_ event: SocketEvent, of socket: ReducerSocket) {
        let now = SystemClock.monotonic
        state.withLock { state in
            switch event.kind {
            case .accepted(let descriptor):
                if let id = state.table.open(ConnectionTable.ID(socket: socket, descriptor: descriptor), at: now) {
                    state.end(id, .oneTooMany)
                }
            case .disconnected(let descriptor):
                state.counts[.disconnected, default: 0] += 1
                state.table.close(ConnectionTable.ID(socket: socket, descriptor: descriptor))
            case .acceptFailed: state.counts[.acceptFailed, default: 0] += 1
            case .handshakeFailed: state.counts[.handshakeFailed, default: 0] += 1
            case .connected, .connectDelayed, .connectRetried, .listening, .bindFailed, .closed, .closeFailed,
                .monitorStopped, .handshakeSucceeded, .other:
                break
            }
        }
    }

    /// Looks at some connections.
    /// - Returns: when it is to be called again, in milliseconds.
    func pulse() -> Int {
        let now = SystemClock.monotonic
        return state.withLock { state in
            for id in state.table.silentTooLong(at: now) { state.end(id, .silence) }
            if state.round.isEmpty { state.round = Array(state.table.connections.keys) }
            for id in state.round.suffix(Self.looksPerPulse) { state.look(id) }
            state.round.removeLast(min(Self.looksPerPulse, state.round.count))
            if let (id, offence) = state.table.largest() { state.end(id, offence) }
            return state.table.count == 0 ? 1000 : Self.pulseMilliseconds
        }
    }
}

extension ConnectionWatch.State {
    /// Asks the system what a connection has sent and taken. One that is gone is forgotten: libzmq does not tell of each end.
    fileprivate mutating func look(_ id: ConnectionTable.ID) {
        guard let address = Connections.localAddress(of: id.descriptor),
            addresses[id.socket]?.contains(address) ?? false
        else { return table.close(id) }
        if let offence = table.look(id, Connections.traffic(of: id.descriptor)) { end(id, offence) }
    }

    fileprivate mutating func end(_ id: ConnectionTable.ID, _ offence: ConnectionTable.Offence) {
        counts[offence.counter, default: 0] += 1
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
