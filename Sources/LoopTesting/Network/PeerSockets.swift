import LoopCore
import LoopWire

/// The sockets of one process. SUB brings what the reducer publishes, PUSH carries entries, and DEALER does both for control
/// messages.
struct PeerSockets {
    var subscriber = SubscriberSocket()
    var pusher = PusherSocket()
    var dealer = DealerSocket()
    /// A partition: what the reducer sends arrives no earlier than this.
    var cutFromReducerUntil: UInt64 = 0
    /// A partition: what the process sends arrives no earlier than this.
    var cutToReducerUntil: UInt64 = 0

    /// When the process can read its next message; never: `.max`.
    var readableAt: UInt64 { min(subscriber.connections.readableAt, dealer.fromReducer.readableAt) }

    /// When the reducer can read the next message of this process; never: `.max`.
    var readableAtReducer: UInt64 { min(dealer.toReducer.readableAt, pusher.connections.readableAt) }

    /// Whether the reducer has read everything that this process sent.
    var isReadByReducer: Bool { dealer.toReducer.isEmpty && pusher.connections.isEmpty }

    /// Holds messages back, those under way and those that are sent later.
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

/// A SUB socket, with what the publisher knows of it.
struct SubscriberSocket {
    var connections = Connections<PeerFrame>()
    /// What it is subscribed to besides its inbox.
    var topics: [Topic] = []
    private(set) var isConnected = false
    /// It receives nothing until it is made again.
    var isDead = false
    /// The publisher knows of the subscription from this time on.
    private(set) var knownFrom = UInt64.max
    /// The reducer has not heard of the subscription yet.
    private(set) var isNew = false
    /// How many messages the publisher drops next.
    var dropCount = 0
    /// When its process next gets a new session, what was said in the session before comes once more.
    var hearsEarlierSession = false
    /// The newest messages, where the plan has them come again.
    private(set) var recent = Recent<PeerFrame>()
    /// The session of the newest message.
    private var addressedSession = SessionID.none

    /// A new socket takes the place of the old one.
    /// - Parameter time: when the publisher knows of the subscription.
    mutating func connect(knownFrom time: UInt64) {
        isConnected = true
        isDead = false
        connections.pipes = []
        reconnect(knownFrom: time)
    }

    /// The same socket has another connection.
    mutating func reconnect(knownFrom time: UInt64) {
        connections.pipes.append(Pipe())
        knownFrom = time
        isNew = true
    }

    /// Nothing of what was sent until now arrives, now or again.
    mutating func loseAll() {
        recent = Recent()
        if isConnected { connections.pipes = [] }
    }

    func isSubscribed(at now: UInt64) -> Bool { isConnected && knownFrom <= now }

    /// Whether the reducer hears of the subscription now.
    mutating func takeNews(at now: UInt64) -> Bool {
        guard isNew, knownFrom <= now else { return false }
        isNew = false
        return true
    }

    /// Whether the publisher drops the next message.
    /// - Parameter countMax: how many messages a connection holds.
    mutating func dropsNext(at now: UInt64, holding countMax: Int) -> Bool {
        if dropCount > 0 {
            dropCount -= 1
            return true
        }
        return !isSubscribed(at: now) || isDead || connections.isFull(countMax)
    }

    /// Keeps a message that was published to this process.
    /// - Returns: the messages that come once more now; nil: this is not the time for it.
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
    /// It delivers nothing until it is made again.
    var isDead = false
    /// Whether it takes no message until it is made again, because it has no connection and makes none.
    var takesNothing = false
    /// Until then a new socket delivers no more than the old one.
    var lostUntil: UInt64 = 0
    /// The newest batches, where the plan has them come again.
    var recent = Recent<Batch>()

    /// A new socket takes the place of the old one. What the old one had not handed over is gone.
    mutating func rebuild(at now: UInt64, _ random: inout SeededRandom) {
        isDead = now < lostUntil
        takesNothing = false
        _ = connections.cutPresent(&random)
        connections.pipes.append(Pipe())
        connections.dropEmpty()
    }

    /// The reducer's process has died, and any number of the batches that it had buffered with it.
    mutating func loseBuffers(_ random: inout SeededRandom) {
        for index in connections.pipes.indices {
            let lost = Int.random(in: 0...connections.pipes[index].count, using: &random)
            for _ in 0..<lost { _ = connections.pipes[index].popFirst() }
        }
    }

    /// Nothing of what was sent until now arrives, now or again.
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
    /// It carries nothing until it is made again.
    var isDead = false

    /// The process closes it. What it has sent may still be read; no answer finds it.
    mutating func close() {
        route = []
        fromReducer.removeAll()
    }

    /// Another connection, under another routing id. What was under way is gone.
    mutating func reconnect(as number: UInt32) {
        route = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(number) >> (8 * $0)) }
        isDead = false
        toReducer.removeAll()
        fromReducer.removeAll()
    }
}
