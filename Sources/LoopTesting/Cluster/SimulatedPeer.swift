import LoopCluster
import LoopCore
import LoopWire

/// One process beside the reducer: the shipped machine, its sockets and what runs in it.
final class SimulatedPeer<Script> {
    /// A local one lives in the reducer's process and dies with it; there are no sockets between.
    enum Role { case worker, client, local }

    /// The body of one attempt.
    struct Body {
        var grant: Grant
        /// Names this body among all that ever ran.
        let run: UInt32
        var script: Script
        /// The position of its next entry.
        var next = 0
        var isWaitingForRoom = false
        /// It does nothing more until it is cancelled.
        var isAtRest = false
        /// An event that the outbox had no room for.
        var held: [UInt8]?

        var effect: EffectID { grant.effect }
        var attempt: Attempt { grant.attempt }
    }

    /// The position among all processes that ever were.
    let index: Int
    /// The position among the workers, or among the clients; a process that takes the place of another has its number.
    let slot: Int
    let id: PeerID
    let role: Role
    var machine: PeerMachine
    /// This process's steady clock minus virtual time.
    let clockOffset: UInt64
    var isAlive = true
    var isLeaving = false
    /// It has learned of the loop's end.
    var hasEnded = false
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
    /// Until then nothing comes through from the reducer, and nothing to it.
    var cutFromReducerUntil: UInt64 = 0
    var cutToReducerUntil: UInt64 = 0
    /// How many messages the publisher drops next.
    var burst = 0
    /// The routing id of the present DEALER connection.
    var route: [UInt8]
    /// What a local peer has to say in the reducer's next turn.
    var said: [ToReducer] = []

    // What runs here.
    var bodies: [UInt32: Body] = [:]
    var runs: [EffectID: UInt32] = [:]

    // What a client has still to send of what it began, and when it goes on; nil: nothing more comes.
    var unsent: [[UInt8]] = []
    var pause: UInt64?
    var isWaitingForRoom = false

    // Accounts of the entries whose outcome is not known.
    var accounts = OutboxAccounts()

    init(
        index: Int, slot: Int, id: PeerID, role: Role, machine: PeerMachine, clockOffset: UInt64, route: [UInt8]
    ) {
        self.index = index
        self.slot = slot
        self.id = id
        self.role = role
        self.machine = machine
        self.clockOffset = clockOffset
        self.route = route
    }
}
