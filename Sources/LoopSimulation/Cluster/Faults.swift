/// The kinds of faults that a simulated cluster can meet. Each seed draws its own faults from them. It omits some
/// kinds, so that none hides another, and the others are rare or frequent (swarm testing, Groce 2012).
///
///     .all    .network + .disk
public struct Faults: Equatable, Sendable {
    package var kinds: [SimulationPlan.Fault]

    package init(_ kinds: [SimulationPlan.Fault]) { self.kinds = kinds }

    /// No faults. Messages still need time, and arrive in any order among the processes.
    public static let none = Faults([])

    /// Faults of the network. Connections lose the middle of what they carry, fall silent, or are made again. Partitions cut one
    /// direction or both. Old messages arrive again, late. The publisher drops bursts for a slow reader, as ZeroMQ does.
    public static let network = Faults([
        .burst, .push, .subscription, .dealer, .deadSubscription, .deadPush, .lostCollector, .partition, .replay,
    ])

    /// Workers, clients and the reducer are killed, frozen, stopped and started again, at any moment. Clocks are set.
    public static let processes = Faults([
        .freeze, .kill, .stop, .reducerFreeze, .crash, .crashInReduction, .restart, .clockSet,
    ])

    /// The journal's disk is slow, full, fails, or loses power. A snapshot is damaged. Another reducer opens the journal.
    public static let disk = Faults([
        .powerLoss, .slowDisk, .failingDisk, .fullDisk, .damagedSnapshot, .secondReducer,
    ])

    /// The faults of the network, of processes and of disks.
    public static let all = network + processes + disk

    /// The faults of the simulator's own loop. They include events that no build can reduce, and operators.
    package static let own = Faults(
        SimulationPlan.Fault.allCases.filter {
            !SimulationPlan.Fault.impostors.contains($0) && !SimulationPlan.Fault.ofDatabases.contains($0)
        })

    /// The kinds of both.
    public static func + (a: Faults, b: Faults) -> Faults {
        Faults(a.kinds + b.kinds.filter { !a.kinds.contains($0) })
    }
}
