import LoopCluster
import LoopCore
import LoopWire

/// The reducer's process: its machine, its journal, the turns under way and the work of other threads. One value represents all
/// successive processes.
struct ReducerProcess<Definition: LoopDefinition>: ~Copyable {
    /// The machine, or nil in a turn and while the process has none.
    var machine: ReducerMachine?
    var journal: SimulatedJournal?
    /// Whether the process has a machine, in a turn or not. A comparison of the machine with nil would copy it.
    private(set) var isUp = false
    /// Makes the process end in the middle of a reduction.
    let trap: TrapSwitch<Definition.Event>
    /// Counts the processes, and the machines of one process. Tasks of an earlier one are void.
    private(set) var life: ProcessLife
    var clock = ReducerClock()
    private(set) var beganAt: UInt64 = 0
    /// When the newest turn began.
    private(set) var turnMoment = TurnMoment()
    /// The turns whose records are on their way to the disk.
    var turns = TurnsUnderWay()
    /// The time of the machine's next turn, if nothing arrives before.
    var deadline = MonotonicTime.zero
    /// How many turns with records were released.
    var releaseCount = 0
    var wakesAt = UInt64.max
    var frozenUntil: UInt64 = 0
    /// The time at which the process ends once more.
    var endsAgainAt = UInt64.max
    var backgroundJobs = BackgroundJobs()
    var snapshots = SnapshotSchedule()
    /// The operators' requests for the next turn.
    var operatorRequests: [AdministrationRequest] = []

    /// - Parameter candidate: its position among the reducer's processes.
    init(trap: TrapSwitch<Definition.Event>, candidate: Int = 0) {
        self.trap = trap
        life = ProcessLife(candidate: UInt8(candidate))
    }

    /// Whether a turn's records are on their way to the disk.
    var isSyncing: Bool { !turns.isEmpty }

    /// Makes all tasks of the present machine void.
    mutating func endLife() { life.number += 1 }

    /// A machine has recovered from the journal.
    mutating func begin(_ new: ReducerMachine, at now: UInt64, snapshotAt position: UInt64) {
        machine = new
        isUp = true
        beganAt = now
        snapshots.newestAt = position
    }

    /// The process has died, or discards what it had.
    mutating func end() {
        machine = nil
        isUp = false
        turns = TurnsUnderWay()
        snapshots.writing = nil
        journal = nil
        wakesAt = .max
    }

    /// Takes the machine out for a turn, so that nothing can read it meanwhile.
    mutating func beginTurn(at now: UInt64) -> ReducerMachine? {
        turnMoment = TurnMoment(at: now, wall: clock.moment(at: now).wall)
        return machine.take()
    }
}

/// Identifies one machine of one of the reducer's processes.
struct ProcessLife: Equatable, Sendable {
    let candidate: UInt8
    var number: UInt32 = 0
}

/// The time at which a turn began. The wall clock may be set while the turn's records are written.
struct TurnMoment {
    var at: UInt64 = 0
    var wall = WallTime(milliseconds: 0)
}

/// The clocks of the reducer's machine.
struct ReducerClock {
    /// The steady clock minus virtual time.
    var offset: UInt64 = 0
    /// The wall clock minus virtual time, in milliseconds.
    var wallOffset: Int64 = 0

    func moment(at now: UInt64) -> Moment {
        Moment(
            monotonic: MonotonicTime(nanoseconds: now + offset),
            wall: WallTime(milliseconds: 1_700_000_000_000 + wallOffset + Int64(now / 1_000_000)))
    }

    /// A time of the steady clock as virtual time. A time before the beginning becomes the beginning.
    func virtual(_ time: MonotonicTime) -> UInt64 {
        time.nanoseconds == .max ? .max : max(time.nanoseconds, offset) - offset
    }
}

/// The work of other threads for the reducer, with the time at which each job is done. A result may reach the machine of a later
/// process, which recognises it as foreign.
struct BackgroundJobs {
    private var results: [(doneAt: UInt64, result: BackgroundJob.Result)] = []

    mutating func begin(_ job: BackgroundJob, doneAt time: UInt64) { results.append((time, job.run())) }

    /// Takes the next result that is ready.
    mutating func takeNext(at now: UInt64) -> BackgroundJob.Result? {
        guard let first = results.first, first.doneAt <= now else { return nil }
        return results.removeFirst().result
    }
}

/// The times at which snapshots are taken.
struct SnapshotSchedule {
    /// The position at which the newest snapshot was begun.
    var newestAt: UInt64 = 0
    /// The snapshot that is being written.
    var writing: SimulatedDisk.Snapshot?

    func isDue(at position: UInt64, interval: UInt64) -> Bool { writing == nil && position >= newestAt + interval }
}
