import LoopCluster
import LoopCore
import LoopWire

/// What is watched from outside of the machine: what it reads, what it keeps, and when it tries again.
extension ClusterEngine {
    // MARK: Everything that is read is consumed, or waits

    /// Whatever waited behind the last turn waits still, or is consumed.
    func beginReadAccount(_ reducer: ReducerMachine<Ran>) {
        readAccount = [:]
        for session in reducer.waitingSessions { readAccount[session] = reducer.read(of: session) }
    }

    /// A batch is handed to the reducer. One after a gap is dropped, and comes again.
    /// - Parameter known: up to where the reducer has read the session.
    func noteRead(_ batch: Batch, after known: UInt64?) {
        guard batch.history == history, let read = readAccount[batch.session] ?? known,
            batch.first <= read + 1
        else { return }
        readAccount[batch.session] = max(read, batch.first + UInt64(batch.entries.count) - 1)
    }

    /// What was lost on its way is asked for again, so that nobody would notice an entry that the reducer drops by itself.
    func demandEverythingRead() throws(Violation) {
        guard let reducer, !readAccount.isEmpty else { return }
        // Without room for all of it, it is as if it had been lost.
        if reducer.counters[.deferredDropped] ?? 0 > 0 { return }
        for (session, expected) in readAccount {
            checkers.count(.nothingLost)
            guard let read = reducer.read(of: session), read < expected else { continue }
            throw Violation(
                .nothingLost,
                "entry \(read + 1) of session \(session) was read, and is neither consumed nor does it wait")
        }
    }

    // MARK: Queues have limits

    func measureQueues() throws(Violation) {
        guard let reducer else { return }
        let capacity = hasLocalEffects ? max(plan.capacity, limits.localCapacity) : plan.capacity
        let outbox = plan.outboxEntriesMax + (hasLocalEffects ? 4 : 2) * capacity
        for queue in reducer.queues {
            let most =
                switch queue.kind {
                case .commands: 4 * capacity + plan.commandsBase
                // What a sender does not know is in its outbox.
                case .outcomes: outbox
                case .deferredBatches: plan.deferredBatchesMax
                case .transfers: plan.transfersMax
                // The reducer's own peer has one beside those that are limited.
                case .sessions: reducer.configuration.sessionsMax + (hasLocalEffects ? 1 : 0)
                }
            try observe(.queued(queue, max: most))
        }
    }

    // MARK: Suspects

    /// Whoever has survived is no suspect.
    func demandSurvivorsStruck() throws(Violation) {
        guard plan.keeping != .memory else { return }
        for suspect in trap.note.suspects where suspect.effect == nil && suspect.session != .none {
            guard let watermark = reducer?.core.sessions[suspect.session]?.watermark, suspect.number <= watermark
            else { continue }
            throw Violation(
                .poisonIsSetAside,
                "entry \(suspect.number) of session \(suspect.session) is consumed, and is a suspect still")
        }
    }

    // MARK: Tries

    /// The record of a failure says when the next try is; the wall clock may be set meanwhile, the wait stays as long.
    func noteRetry(_ record: Record) {
        switch record {
        case .event(let event): journaledTime = max(journaledTime, event.time)
        case .epochBegun(_, let time), .historyBegun(_, let time): journaledTime = max(journaledTime, time)
        case .operatorAction(let action):
            if case .retryParked(let effect) = action.what { retriesDue[effect] = nil }
        case .attemptEnded(let end):
            retriesDue[end.effect] = nil
            guard case .retry(let time) = end.next, end.cause == .failed || end.cause == .timedOut else { return }
            let delay = time.milliseconds - max(turnWall, journaledTime).milliseconds
            if delay > 0 { retriesDue[end.effect] = turnAt + UInt64(delay) * 1_000_000 }
        default: break
        }
    }

    func demandRetriesWait(_ message: Outbound) throws(Violation) {
        guard !retriesDue.isEmpty, case .inbox(_, let frame) = message, case .commands(_, let commands) = frame.message
        else { return }
        for case .start(let grant) in commands {
            guard let due = retriesDue.removeValue(forKey: grant.effect) else { continue }
            checkers.count(.bounded)
            if turnAt + 3_000_000 < due {
                throw Violation(
                    .bounded,
                    "\(grant.effect) is tried again \((due - turnAt) / 1_000_000) ms before its delay is over")
            }
        }
    }
}
