import LoopCore
import LoopWire

/// Timers, whose due times become events. (Protocol, section 6.)
extension ReducerMachine {
    /// A turn fires timers until its records have this many bytes.
    private static var timerBytesMax: Int { 8 << 20 }

    /// Fires the timers that are due, in the order of their times. What has arrived in this turn comes first, because it may
    /// still cancel one.
    mutating func fireTimers() {
        var count = 0
        while mayFireTimers, count < Timers.countMax, turn.records.bytes.count < Self.timerBytesMax,
            let timer = timers.firstDue(at: timerTime, context.brokenRules)
        {
            guard fire(timer) else { return }
            if !breaks(.endsTakeEffectAtOnce) { noticeOutcome() }
            count += 1
        }
    }

    /// Timers do not fire after the end, nor while records are missing. A suspect is reduced alone in its turn.
    private var mayFireTimers: Bool {
        (phase.grants || breaks(.timersEndWithTheLoop) && !phase.isLost) && !poison.isAlone
    }

    /// The time for timers. If the clock was set back, it is the time of the newest record.
    private var timerTime: WallTime { breaks(.timersAreNotEarly) ? recordTime + .seconds(1) : recordTime }

    /// Fires a timer, by one record that applies its event and completes it.
    /// - Returns: whether it was handled. If not, nothing has changed, and it waits for its own turn.
    private mutating func fire(_ timer: EffectID) -> Bool {
        guard let bytes = timers.event(of: timer, journaled) else {
            park(timer, "its request cannot be read")
            return true
        }
        guard bytes.count <= context.configuration.eventBytesMax else {
            park(
                timer, "its event has \(bytes.count) bytes, and \(context.configuration.eventBytesMax) is the limit")
            return true
        }
        let entry = Entry(kind: .event, effect: timer, payload: bytes[...], isLast: true)
        switch examine(entry, .ofTimers, isApplied: true) {
        case .consume, .consumeAlone: break
        case .wait:
            timers.awaitTurn()
            return false
        case .setAside(let suspect):
            let place = journaled.effects.index(forKey: timer)
            timers.remove(timer)
            setAside(entry, .ofTimers, at: place, suspect)
            return true
        case .refuse:
            park(timer, "its event is in quarantine already")
            return true
        }
        journaled.note?.enter(.none, EntryNumber.ofTimers.number, timer, bytes[...])
        defer { journaled.note?.leave() }
        timers.remove(timer)
        if !apply(
            EventRecord(
                timer: timer, seq: journaled.seq.next, time: context.eventTime(after: journaled.time), bytes: bytes[...]
            ))
        {
            park(timer, "its event cannot be decoded")
        }
        return true
    }

    /// Parks a timer whose event cannot be applied, so that it stays visible.
    private mutating func park(_ timer: EffectID, _ message: String) {
        timers.remove(timer)
        count(.effectParked)
        write(
            .attemptEnded(
                AttemptEnd(effect: timer, upTo: .none, cause: .failed, next: .parked, message: message)))
    }
}

extension EntryNumber {
    /// The name of a timer's event if an entry has to be named. It has no session and no number, unlike a quarantined event
    /// that is tried again.
    static let ofTimers = EntryNumber(session: .none, number: 0)
}
