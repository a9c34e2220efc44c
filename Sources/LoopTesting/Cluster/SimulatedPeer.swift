import LoopCluster
import LoopCore
import LoopWire

/// One process beside the reducer: the shipped machine, its sockets and what runs in it.
final class SimulatedPeer {
    enum Role { case worker, client }

    /// The body of one attempt.
    struct Body {
        let effect: EffectID
        let attempt: Attempt
        /// Names this body among all that ever ran.
        let run: UInt32
        let slot: Int
        var request: [UInt8]
        var stepsLeft: Int
        /// The position of its next entry.
        var next = 0
        var fails: Bool
        var finishes: Bool
        /// Goes on until it is cancelled.
        var isEndless: Bool
        var isWaitingForRoom = false
        /// An event that the outbox had no room for.
        var held: SlotEvent?
    }

    let index: Int
    let id: PeerID
    let role: Role
    var machine: PeerMachine
    /// This process's steady clock minus virtual time.
    let clockOffset: UInt64
    var isAlive = true
    var isLeaving = false
    var frozenUntil: UInt64 = 0
    /// Its next event ends the reducer's process.
    var sendsPoison = false
    var wakesAt = UInt64.max

    // Sockets.
    var subscriber = Connections<PeerFrame>()
    var pusher = Connections<Batch>()
    var fromReducer = Pipe<PeerFrame>()
    var toReducer = Pipe<ToReducer>()
    var isConnected = false
    /// The publisher knows the subscription from here on.
    var subscribedAt = UInt64.max
    /// The reducer has not heard of the subscription yet.
    var isSubscriptionNew = false
    var isSubscriberDead = false
    var isPusherDead = false
    /// Until then a new PUSH delivers no more than the old one.
    var collectorLostUntil: UInt64 = 0
    /// How many messages the publisher drops next.
    var burst = 0
    /// The routing id of the present DEALER connection.
    var route: [UInt8]

    // What runs here.
    var bodies: [UInt32: Body] = [:]
    var runs: [EffectID: UInt32] = [:]
    var isWaitingForRoom = false

    // Accounts of the entries whose outcome is not known.
    var accounts = OutboxAccounts()

    init(index: Int, id: PeerID, role: Role, machine: PeerMachine, clockOffset: UInt64, route: [UInt8]) {
        self.index = index
        self.id = id
        self.role = role
        self.machine = machine
        self.clockOffset = clockOffset
        self.route = route
    }
}
