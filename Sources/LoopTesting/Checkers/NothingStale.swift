import LoopCluster
import LoopCore
import LoopWire

/// G5: no entry of an effect is applied after the transition that cancels it, nor after it has completed or failed for
/// good. Which effects are wanted is worked out here from the journal's events alone.
struct NothingStale: Checker {
    static let promise = Promise.nothingStale
    private(set) var checkCount = 0
    private var slots = Array(repeating: Slot(), count: SlotLoop.slotCount)
    /// Effects that had ended while they were wanted.
    private var over: Set<EffectID> = []

    private struct Slot {
        var isWanted = false
        var version: UInt64 = 0
        var live: EffectID?
    }

    mutating func observe(_ observation: Observation, _ book: EntryBook) throws(Violation) {
        switch observation {
        case .began:
            slots = Array(repeating: Slot(), count: SlotLoop.slotCount)
            over = []
        case .journaled(let journaled): try journal(journaled)
        case .left(.inbox(_, let frame)):
            if case .commands(_, let commands) = frame.message { try demandWanted(commands) }
        default: break
        }
    }

    private mutating func journal(_ journaled: JournaledRecord) throws(Violation) {
        switch journaled.record {
        case .event(let record):
            if let effect = record.effect { try demand(effect, record.session, record.number) }
            if let event = journaled.event { apply(event, at: record.seq) }
        case .completed(let session, let number, let effect, _):
            try demand(effect, session, number)
            over.insert(effect)
        case .attemptEnded(let end):
            if let entry = end.entry { try demand(end.effect, entry.session, entry.number) }
            if end.next == .parked { over.insert(end.effect) }
        case .operatorAction(let action):
            if case .retryParked(let effect) = action.what { over.remove(effect) }
        default: break
        }
    }

    private mutating func demand(_ effect: EffectID, _ session: SessionID, _ number: UInt64) throws(Violation) {
        checkCount += 1
        if !slots.contains(where: { $0.live == effect }) {
            throw Violation(
                .nothingStale, "entry \(number) of session \(session) counts for \(effect), which is not wanted")
        }
        // What an operator has applied after all may come after its effect's end, but not after its cancellation.
        if over.contains(effect), session != .none {
            throw Violation(
                .nothingStale, "entry \(number) of session \(session) counts for \(effect), which had ended")
        }
    }

    /// An effect that was once over never starts again.
    private mutating func demandWanted(_ commands: [Command]) throws(Violation) {
        for case .start(let grant) in commands {
            checkCount += 1
            if over.contains(grant.effect) {
                throw Violation(.nothingStale, "\(grant.effect) had ended, and is started as \(grant.attempt)")
            }
        }
    }

    private mutating func apply(_ event: SlotEvent, at seq: Seq) {
        let old = slots[event.slot]
        var slot = old
        switch event.kind {
        case .on:
            if !slot.isWanted { slot.version += 1 }
            slot.isWanted = true
        case .off, .finish: slot.isWanted = false
        case .bump: slot.version += 1
        case .step, .poison: break
        }
        let restarts = (event.slot == 2 || event.slot == 3) && slot.version != old.version
        if !slot.isWanted || restarts { slot.live = nil }
        if slot.isWanted && slot.live == nil {
            slot.live = EffectID(feedback: NothingStale.feedback(of: event.slot), seq: seq, index: 0)
        }
        slots[event.slot] = slot
    }

    private static func feedback(of slot: Int) -> UInt32 {
        switch slot {
        case 0, 1: 0
        case 2: 1
        case 3: 2
        default: 3
        }
    }
}
