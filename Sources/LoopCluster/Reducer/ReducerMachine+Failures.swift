import LoopCore
import LoopWire

/// Failures of attempts. The feedback's `failing` closure makes an event from the last failure of an effect. Without an event,
/// the effect is parked. (Protocol, section 4.)
extension ReducerMachine {
    /// Ends the current attempt of an effect as a failure.
    /// - Parameter place: the place of the effect among the live ones.
    /// - Returns: false if nothing has changed, because the failure waits for its own turn.
    mutating func fail(_ effect: EffectID, at place: Int, _ outcome: AttemptOutcome) -> Bool {
        let failing = outcome.retryIn == nil ? journaled.feedback(of: effect)?.failing : nil
        // The effect identifies the failure, because the message may differ if the effect fails again after a crash.
        let words = Entry(kind: .failed, effect: effect, payload: Array("the effect's last failure".utf8)[...])
        var parked = outcome
        switch examine(words, outcome.entry ?? .ofTimers, isApplied: failing != nil) {
        case .wait: return false
        case .consume, .consumeAlone, .refuse: break
        case .setAside(let suspect):
            parked.message += "; its failing event ended the reducer \(suspect.crashes) times, in \(suspect.phase)"
        }
        count(outcome.cause == .timedOut ? .effectTimedOut : .effectFailed)
        if let failing, parked.message == outcome.message {
            journaled.note?.enter(
                outcome.entry?.session ?? .none, (outcome.entry ?? .ofTimers).number, effect, words.payload)
            journaled.note?.step(.failing)
            defer { journaled.note?.leave() }
            do throws(NoFailingEvent) {
                if try apply(failing, to: effect, at: place, outcome) { return true }
            } catch {
                parked.message += "; \(error.reason)"
            }
        }
        end(effect, parked)
        return true
    }

    /// Applies the event that a feedback makes from a failure, by one record that completes the effect.
    /// - Returns: false if the feedback makes no event from this failure.
    private mutating func apply(
        _ failing: FailingFacts, to effect: EffectID, at place: Int, _ outcome: AttemptOutcome
    ) throws(NoFailingEvent) -> Bool {
        guard let owner = dispatch.owner(at: place),
            let bytes = try failing.event(journaled.effects[at: place].request, outcome.failure)
        else { return false }
        let bytesMax = context.configuration.eventBytesMax
        if bytes.count > bytesMax {
            throw NoFailingEvent(
                reason: "its failing event has \(bytes.count) bytes, and \(bytesMax) is the limit")
        }
        let origin = outcome.entry ?? .ofTimers
        let record = EventRecord(
            seq: journaled.seq.next, time: context.eventTime(after: journaled.time), session: origin.session,
            number: origin.number, effect: effect,
            attempt: owner.attempt, wantsSeq: false, isLast: true, trace: journaled.trace(ofEffect: effect),
            bytes: bytes[...])
        guard apply(record) else {
            throw NoFailingEvent(reason: "its failing event cannot be decoded")
        }
        noteCompletion(of: effect, at: place, by: origin.session)
        if !breaks(.endsTakeEffectAtOnce) { noticeOutcome() }
        return true
    }

    /// Ends attempts that have taken too long, as failures.
    mutating func endTimedOutAttempts() {
        while !poison.isAlone, let late = dispatch.nextTimedOut(journaled.effects, at: context.now.monotonic) {
            guard let owner = dispatch.owner(at: late.place) else { continue }
            let failures = journaled.effects[at: late.place].failures
            let outcome = dispatch.outcomeOfTimeout(failures: failures, policy(of: late.effect))
            guard fail(late.effect, at: late.place, outcome) else { return dispatch.awaitTurn(late) }
            if !breaks(.timedOutWorkersAreTold), !phase.hasEnded {
                admission.members.command(.cancel(late.effect, late.attempt), to: owner.session)
            }
        }
    }
}

/// Why a feedback with a `failing` closure could not make an event, in words.
struct NoFailingEvent: Error {
    let reason: String
}
