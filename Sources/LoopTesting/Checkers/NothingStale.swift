import LoopCluster
import LoopCore
import LoopWire

/// G5: no entry of an effect is applied after the transition that cancels it, nor after it has completed or failed for
/// good. Which effects are wanted is what the model says.
struct NothingStale: Counting {
    static let promise = Promise.nothingStale
    private(set) var checkCount = 0
    /// Effects that had ended while they were wanted.
    private var over: Set<EffectID> = []

    mutating func observe<Work>(_ observation: Observation, _ model: LoopModel<Work>) throws(Violation) {
        switch observation {
        case .began: over = []
        case .journaled(let journaled): try journal(journaled.record) { model.isLive($0) }
        case .left(.inbox(_, let frame)):
            if case .commands(_, let commands) = frame.message { try demandWanted(commands) }
        default: break
        }
    }

    private mutating func journal(_ record: Record, _ isLive: (EffectID) -> Bool) throws(Violation) {
        switch record {
        case .event(let record):
            guard let effect = record.effect else { return }
            try demand(effect, record.session, record.number, isLive(effect))
            if record.isLast { over.insert(effect) }
        case .refused(let record):
            if record.isLast, let effect = record.effect { over.insert(effect) }
        case .quarantined(let record):
            if record.isLast, let effect = record.effect { over.insert(effect) }
        case .completed(let session, let number, let effect, _):
            try demand(effect, session, number, isLive(effect))
            over.insert(effect)
        case .attemptEnded(let end):
            if let entry = end.entry { try demand(end.effect, entry.session, entry.number, isLive(end.effect)) }
            if end.next == .parked { over.insert(end.effect) }
        case .operatorAction(let action):
            if case .retryParked(let effect) = action.what { over.remove(effect) }
        default: break
        }
    }

    private mutating func demand(
        _ effect: EffectID, _ session: SessionID, _ number: UInt64, _ isLive: Bool
    ) throws(Violation) {
        checkCount += 1
        if !isLive {
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
    private mutating func demandWanted(_ commands: CommandRun) throws(Violation) {
        for case .start(let grant) in commands {
            checkCount += 1
            if over.contains(grant.effect) {
                throw Violation(.nothingStale, "\(grant.effect) had ended, and is started as \(grant.attempt)")
            }
        }
    }
}
