import LoopCore

/// What is to happen when, in virtual time; equal times in the order in which they were noted.
struct Agenda {
    enum Task {
        case reducerTurn
        case reducerSynced(life: Int)
        case reducerStart
        case peerTurn(Int)
        case effectStep(peer: Int, run: UInt64)
        case clientEvent(Int)
        case fault
    }

    private struct Appointment: Comparable, Sendable {
        let time: UInt64
        let order: UInt64
        let task: Task

        static func < (a: Appointment, b: Appointment) -> Bool {
            a.time != b.time ? a.time < b.time : a.order < b.order
        }

        static func == (a: Appointment, b: Appointment) -> Bool { a.order == b.order }
    }

    private var heap = BinaryHeap<Appointment>()
    private var order: UInt64 = 0

    mutating func note(_ task: Task, at time: UInt64) {
        order += 1
        heap.push(Appointment(time: time, order: order, task: task))
    }

    mutating func next() -> (time: UInt64, task: Task)? { heap.pop().map { ($0.time, $0.task) } }
}
