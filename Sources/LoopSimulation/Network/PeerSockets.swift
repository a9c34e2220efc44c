import LoopCore
import LoopWire

/// The sockets of one process. SUB receives what the reducer publishes, PUSH carries entries, and DEALER carries control messages
/// in both directions.
struct PeerSockets {
    var subscriber = SubscriberSocket()
    var pusher = PusherSocket()
    var dealer = DealerSocket()
    /// The time before which nothing from the reducer arrives, because of a partition.
    var cutFromReducerUntil: UInt64 = 0
    /// The time before which nothing from the process arrives, because of a partition.
    var cutToReducerUntil: UInt64 = 0

    /// The time at which the process can read its next message, or `.max` for never.
    var readableAt: UInt64 { min(subscriber.connections.readableAt, dealer.fromReducer.readableAt) }

    /// The time at which the reducer can read the next message of this process, or `.max` for never.
    var readableAtReducer: UInt64 { min(dealer.toReducer.readableAt, pusher.connections.readableAt) }

    /// Whether the reducer has read everything that this process sent.
    var isReadByReducer: Bool { dealer.toReducer.isEmpty && pusher.connections.isEmpty }

    /// Delays messages, both those under way and those that are sent later.
    mutating func cut(_ direction: Timeline.Direction, until time: UInt64) {
        if direction != .toReducer {
            cutFromReducerUntil = time
            dealer.fromReducer.stalledUntil = time
            subscriber.connections.stall(until: time)
        }
        if direction != .fromReducer {
            cutToReducerUntil = time
            dealer.toReducer.stalledUntil = time
            pusher.connections.stall(until: time)
        }
    }

    /// Ends partitions, stalls and drops.
    mutating func heal() {
        subscriber.dropCount = 0
        cutFromReducerUntil = 0
        cutToReducerUntil = 0
        pusher.connections.stall(until: 0)
        subscriber.connections.stall(until: 0)
    }
}

/// A SUB socket, with the publisher's knowledge of it.
struct SubscriberSocket {
    var connections = Connections<PeerFrame>()
    /// Its subscriptions in addition to its inbox.
    var topics: [Topic] = []
    private(set) var isConnected = false
    /// Whether it receives nothing until it is made again.
    var isDead = false
    /// The time from which the publisher knows of the subscription.
    private(set) var knownFrom = UInt64.max
    /// Whether the reducer has not read the subscription yet.
    private(set) var isNew = false
    /// The number of messages that the publisher drops next.
    var dropCount = 0
    /// Whether messages of the former session arrive once more when its process next gets a new session.
    var hearsEarlierSession = false
    /// The newest messages, if the plan has them arrive again.
    private(set) var recent = Recent<PeerFrame>()
    /// The session of the newest message.
    private var addressedSession = SessionID.none

    /// Replaces the socket with a new one.
    /// - Parameter time: the time from which the publisher knows of the subscription.
    mutating func connect(knownFrom time: UInt64) {
        isConnected = true
        isDead = false
        connections.pipes = []
        reconnect(knownFrom: time)
    }

    /// The socket makes another connection.
    mutating func reconnect(knownFrom time: UInt64) {
        connections.pipes.append(Pipe())
        knownFrom = time
        isNew = true
    }

    /// Nothing that was sent until now arrives, now or later.
    mutating func loseAll() {
        recent = Recent()
        if isConnected { connections.pipes = [] }
    }

    func isSubscribed(at now: UInt64) -> Bool { isConnected && knownFrom <= now }

    /// Whether the reducer reads the subscription now.
    mutating func takeNews(at now: UInt64) -> Bool {
        guard isNew, knownFrom <= now else { return false }
        isNew = false
        return true
    }

    /// Whether the publisher drops the next message.
    /// - Parameter countMax: the capacity of a connection, in messages.
    mutating func dropsNext(at now: UInt64, holding countMax: Int) -> Bool {
        if dropCount > 0 {
            dropCount -= 1
            return true
        }
        return !isSubscribed(at: now) || isDead || connections.isFull(countMax)
    }

    /// Stores a message that was published to this process.
    /// - Returns: the messages that arrive once more now, or nil if none do.
    mutating func keep(_ frame: PeerFrame) -> [PeerFrame]? {
        defer { recent.note(frame) }
        guard frame.session != .none, frame.session != addressedSession else { return nil }
        let earlier = addressedSession
        addressedSession = frame.session
        guard hearsEarlierSession, earlier != .none, !connections.pipes.isEmpty else { return nil }
        hearsEarlierSession = false
        return recent.inOrder
    }
}

/// A PUSH socket.
struct PusherSocket {
    var connections = Connections<Batch>()
    /// Whether it delivers nothing until it is made again.
    var isDead = false
    /// Whether it accepts no message until it is made again, because it has no connection and makes none.
    var takesNothing = false
    /// The time before which a new socket delivers no more than the old one.
    var lostUntil: UInt64 = 0
    /// The newest batches, if the plan has them arrive again.
    var recent = Recent<Batch>()

    /// Replaces the socket with a new one. What the old one had not passed on is lost.
    mutating func rebuild(at now: UInt64, _ random: inout SeededRandom) {
        isDead = now < lostUntil
        takesNothing = false
        _ = connections.cutPresent(&random)
        connections.pipes.append(Pipe())
        connections.dropEmpty()
    }

    /// The reducer's process has died. Any number of the batches that it had buffered are lost.
    mutating func loseBuffers(_ random: inout SeededRandom) {
        for index in connections.pipes.indices {
            let lost = Int.random(in: 0...connections.pipes[index].count, using: &random)
            for _ in 0..<lost { _ = connections.pipes[index].popFirst() }
        }
    }

    /// Nothing that was sent until now arrives, now or later.
    mutating func loseAll() {
        recent = Recent()
        connections.pipes = connections.pipes.isEmpty ? [] : [Pipe()]
    }
}

/// A DEALER socket.
struct DealerSocket {
    /// The routing id that ROUTER has given to the present connection.
    private(set) var route: [UInt8] = []
    var toReducer = Pipe<ToReducer>()
    var fromReducer = Pipe<PeerFrame>()
    /// Whether it carries nothing until it is made again.
    var isDead = false

    /// The process closes it. What it has sent may still be read, but no answer reaches it.
    mutating func close() {
        route = []
        fromReducer.removeAll()
    }

    /// Makes another connection, under another routing id. Messages under way are lost.
    mutating func reconnect(as number: UInt32) {
        route = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(number) >> (8 * $0)) }
        isDead = false
        toReducer.removeAll()
        fromReducer.removeAll()
    }
}
