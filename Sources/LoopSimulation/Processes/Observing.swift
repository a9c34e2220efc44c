import LoopCluster
import LoopCore
import LoopWire

/// The parts of an observer in addition to a peer's machine, on the same sockets. (As in nodes.)
struct Observing {
    var machine: ObserverMachine
    let watched: SimulationPlan.Watched
    /// Makes states from the machine's actions, or nil if it follows none.
    var follower: (any SimulatedFollower)?
    /// The newest seq that it has shown in its present history.
    private var shown: (history: History, seq: Seq)?
    /// Whether its knowledge was damaged, and it has not noticed yet.
    private var isDamaged = false

    init(machine: ObserverMachine, watched: SimulationPlan.Watched, follower: (any SimulatedFollower)?) {
        self.machine = machine
        self.watched = watched
        self.follower = follower
    }

    /// - Returns: whether it follows another history from now on, or an older epoch of this one.
    mutating func receive(_ frame: PeerFrame, isReply: Bool, at time: MonotonicTime) -> Bool {
        let (history, epoch) = (machine.history, machine.epoch)
        if isReply {
            machine.receiveReply(frame, at: time)
        } else {
            machine.receivePublished(frame, at: time)
        }
        guard machine.history != history || machine.epoch.number < epoch.number else { return false }
        shown = nil
        return true
    }

    /// - Returns: whether this was the last state that it has shown.
    mutating func show(_ seq: Seq, of history: History) -> Bool {
        defer { shown = (history, seq) }
        return shown.map { $0 == (history, seq) } ?? false
    }

    /// Changes the state in its memory.
    /// - Returns: whether the state was changed.
    mutating func damage() -> Bool {
        guard follower?.damage() == true else { return false }
        isDamaged = true
        return true
    }

    /// It has noticed that something does not fit, and fetches the state again.
    /// - Returns: whether there was anything to notice.
    mutating func resync(shown: Seq?) -> Bool {
        guard isDamaged else { return false }
        isDamaged = false
        machine.resync(shown: shown)
        return true
    }
}

/// Makes states from the actions of an observer's machine, as encoded values for the checkers.
protocol SimulatedFollower: Sendable {
    mutating func take(_ action: ObserverAction) -> [SimulatedStep]

    /// - Returns: whether it has another state now.
    mutating func damage() -> Bool
}

/// The result of an observer's action.
enum SimulatedStep {
    case shows(Seq, [UInt8])
    case diverged(StateDivergence, shown: Seq?)
}

struct TypedFollower<Value: Codable & Sendable>: SimulatedFollower {
    private var follower: StateFollower<Value>
    private let coder: any ValueCoder
    private let initial: Value

    /// - Parameter initial: the value of a damaged state.
    init(_ follower: StateFollower<Value>, _ coder: any ValueCoder, _ initial: Value, _ rules: BrokenRules) {
        self.follower = follower
        self.follower.brokenRules = rules
        self.coder = coder
        self.initial = initial
    }

    mutating func take(_ action: ObserverAction) -> [SimulatedStep] {
        var steps: [SimulatedStep] = []
        var divergence: StateDivergence?
        follower.take(action) { [coder] step in
            switch step {
            case .shows(let id, let value): steps.append(.shows(id.seq, (try? coder.encode(value)) ?? []))
            case .renames: break
            case .diverged(let new): divergence = new
            }
        }
        if let divergence { steps.append(.diverged(divergence, shown: follower.shown)) }
        return steps
    }

    mutating func damage() -> Bool {
        guard let current = follower.current, (try? coder.encode(current.value)) != (try? coder.encode(initial)) else {
            return false
        }
        follower.damage(initial)
        return true
    }
}
