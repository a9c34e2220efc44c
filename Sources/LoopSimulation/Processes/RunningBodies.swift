import LoopCore
import LoopWire

/// The bodies that run in one process, in the order in which they began. They are so few that a search is faster than hashing.
struct RunningBodies<Script> {
    /// The body of one attempt.
    struct Body {
        var grant: Grant
        /// The number of this body among all of the run.
        let run: UInt32
        var script: Script
        /// The position of its next entry.
        var next = 0
        var isWaitingForSpace = false
        /// Whether it does nothing more until it is cancelled.
        var isAtRest = false
        /// An event for which the outbox had no space.
        var held: [UInt8]?
        /// Whether it ends with the event that it keeps.
        var endsWithHeld = false

        var effect: EffectID { grant.effect }
        var attempt: Attempt { grant.attempt }
    }

    private(set) var all: [Body] = []

    /// The newest body is looked up most often.
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

    /// The newest body of an effect.
    func run(of effect: EffectID) -> UInt32? { all.last { $0.effect == effect }?.run }

    mutating func change(_ run: UInt32, _ change: (inout Body) -> Void) {
        if let index = index(of: run) { change(&all[index]) }
    }

    mutating func removeAll() { all.removeAll() }

    /// Lets the bodies continue that wait for space in the outbox.
    /// - Returns: their run numbers.
    mutating func takeWaiting() -> [UInt32] {
        var runs: [UInt32] = []
        for index in all.indices where all[index].isWaitingForSpace {
            all[index].isWaitingForSpace = false
            runs.append(all[index].run)
        }
        return runs
    }
}
