import LoopCluster
import LoopCore
import LoopWire

/// One process besides the reducer: the shipped machine, its sockets and what runs in it.
final class SimulatedPeer<Script> {
    /// A local one lives in the reducer's process and dies with it; there are no sockets between.
    /// An observer sends nothing, and is shown what the reducer publishes.
    enum Role { case worker, client, local, observer }

    typealias Body = RunningBodies<Script>.Body

    /// The position among all processes that ever were.
    let index: Int
    /// The position among the workers, or among the clients; a process that takes the place of another has its number.
    let slot: Int
    let role: Role
    /// This process's steady clock minus virtual time.
    let clockOffset: UInt64
    var machine: PeerMachine
    var life = PeerLife()
    /// Its sockets at the reducer's process that is looked at.
    var sockets = PeerSockets()
    /// Its sockets at the others, by their position. (The sockets are not read through an accessor: a build for debugging
    /// destroys what such a one lends out twice.)
    private var elsewhere: [PeerSockets]
    /// Which of the reducer's processes is looked at.
    private var focus = 0
    /// The one that it talks to.
    var place = 0
    /// What runs here.
    var bodies = RunningBodies<Script>()
    /// What an observer has besides; nil: it is none.
    var observing: Observing?
    var client = ClientScript()
    /// What a client keeps on disk; nil: its entries end with it.
    var outbox: SimulatedOutbox?
    /// The entries whose outcome is not known.
    var accounts = OutboxAccounts()
    var lease: LeaseAccount
    var heardEnds = HeardEnds()
    var faults = PeerFaults()
    /// What a local peer says in the reducer's next turn.
    var said: [ToReducer] = []

    /// - Parameters:
    ///   - candidates: how many processes the reducer has.
    ///   - now: when it starts.
    init(
        index: Int, slot: Int, role: Role, machine: PeerMachine, clockOffset: UInt64, candidates: Int = 1,
        at now: UInt64
    ) {
        elsewhere = Array(repeating: PeerSockets(), count: candidates)
        self.index = index
        self.slot = slot
        self.role = role
        self.machine = machine
        self.clockOffset = clockOffset
        lease = LeaseAccount(heardAt: now)
    }

    /// Another one of the reducer's processes is looked at.
    func focus(on index: Int) {
        swap(&sockets, &elsewhere[focus])
        swap(&sockets, &elsewhere[index])
        focus = index
    }

    /// Ends partitions, stalls and drops.
    func heal() {
        sockets.heal()
        for index in elsewhere.indices { elsewhere[index].heal() }
    }

    /// When it can read its next message, wherever it listens; never: `.max`.
    var readableAt: UInt64 {
        var earliest = min(sockets.readableAt, elsewhere[place].readableAt)
        for index in elsewhere.indices {
            earliest = min(earliest, elsewhere[index].subscriber.connections.readableAt)
        }
        return earliest
    }

    /// Whether the reducer's processes have read everything that this process sent.
    var isRead: Bool { sockets.isReadByReducer && elsewhere.allSatisfy(\.isReadByReducer) }

    /// The machine takes another id where it has left a session that another process uses.
    var id: PeerID { machine.configuration.peer }

    var isAlive: Bool { life.stage != .gone }

    /// A time as this process's steady clock shows it.
    func clock(at now: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: now + clockOffset) }

    /// When its machine next has something to do, in virtual time.
    var deadline: UInt64 {
        let deadline = observing.map { machine.deadline(with: $0.machine) } ?? machine.deadline
        return max(deadline.nanoseconds, clockOffset) - clockOffset
    }
}

/// How far a process has come, and when its next turn is.
struct PeerLife {
    enum Stage {
        case running
        /// It was asked to go, and hands back what it has.
        case leaving
        /// It has ended. Messages of it may still be under way.
        case gone
    }

    var stage = Stage.running
    /// It has learned of the loop's end.
    var hasEnded = false
    /// It was asked to go, and has handed everything back.
    var hasFinished = false
    var frozenUntil: UInt64 = 0
    /// Until when it stays frozen although the faults have ended, because another has sent a batch in its session.
    var forgedUntil: UInt64 = 0
    var wakesAt = UInt64.max
}

/// What a process has read of the loop's end: the first word in each history.
struct HeardEnds {
    struct HeardEnd {
        let history: History
        /// The least that was said.
        var seq: Seq
        let at: UInt64
    }

    private var all: [HeardEnd] = []

    var isEmpty: Bool { all.isEmpty }

    subscript(history: History) -> HeardEnd? { all.first { $0.history == history } }

    /// The process reads a frame, which may tell of an end.
    mutating func note(_ frame: PeerFrame, at now: UInt64) {
        guard case .ended(let seq, _, _) = frame.message else { return }
        if let known = all.firstIndex(where: { $0.history == frame.history }) {
            all[known].seq = min(all[known].seq, seq)
        } else {
            all.append(HeardEnd(history: frame.history, seq: seq, at: now))
        }
    }
}

/// What a client still sends of what it began, and when it goes on.
struct ClientScript {
    var unsent: [[UInt8]] = []
    /// After how many nanoseconds it sends something new; nil: it sends nothing more.
    var pause: UInt64?
    var isWaitingForSpace = false
}

/// What is wrong with one process.
struct PeerFaults {
    /// Its next event ends the reducer's process.
    var sendsPoison = false
    /// It claims nothing in the next epoch.
    var forgetsClaims = false
    /// The epoch in which it claims nothing, once that has begun.
    var forgetfulEpoch: Epoch?
    /// A copy of its outbox file, of a time when everything was settled.
    var copiedStream: PeerStream?

    /// Whether it claims nothing in this epoch. It claims everything again in the next one.
    mutating func forgets(in epoch: Epoch) -> Bool {
        guard forgetsClaims else { return false }
        if forgetfulEpoch == nil { forgetfulEpoch = epoch }
        if forgetfulEpoch != epoch { forgetsClaims = false }
        return forgetsClaims
    }
}
