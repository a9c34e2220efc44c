import LoopCluster
import LoopCore
import LoopWire

/// One process besides the reducer: the shipped machine, its sockets and its bodies.
final class SimulatedPeer<Script> {
    /// The roles of peers. A local one runs in the reducer's process, dies with it, and has no sockets. An observer sends nothing,
    /// and shows what the reducer publishes.
    enum Role { case worker, client, local, observer }

    typealias Body = RunningBodies<Script>.Body

    /// The position among all processes of the run.
    let index: Int
    /// The position among the processes of its role. A process that replaces another has its slot.
    let slot: Int
    let role: Role
    /// This process's steady clock minus virtual time.
    let clockOffset: UInt64
    var machine: PeerMachine
    var life = PeerLife()
    /// Its sockets at each process of the reducer.
    var sockets: [PeerSockets]
    /// The process of the reducer that it talks to.
    var place = 0
    /// The bodies that run here.
    var bodies = RunningBodies<Script>()
    /// The other parts of an observer, or nil if it is none.
    var observing: Observing?
    var client = ClientScript()
    /// The outbox file of a client, or nil if its entries end with it.
    var outbox: SimulatedOutbox?
    /// The entries without a known outcome.
    var accounts = OutboxAccounts()
    var lease: LeaseAccount
    var heardEnds = HeardEnds()
    var faults = PeerFaults()
    /// The messages of a local peer for the reducer's next turn.
    var said: [ToReducer] = []

    /// - Parameters:
    ///   - candidates: the number of the reducer's processes.
    ///   - now: the time at which it starts.
    init(
        index: Int, slot: Int, role: Role, machine: PeerMachine, clockOffset: UInt64, candidates: Int = 1,
        at now: UInt64
    ) {
        sockets = Array(repeating: PeerSockets(), count: candidates)
        self.index = index
        self.slot = slot
        self.role = role
        self.machine = machine
        self.clockOffset = clockOffset
        lease = LeaseAccount(heardAt: now)
    }

    /// Ends partitions, stalls and drops.
    func heal() {
        for index in sockets.indices { sockets[index].heal() }
    }

    /// The time at which it can read its next message at any address, or `.max` for never.
    var readableAt: UInt64 {
        var earliest = sockets[place].readableAt
        for index in sockets.indices { earliest = min(earliest, sockets[index].subscriber.connections.readableAt) }
        return earliest
    }

    /// Whether the reducer's processes have read everything that this process sent.
    var isRead: Bool { sockets.allSatisfy(\.isReadByReducer) }

    /// The peer ID. The machine takes another one if it has left a session that another process uses.
    var id: PeerID { machine.configuration.peer }

    var isAlive: Bool { life.stage != .gone }

    /// A time as this process's steady clock shows it.
    func clock(at now: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: now + clockOffset) }

    /// The time of its machine's next task, in virtual time.
    var deadline: UInt64 {
        let deadline = observing.map { machine.deadline(with: $0.machine) } ?? machine.deadline
        return max(deadline.nanoseconds, clockOffset) - clockOffset
    }
}

/// The progress of a process, and the time of its next turn.
struct PeerLife {
    enum Stage {
        case running
        /// It was asked to leave, and hands back what it has.
        case leaving
        /// It has ended. Messages of it may still be under way.
        case gone
    }

    var stage = Stage.running
    /// Whether it has learned of the loop's end.
    var hasEnded = false
    /// Whether it was asked to leave, and has handed everything back.
    var hasFinished = false
    var frozenUntil: UInt64 = 0
    /// The time until which it stays frozen even after the faults, because a forger has sent a batch in its session.
    var forgedUntil: UInt64 = 0
    var wakesAt = UInt64.max
}

/// The ends of the loop that a process has read: the first in each history.
struct HeardEnds {
    struct HeardEnd {
        let history: History
        /// The smallest seq that was read.
        var seq: Seq
        let at: UInt64
    }

    private var all: [HeardEnd] = []

    var isEmpty: Bool { all.isEmpty }

    subscript(history: History) -> HeardEnd? { all.first { $0.history == history } }

    /// The process reads a frame, which may contain an end.
    mutating func note(_ frame: PeerFrame, at now: UInt64) {
        guard case .ended(let seq, _, _) = frame.message else { return }
        if let known = all.firstIndex(where: { $0.history == frame.history }) {
            all[known].seq = min(all[known].seq, seq)
        } else {
            all.append(HeardEnd(history: frame.history, seq: seq, at: now))
        }
    }
}

/// The rest of a client's burst, and the time at which the client continues.
struct ClientScript {
    var unsent: [[UInt8]] = []
    /// The number of nanoseconds until it sends a new burst, or nil if it sends nothing more.
    var pause: UInt64?
    var isWaitingForSpace = false
}

/// The faults of one process.
struct PeerFaults {
    /// Whether its next event ends the reducer's process.
    var sendsPoison = false
    /// Whether it claims nothing in the next epoch.
    var forgetsClaims = false
    /// The epoch in which it claims nothing, once that has begun.
    var forgetfulEpoch: Epoch?
    /// A copy of its outbox file, from a time at which everything was settled.
    var copiedStream: PeerStream?

    /// Whether it claims nothing in this epoch. It claims everything again in the next one.
    mutating func forgets(in epoch: Epoch) -> Bool {
        guard forgetsClaims else { return false }
        if forgetfulEpoch == nil { forgetfulEpoch = epoch }
        if forgetfulEpoch != epoch { forgetsClaims = false }
        return forgetsClaims
    }
}
