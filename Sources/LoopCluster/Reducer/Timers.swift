import LoopCollections
import LoopCore

/// The timers among the live effects: which are set, and which is due. (Protocol, section 6.)
///
///     started ──▶ set ── due, fired by a record ──▶ completed, until the state asks for another time
///                  └─── cancelled ──▶ gone
///
/// They are derived from the live effects, and again after a recovery. A timer has no owner, and is never granted.
struct Timers: Sendable {
    /// The facts of timers by feedback number. It is empty for a loop without timers, which then costs no more than this check.
    private var facts: [TimerFacts?] = []
    private(set) var queue = TimerQueue()
    /// Whether the first timer that is due is a suspect, and waits for its own turn.
    private(set) var awaitsTurn = false
    /// If a test breaks the rule: the time of a cancelled timer, for the one that is set next.
    private var cleared: WallTime?

    /// The largest number of timers that fire in one turn, so that what arrives meanwhile does not wait long.
    static var countMax: Int { 1024 }

    /// Sets the timers among all live effects.
    mutating func begin(_ journaled: JournaledState) {
        self = Timers()
        guard journaled.loop.feedbacks.contains(where: { $0.timer != nil }) else { return }
        facts = (0..<UInt32(journaled.table.names.count)).map { journaled.table[$0]?.timer }
        for (place, id) in journaled.effects.places where isTimer(id) { set(id, at: place, journaled) }
    }

    /// Whether an effect is a timer.
    func isTimer(_ effect: EffectID) -> Bool {
        !facts.isEmpty && effect.feedback < facts.count && facts[Int(effect.feedback)] != nil
    }

    /// Takes note that a transition has changed a timer.
    mutating func follow(_ change: LiveChange, _ journaled: JournaledState, _ rules: BrokenRules) {
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

    /// Sets a timer. One that is completed, or whose time cannot be read, is not set.
    private mutating func set(_ id: EffectID, at place: Int, _ journaled: JournaledState) {
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

    /// The encoded event of a timer, or nil if the definition cannot make one from the request.
    func event(of id: EffectID, _ journaled: JournaledState) -> [UInt8]? {
        guard let place = journaled.effects.index(forKey: id) else { return nil }
        return facts[Int(id.feedback)]?.event(journaled.effects[at: place].request)
    }

    /// Removes a timer that has fired, or was set aside.
    mutating func remove(_ id: EffectID) {
        queue.clear(id)
        awaitsTurn = false
    }

    /// Lets the first timer that is due wait for its own turn.
    mutating func awaitTurn() { awaitsTurn = true }

    /// When the next timer is due, by the reducer's steady clock. If the civil clock is set, the next tick corrects it.
    func deadline(_ clock: ReducerClock, after time: WallTime) -> MonotonicTime? {
        queue.first.flatMap { clock.steadyTime(of: $0.time, after: time) }
    }
}
