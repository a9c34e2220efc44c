/// The target of a fault.
package enum Target: Hashable, Comparable, Sendable, CustomStringConvertible {
    case reducer
    /// A worker, numbered from 1.
    case worker(Int)
    /// A client, numbered from 1.
    case client(Int)
    /// The worker that holds many effects.
    case holder
    /// The reducer that leads when the fault begins, of several.
    case leader
    /// A reducer that does not lead when the fault begins, of several.
    case standby
    /// The primary server of the database.
    case primary
    /// A replica server of the database.
    case replica
    /// One of several reducers, numbered from 1.
    case member(Int)
    /// One of the database's servers, numbered from 1.
    case server(Int)
    /// An observer, numbered from 1.
    case observer(Int)

    package var description: String {
        switch self {
        case .reducer: "reducer"
        case .worker(let number): "worker-\(number)"
        case .client(let number): "client-\(number)"
        case .holder: "holder"
        case .leader: "the leader"
        case .standby: "a standby"
        case .primary: "the primary"
        case .replica: "a replica"
        case .member(let number): "reducer-\(number)"
        case .server(let number): "db-\(number)"
        case .observer(let number): "observer-\(number)"
        }
    }
}

/// The direction in which no packet passes, as seen from a peer.
package enum Direction: String, CaseIterable, Sendable {
    case toReducer = "to the reducer"
    case toPeer = "to the peer"
    case both = "both ways"

    /// The direction for a reducer's connection to the database, where the reducer is the peer.
    var ofDatabase: String {
        switch self {
        case .toReducer: "to the database"
        case .toPeer: "from the database"
        case .both: rawValue
        }
    }
}

/// One fault, with its time and its duration.
package struct Fault: Equatable, Sendable, CustomStringConvertible {
    /// The kinds of trouble, with their parameters.
    package enum Trouble: Equatable, Sendable {
        /// SIGKILL, and a restart at the end.
        case kill
        /// SIGTERM, and a restart at the end.
        case terminate
        /// SIGSTOP, and SIGCONT at the end.
        case freeze
        /// A percentage of packets is dropped, in both directions.
        case loss(percent: Int)
        /// All packets are dropped.
        case partition(Direction)
        /// Every byte is delayed by this time.
        case delay(Duration)
        /// Connections remain open, but nothing moves on them.
        case stall(Direction)
        /// A connection ends in the middle of a message.
        case cut
        /// No packet passes between a reducer and the database.
        case severed
        /// All servers of the database are killed. The replicas start again, and one of them is promoted.
        case blackout
        /// Every replica is frozen.
        case noQuorum
    }

    /// The time since the beginning.
    package var at: Duration
    /// How long it lasts, or how long a process is away.
    package var lasts: Duration
    package var target: Target
    package var trouble: Trouble

    package var end: Duration { at + lasts }

    package var kind: FaultKind {
        switch (trouble, target) {
        case (.kill, .leader): .leaderKilled
        case (.terminate, .leader): .leaderStopped
        case (.freeze, .leader): .leaderFrozen
        case (.partition, .leader): .leaderPartition
        case (.kill, .standby), (.terminate, .standby): .standbyKilled
        case (.freeze, .standby): .standbyFrozen
        case (.partition, .standby): .standbyPartition
        case (.kill, .primary), (.terminate, .primary): .primaryKilled
        case (.freeze, .primary): .primaryFrozen
        case (.partition, .primary): .primaryPartition
        case (.kill, .replica), (.terminate, .replica): .replicaKilled
        case (.freeze, .replica): .replicaFrozen
        case (.partition, .replica): .replicaPartition
        case (.severed, _): .severed
        case (.blackout, _): .blackout
        case (.noQuorum, _): .noQuorum
        case (.kill, .reducer): .reducerKilled
        case (.kill, _): .workerKilled
        case (.terminate, .reducer): .reducerTerminated
        case (.terminate, _): .workerTerminated
        case (.freeze, .reducer): .reducerFrozen
        case (.freeze, _): .workerFrozen
        case (.loss, _): .loss
        case (.partition(.both), _): .partition
        case (.partition, _): .oneWayPartition
        case (.delay, _): .delay
        case (.stall, _): .stall
        case (.cut, _): .cut
        }
    }

    /// The lane of the fault: its sort and its target. Faults of one lane never overlap.
    var lane: String {
        switch target {
        // Their targets are determined when the fault begins, so two of them may be one process.
        case .leader where trouble.isOfProxy: "proxy of the leader"
        case .leader, .standby: "reducers"
        case .primary, .replica: "database"
        default: laneOfOne
        }
    }

    private var laneOfOne: String {
        switch trouble {
        case .kill, .terminate, .freeze, .severed, .blackout, .noQuorum: "process of \(target)"
        case .loss, .partition: "network of \(target)"
        case .delay, .stall, .cut: "proxy of \(target)"
        }
    }

    /// Such as `3.250 s  kill the reducer, away for 0.410 s`.
    package var description: String {
        let what =
            switch trouble {
            case .kill: "kill \(target), away for \(lasts.shown)"
            case .terminate: "terminate \(target), away for \(lasts.shown)"
            case .freeze: "freeze \(target) for \(lasts.shown)"
            case .loss(let percent): "drop \(percent) % of the packets of \(target) for \(lasts.shown)"
            case .partition(let direction): "partition \(target) \(direction.rawValue) for \(lasts.shown)"
            case .delay(let delay): "delay \(target) by \(delay.shown) for \(lasts.shown)"
            case .stall(let direction) where target == .leader:
                "stall \(target) \(direction.ofDatabase) for \(lasts.shown)"
            case .stall(let direction): "stall \(target) \(direction.rawValue) for \(lasts.shown)"
            case .cut: "cut a connection of \(target)"
            case .severed: "sever \(target) from the database for \(lasts.shown)"
            case .blackout: "kill all servers of the database, \(target) for \(lasts.shown)"
            case .noQuorum: "freeze all replicas for \(lasts.shown)"
            }
        return "\(at.shown)  \(what)"
    }
}

