/// The target of a fault.
public enum Target: Hashable, Comparable, Sendable, CustomStringConvertible {
    case reducer
    /// Numbered from 1.
    case worker(Int)
    /// Numbered from 1.
    case client(Int)
    /// The worker that holds many effects.
    case holder

    public var description: String {
        switch self {
        case .reducer: "reducer"
        case .worker(let number): "worker-\(number)"
        case .client(let number): "client-\(number)"
        case .holder: "holder"
        }
    }
}

/// The direction in which nothing gets through, seen from a peer.
public enum Direction: String, CaseIterable, Sendable {
    case toReducer = "to the reducer"
    case toPeer = "to the peer"
    case both = "both ways"
}

/// One fault, with its time and its duration.
public struct Fault: Equatable, Sendable, CustomStringConvertible {
    /// The faults of a run.
    public enum Trouble: Equatable, Sendable {
        /// SIGKILL; started again when the time is over.
        case kill
        /// SIGTERM; started again when the time is over.
        case terminate
        /// SIGSTOP, and SIGCONT when the time is over.
        case freeze
        /// A percentage of packets is dropped, in both directions.
        case loss(percent: Int)
        /// All packets are dropped.
        case partition(Direction)
        /// Every byte is delayed by this time.
        case delay(Duration)
        /// Connections stand, and nothing moves on them.
        case stall(Direction)
        /// A connection ends in the middle of a message.
        case cut
    }

    /// Since the beginning.
    public var at: Duration
    /// How long it lasts, or how long a process stays away.
    public var lasts: Duration
    public var target: Target
    public var trouble: Trouble

    public var end: Duration { at + lasts }

    public var kind: FaultKind {
        switch (trouble, target) {
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

    /// Faults of one lane never overlap: those of one sort at one target.
    var lane: String {
        switch trouble {
        case .kill, .terminate, .freeze: "process of \(target)"
        case .loss, .partition: "network of \(target)"
        case .delay, .stall, .cut: "proxy of \(target)"
        }
    }

    /// `3.250 s  kill the reducer, away for 0.410 s`
    public var description: String {
        let what =
            switch trouble {
            case .kill: "kill \(target), away for \(lasts.shown)"
            case .terminate: "terminate \(target), away for \(lasts.shown)"
            case .freeze: "freeze \(target) for \(lasts.shown)"
            case .loss(let percent): "drop \(percent) % of the packets of \(target) for \(lasts.shown)"
            case .partition(let direction): "partition \(target) \(direction.rawValue) for \(lasts.shown)"
            case .delay(let delay): "delay \(target) by \(delay.shown) for \(lasts.shown)"
            case .stall(let direction): "stall \(target) \(direction.rawValue) for \(lasts.shown)"
            case .cut: "cut a connection of \(target)"
            }
        return "\(at.shown)  \(what)"
    }
}

/// The kinds of faults, each of which has to happen in every run.
public enum FaultKind: String, CaseIterable, Sendable {
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

    /// Whether it takes network namespaces and a packet filter.
    public var needsNetwork: Bool { self == .loss || self == .oneWayPartition || self == .partition }

    /// Whether it is one of the reducer's process.
    public var isOfReducer: Bool { self == .reducerKilled || self == .reducerTerminated || self == .reducerFrozen }
}

extension Duration {
    /// Seconds with three digits: `1.250 s`.
    var shown: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let digits = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - digits.count))\(digits) s"
    }
}
