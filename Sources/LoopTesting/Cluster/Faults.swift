/// Which kinds of faults a simulated cluster meets, and how often. Each seed draws its own from them: some kinds are left out,
/// so that none hides another, and they come rarely or all the time (swarm testing, Groce 2012).
///
///     .all    .network + .disk    Faults.processes.times(0.3)
public struct Faults: Equatable, Sendable {
    package var kinds: [SimulationPlan.Fault]
    /// How often they come, relative to the simulator's own runs; 1 is a few per second.
    public private(set) var rate: Double

    package init(_ kinds: [SimulationPlan.Fault], rate: Double = 1) {
        self.kinds = kinds
        self.rate = rate
    }

    /// No faults. Messages still need time, and arrive in any order among the processes.
    public static let none = Faults([], rate: 0)

    /// Connections that lose the middle of what they carry, fall silent, or are made again; partitions, in one direction or
    /// both; messages that come again, late; bursts that the publisher drops for a reader that is too slow, as ZeroMQ does it.
    public static let network = Faults([
        .burst, .push, .subscription, .dealer, .deadSubscription, .deadPush, .lostCollector, .partition, .replay,
    ])

    /// Workers, clients and the reducer are killed, frozen, stopped and started again, at any moment; clocks are set.
    public static let processes = Faults([
        .freeze, .kill, .stop, .reducerFreeze, .crash, .crashInReduction, .restart, .clockSet,
    ])

    /// The journal's disk is slow, full, fails, or loses its power; a snapshot is damaged; another reducer wants the journal.
    public static let disk = Faults([
        .powerLoss, .slowDisk, .failingDisk, .fullDisk, .damagedSnapshot, .secondReducer,
    ])

    /// All of these.
    public static let all = network + processes + disk

    /// What the simulator's own loop meets besides: events that no build can take, and operators.
    package static let own = Faults(
        SimulationPlan.Fault.allCases.filter {
            !SimulationPlan.Fault.impostors.contains($0) && !SimulationPlan.Fault.ofDatabases.contains($0)
        })

    /// The kinds of both, at the higher of their rates.
    public static func + (a: Faults, b: Faults) -> Faults {
        Faults(a.kinds + b.kinds.filter { !a.kinds.contains($0) }, rate: max(a.rate, b.rate))
    }

    /// The same kinds at another rate.
    /// - Parameter factor: above zero.
    public func times(_ factor: Double) -> Faults {
        precondition(factor > 0, "faults cannot come \(factor) times as often; Faults.none has none")
        return Faults(kinds, rate: rate * factor)
    }
}
