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

    private struct ScheduledWork {
        let time: UInt64
        let order: UInt32
        let task: Task

        @inline(__always)
        func isBefore(_ other: ScheduledWork) -> Bool {
            time != other.time ? time < other.time : order < other.order
        }
    }

    /// A heap with four children per node. It is flat, because most tasks are due soon.
    private var heap: [ScheduledWork] = []
    private var order: UInt32 = 0
    /// Virtual nanoseconds since the beginning.
    private(set) var now: UInt64 = 0
    /// The number of tasks that were taken since time last passed.
    private(set) var tasksAtOnce = 0

    mutating func note(_ task: Task, at time: UInt64) {
        order += 1
        let new = ScheduledWork(time: time, order: order, task: task)
        var place = heap.count
        heap.append(new)
        while place > 0 {
            let parent = (place - 1) / 4
            guard new.isBefore(heap[parent]) else { break }
            heap[place] = heap[parent]
            place = parent
        }
        heap[place] = new
    }

    /// Takes the next task, and advances the time to it.
    mutating func next() -> Task? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { sink(last) }
        tasksAtOnce = first.time > now ? 0 : tasksAtOnce + 1
        now = max(now, first.time)
        return first.task
    }

    /// Puts an appointment at the top of the heap, and moves it down to its position.
    private mutating func sink(_ appointment: ScheduledWork) {
        var place = 0
        while 4 * place + 1 < heap.count {
            var least = 4 * place + 1
            for child in least + 1..<max(least + 1, min(least + 4, heap.count)) where heap[child].isBefore(heap[least])
            {
                least = child
            }
            guard heap[least].isBefore(appointment) else { break }
            heap[place] = heap[least]
            place = least
        }
        heap[place] = appointment
    }
}
