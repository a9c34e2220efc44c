import LoopCluster
import LoopCore
import LoopWire

/// One process beside the reducer: the shipped machine, its sockets and what runs in it.
///
/// What is asked at every step is not watched for overlapping accesses, which costs more than the accesses: all is used by one
/// thread, and what is changed in place is not asked meanwhile.
final class SimulatedPeer<Script> {
    /// A local one lives in the reducer's process and dies with it; there are no sockets between.
    /// An observer sends nothing, and is shown what the reducer publishes.
    enum Role { case worker, client, local, observer }

    typealias Body = RunningBodies<Script>.Body

    /// The position among all processes that ever were.
    let index: Int
    /// The position among the workers, or among the clients; a process that takes the place of another has its number.
    let slot: Int
    /// Another one where it has left a session that somebody else uses.
    var id: PeerID { machine.configuration.peer }
    let role: Role
    var machine: PeerMachine
    /// As nodes have it: beside the peer's machine, on the same sockets.
    var observer: ObserverMachine?
    /// What it watches.
    var watched: SimulationPlan.Watched?
    /// Makes states of what the observer's machine hands out.
    var follower: (any SimulatedFollower)?
    /// The newest seq that it has shown in the history that it follows.
    var shown: (history: History, seq: Seq)?
    /// What it knows was damaged, and that was not noticed yet.
    var isDamaged = false
    /// What its subscription covers beside its inbox.
    var topics: [Topic] = []
    /// This process's steady clock minus virtual time.
    let clockOffset: UInt64
    var isAlive = true
    var isLeaving = false
    /// It has learned of the loop's end, or it was asked to go and has handed everything back: it goes.
    var hasEnded = false
    var hasFinished = false
    /// What it has read of the loop's end: the first word in each history.
    var heardEnds: [HeardEnd] = []

    struct HeardEnd {
        let history: History
        /// The least that was said.
        var seq: Seq
        let at: UInt64
    }
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
    /// When it last read a word of its history in its inbox.
    var heardAt: UInt64 = 0
    /// The newest messages in both directions, where the plan has them come again.
    var recentFrames = Recent<PeerFrame>()
    var recentBatches = Recent<Batch>()
    /// The session of the newest frame to it, and whether what was said in it comes once more when there is a newer one.
    var addressedSession = SessionID.none
    var hearsEarlierSession = false
    /// It claims nothing in the next epoch, and which that was.
    var forgetsClaims = false
    var forgetfulEpoch: Epoch?
    /// A copy of its outbox file, at a time when everything was settled.
    var copiedStream: PeerStream?
    /// It goes on with such a copy: what it settles is on disk at once.
    var isResumed = false
    /// Up to where its entries have left in this session.
    var sentUpTo: (session: SessionID, number: UInt64) = (.none, 0)
    /// The newest tick of this epoch that it has read left the reducer at this time, or it was welcomed then.
    var reachedAt: UInt64 = 0
    /// What `reachedAt` was when the reducer was last seen to have taken its effects, and when it was last looked at.
    var lapsedAt: (reached: UInt64, looked: UInt64) = (.max, 0)
    /// How many messages the publisher drops next.
    var burst = 0
    /// The routing id of the present DEALER connection.
    var route: [UInt8]
    /// What a local peer has to say in the reducer's next turn.
    var said: [ToReducer] = []

    // What runs here.
    var bodies = RunningBodies<Script>()

    // What a client has still to send of what it began, and when it goes on; nil: nothing more comes.
    var unsent: [[UInt8]] = []
    var pause: UInt64?
    var isWaitingForRoom = false

    // Accounts of the entries whose outcome is not known.
    var accounts = OutboxAccounts()

    init(
        index: Int, slot: Int, role: Role, machine: PeerMachine, clockOffset: UInt64, route: [UInt8]
    ) {
        self.index = index
        self.slot = slot
        self.role = role
        self.machine = machine
        self.clockOffset = clockOffset
        self.route = route
    }
}
