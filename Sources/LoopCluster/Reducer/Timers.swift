import LoopCollections
import LoopCore
import LoopWire

/// The timers among the live effects: which are set, and which is due. (Protocol, section 6.)
///
///     started ──▶ set ── due, fired by a record ──▶ completed, until the state asks for another time
///                  └─── cancelled ──▶ gone
///
/// It follows from the live effects, and is made of them again at a recovery. A timer has no owner, and is never granted.
struct Timers: Sendable {
    /// By feedback number; empty where the definition has no timers, so that loops without them are asked nothing else.
    private var facts: [TimerFacts?] = []
    private(set) var queue = TimerQueue()
    /// The first timer that is due is a suspect, and waits for a turn of its own.
    private(set) var awaitsTurn = false
    /// Where a test breaks the rule: the time of a timer that was cancelled, for the one that is set next.
    private var cleared: WallTime?

    /// How many timers fire in one turn, at most: what has arrived meanwhile must not wait long.
    static var countMax: Int { 1024 }

    /// Sets the timers among all live effects.
    mutating func begin(_ journaled: JournaledCore) {
        self = Timers()
        guard journaled.loop.feedbacks.contains(where: { $0.timer != nil }) else { return }
        facts = (0..<UInt32(journaled.table.names.count)).map { journaled.table[$0]?.timer }
        for (place, id) in journaled.effects.places where isTimer(id) { set(id, at: place, journaled) }
    }

    /// Whether an effect is a timer.
    func isTimer(_ effect: EffectID) -> Bool {
        !facts.isEmpty && effect.feedback < facts.count && facts[Int(effect.feedback)] != nil
    }

    /// A transition has changed a timer.
    mutating func follow(_ change: LiveChange, _ journaled: JournaledCore, _ rules: BrokenRules) {
        awaitsTurn = false
        switch change.kind {
        case .started, .updated:
            guard let place = change.place, journaled.effects.has(change.effect, at: place) else { return }
            set(change.effect, at: place, journaled)
            if let cleared = cleared.take(), queue[change.effect] != nil { queue.set(change.effect, to: cleared) }
        case .cancelled:
            if rules.contains(.movedTimersForgetTheirTime) { cleared = queue[change.effect] }
            queue.clear(change.effect)
        }
    }

    /// One that is completed or cannot be asked for is not set.
    private mutating func set(_ id: EffectID, at place: Int, _ journaled: JournaledCore) {
        guard journaled.effects[at: place].isOpen,
            let time = facts[Int(id.feedback)]?.time(journaled.effects[at: place].request)
        else { return queue.clear(id) }
        queue.set(id, to: time)
    }

    /// The timer that is due first at a time, if one is.
    func firstDue(at wall: WallTime, _ rules: BrokenRules) -> EffectID? {
        guard let first = queue.first, first.time <= wall else { return nil }
        guard rules.contains(.timersFireInOrder) else { return first.id }
        var others = queue
        others.clear(first.id)
        guard let second = others.first, second.time <= wall else { return first.id }
        return second.id
    }

    /// The encoded event of a timer; nil: its definition cannot make one of what the state asked for.
    func event(of id: EffectID, _ journaled: JournaledCore) -> [UInt8]? {
        guard let place = journaled.effects.index(forKey: id) else { return nil }
        return facts[Int(id.feedback)]?.event(journaled.effects[at: place].request)
    }

    /// A timer has fired, or was set aside.
    mutating func remove(_ id: EffectID) {
        queue.clear(id)
        awaitsTurn = false
    }

    /// The first timer that is due waits for a turn of its own.
    mutating func awaitTurn() { awaitsTurn = true }

    /// When the next timer is due, by the reducer's steady clock. The civil clock may be set: every tick looks again.
    func deadline(_ clock: ReducerClock, after time: WallTime) -> MonotonicTime? {
        queue.first.flatMap { clock.steadyTime(of: $0.time, after: time) }
    }
}