/// The kinds of faults, each of which must occur in every run.
package enum FaultKind: String, CaseIterable, Sendable {
    case reducerKilled = "reducer killed"
    case reducerTerminated = "reducer terminated"
    case reducerFrozen = "reducer frozen"
    case workerKilled = "worker killed"
    case workerTerminated = "worker terminated"
    case workerFrozen = "worker frozen"
    case loss = "packets lost"
    case oneWayPartition = "one-way partition"
    case partition = "partition"
    case delay = "proxy delay"
    case stall = "proxy stall"
    case cut = "proxy cut mid-message"
    case leaderKilled = "leader killed"
    case leaderStopped = "leader stopped"
    case leaderFrozen = "leader frozen"
    case leaderPartition = "leader cut off"
    case severed = "leader cut off from the database"
    case standbyKilled = "standby killed"
    case standbyFrozen = "standby frozen"
    case standbyPartition = "standby cut off"
    case primaryKilled = "primary killed"
    case primaryFrozen = "primary frozen"
    case primaryPartition = "primary cut off"
    case blackout = "all servers killed"
    case replicaKilled = "replica killed"
    case replicaFrozen = "replica frozen"
    case replicaPartition = "replica cut off"
    case noQuorum = "no replica answers"

    /// The kinds in a run with one reducer.
    package static let ofOneReducer: [FaultKind] = [
        .reducerKilled, .reducerTerminated, .reducerFrozen, .workerKilled, .workerTerminated, .workerFrozen, .loss,
        .oneWayPartition, .partition, .delay, .stall, .cut,
    ]

    /// The kinds that need more than one server of the database.
    private static let ofReplicas: Set<FaultKind> = [
        .blackout, .replicaKilled, .replicaFrozen, .replicaPartition, .noQuorum,
    ]

    /// The kinds in a run whose journal is in a database.
    package static func ofDatabase(servers: Int) -> [FaultKind] {
        allCases.filter { !$0.isOfReducer && (servers > 1 || !ofReplicas.contains($0)) }
    }

    /// Whether it requires network namespaces and a packet filter.
    package var needsNetwork: Bool {
        switch self {
        case .loss, .oneWayPartition, .partition, .leaderPartition, .severed, .standbyPartition, .primaryPartition,
            .replicaPartition:
            true
        default: false
        }
    }

    /// Whether a process is killed.
    var isKill: Bool {
        switch self {
        case .reducerKilled, .workerKilled, .leaderKilled, .standbyKilled, .primaryKilled, .replicaKilled, .blackout:
            true
        default: false
        }
    }

    /// Whether it affects the process of the only reducer.
    package var isOfReducer: Bool { self == .reducerKilled || self == .reducerTerminated || self == .reducerFrozen }
}

extension Fault.Trouble {
    /// Whether a proxy causes it.
    var isOfProxy: Bool {
        switch self {
        case .delay, .stall, .cut: true
        default: false
        }
    }
}

extension Duration {
    /// The duration in seconds with three decimal digits: `1.250 s`.
    var shown: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let digits = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - digits.count))\(digits) s"
    }
}
