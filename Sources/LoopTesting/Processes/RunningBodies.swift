import LoopCore
import LoopWire

/// The bodies that run in one process, in the order in which they began: few, so that looking through them is faster than
/// hashing.
struct RunningBodies<Script> {
    /// The body of one attempt.
    struct Body {
        var grant: Grant
        /// Names this body among all that ever ran.
        let run: UInt32
        var script: Script
        /// The position of its next entry.
        var next = 0
        var isWaitingForSpace = false
        /// It does nothing more until it is cancelled.
        var isAtRest = false
        /// An event that the outbox had no room for.
        var held: [UInt8]?
        /// It ends with what it holds.
        var endsWithHeld = false

        var effect: EffectID { grant.effect }
        var attempt: Attempt { grant.attempt }
    }

    private(set) var all: [Body] = []

    /// The body that began last is asked for most often.
    private func index(of run: UInt32) -> Int? { all.lastIndex { $0.run == run } }

    subscript(run: UInt32) -> Body? {
        get { index(of: run).map { all[$0] } }
        set {
            switch (index(of: run), newValue) {
            case (let index?, let body?): all[index] = body
            case (let index?, nil): all.remove(at: index)
            case (nil, let body?): all.append(body)
            case (nil, nil): break
            }
        }
    }

    func contains(_ run: UInt32) -> Bool { index(of: run) != nil }

    /// The body of an effect that began last.
    func run(of effect: EffectID) -> UInt32? { all.last { $0.effect == effect }?.run }

    mutating func change(_ run: UInt32, _ change: (inout Body) -> Void) {
        if let index = index(of: run) { change(&all[index]) }
    }

    mutating func removeAll() { all.removeAll() }

    /// Those that wait for room in the outbox go on.
    /// - Returns: which they are.
    mutating func takeWaiting() -> [UInt32] {
        var runs: [UInt32] = []
        for index in all.indices where all[index].isWaitingForSpace {
            all[index].isWaitingForSpace = false
            runs.append(all[index].run)
        }
        return runs
    }
}
