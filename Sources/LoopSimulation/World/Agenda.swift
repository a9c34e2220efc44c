import LoopCollections

/// The tasks of a run in the order of virtual time. Tasks of one time are in the order in which they were added.
struct Agenda {
    enum Task {
        case reducerTurn(candidate: UInt8)
        case reducerSynced(life: ProcessLife)
        case reducerStart(life: ProcessLife)
        /// The process runs, but its journal has failed.
        case reducerRetry(life: ProcessLife)
        case snapshotWritten(life: ProcessLife)
        case jobDone(candidate: UInt8)
        /// A process reads the database.
        case candidateLook(candidate: UInt8)
        /// A statement arrives at the database, or its answer at a process. The number is that of their connection.
        case statement(Int32)
        case answer(Int32)
        /// The database's standbys confirm changes again, or one of them replaces the database.
        case confirmation
        case failover
        case peerTurn(Int32)
        case effectStep(peer: Int32, run: UInt32)
        case clientEvent(Int32)
        case happening(Int32)
        case observerStart(Int32)
        case observerDamage(Int32)
        /// The loop is about to end.
        case endNears
        /// The loop has ended, and a fault hits its reducer.
        case endFault
        case fault
    }

    private struct Appointment: Comparable {
        let time: UInt64
        let order: UInt32
        let task: Task

        static func < (a: Self, b: Self) -> Bool { (a.time, a.order) < (b.time, b.order) }
        static func == (a: Self, b: Self) -> Bool { a.order == b.order }
    }

    private var appointments = BinaryHeap<Appointment>()
    private var order: UInt32 = 0
    /// Virtual nanoseconds since the beginning.
    private(set) var now: UInt64 = 0
    /// The number of tasks that were taken since time last passed.
    private(set) var tasksAtOnce = 0

    mutating func note(_ task: Task, at time: UInt64) {
        order += 1
        appointments.push(Appointment(time: time, order: order, task: task))
    }

    /// Takes the next task, and advances the time to it.
    mutating func next() -> Task? {
        guard let first = appointments.pop() else { return nil }
        tasksAtOnce = first.time > now ? 0 : tasksAtOnce + 1
        now = max(now, first.time)
        return first.task
    }
}
