import LoopCluster
import LoopCore
import LoopWire

/// The reducer's process: its machine, its hold on the journal, the turns under way and what other threads do for it. The same
/// value stands for each process that follows another.
struct ReducerProcess<Definition: LoopDefinition>: ~Copyable {
    /// Nil in a turn, and while the process has no machine.
    var machine: ReducerMachine<Definition>?
    var journal: SimulatedJournal?
    /// Whether the process has a machine, in a turn or not. To compare the machine with nil would copy it.
    private(set) var isUp = false
    /// Where the process ends in the middle of a reduction.
    let trap: TrapSwitch<Definition.Event>
    /// Counts the processes, and the machines of one process: what was noted for an earlier one is void.
    private(set) var life: ProcessLife
    var clock = ReducerClock()
    private(set) var beganAt: UInt64 = 0
    /// When the newest turn began.
    private(set) var turnMoment = TurnMoment()
    /// The turns whose records are on their way to the disk.
    var turns = TurnsUnderWay()
    /// When the machine wants its next turn, if nothing arrives before.
    var deadline = MonotonicTime.zero
    /// How many turns with records were released.
    var releaseCount = 0
    var wakesAt = UInt64.max
    var frozenUntil: UInt64 = 0
    /// The process ends once more at this time.
    var endsAgainAt = UInt64.max
    var backgroundJobs = BackgroundJobs()
    var snapshots = SnapshotSchedule()
    /// When the journal was last flushed, where it does not sync by itself.
    var flushedAt: UInt64 = 0
    /// What operators ask for in the next turn.
    var operatorRequests: [AdministrationRequest] = []

    /// - Parameter candidate: the position among the reducer's processes.
    init(trap: TrapSwitch<Definition.Event>, candidate: Int = 0) {
        self.trap = trap
        life = ProcessLife(candidate: UInt8(candidate))
    }

    /// Whether a turn's records are on their way to the disk.
    var isSyncing: Bool { !turns.isEmpty }

    /// Whatever was noted for the present machine is void.
    mutating func endLife() { life.number += 1 }

    /// A machine has recovered from the journal.
    mutating func begin(_ new: ReducerMachine<Definition>, at now: UInt64, snapshotAt position: UInt64) {
        machine = new
        isUp = true
        beganAt = now
        flushedAt = now
        snapshots.newestAt = position
    }

    /// The process has died, or throws away what it had.
    mutating func end() {
        machine = nil
        isUp = false
        turns = TurnsUnderWay()
        snapshots.writing = nil
        journal = nil
        wakesAt = .max
    }

    /// Takes the machine out for a turn, so that nothing can look at it meanwhile.
    mutating func beginTurn(at now: UInt64) -> ReducerMachine<Definition>? {
        turnMoment = TurnMoment(at: now, wall: clock.moment(at: now).wall)
        return machine.take()
    }
}

/// Which machine of which of the reducer's processes.
struct ProcessLife: Equatable, Sendable {
    let candidate: UInt8
    var number: UInt32 = 0
}

/// When a turn began. The wall clock may be set while the turn's records are written.
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

    /// A time of the steady clock as virtual time; one before the beginning is the beginning.
    func virtual(_ time: MonotonicTime) -> UInt64 {
        time.nanoseconds == .max ? .max : max(time.nanoseconds, offset) - offset
    }
}

/// What other threads do for the reducer, each with the time at which it is done. It may be handed to the machine of a later
/// process, which tells it apart.
struct BackgroundJobs {
    private var results: [(doneAt: UInt64, result: BackgroundJob.Result)] = []

    mutating func begin(_ job: BackgroundJob, doneAt time: UInt64) { results.append((time, job.run())) }

    /// The next result that is there.
    mutating func takeNext(at now: UInt64) -> BackgroundJob.Result? {
        guard let first = results.first, first.doneAt <= now else { return nil }
        return results.removeFirst().result
    }
}

/// When snapshots are taken.
struct SnapshotSchedule {
    /// The position at which the newest snapshot was begun.
    var newestAt: UInt64 = 0
    /// The snapshot that is being written.
    var writing: SimulatedDisk.Snapshot?

    func isDue(at position: UInt64, interval: UInt64) -> Bool { writing == nil && position >= newestAt + interval }
}
