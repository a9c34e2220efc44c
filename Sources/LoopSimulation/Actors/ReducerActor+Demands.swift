import LoopCluster
import LoopCore
import LoopWire

/// Checks of the reducer outside of the checkers: its queues, suspects, leases and idle sessions.
extension ReducerActor {
    // MARK: Queues have limits

    func measureQueues() throws(Violation) {
        guard let reducer = process.machine else { return }
        let capacity = loop.hasLocalEffects ? max(plan.capacity, loop.limits.localCapacity) : plan.capacity
        let outbox = plan.outboxEntriesMax + (loop.hasLocalEffects ? 4 : 2) * capacity
        for queue in reducer.queues {
            let most =
                switch queue.kind {
                case .commands: 4 * capacity + plan.commandsBase
                // The outbox of a sender has the entries whose outcome it does not know.
                case .outcomes: outbox
                case .deferredBatches: plan.deferredBatchesMax
                case .transfers: plan.transfersMax
                // The reducer's own peer has a session in addition to the limited ones.
                case .sessions: reducer.configuration.sessionsMax + (loop.hasLocalEffects ? 1 : 0)
                }
            try observe(.queued(queue, max: most))
        }
    }

    // MARK: Suspects

    /// Checks that no entry that was consumed is a suspect.
    func demandSurvivorsStruck() throws(Violation) {
        guard plan.keeping != .memory else { return }
        for suspect in process.trap.note.suspects where suspect.effect == nil && suspect.session != .none {
            guard let watermark = process.machine?.journaled.sessions[suspect.session]?.watermark,
                suspect.number <= watermark
            else { continue }
            throw Violation(
                .poisonIsSetAside,
                "entry \(suspect.number) of session \(suspect.session) is consumed, and is a suspect still")
        }
    }

    // MARK: Leases

    /// The machine was given the time. A worker whose lease is over has no effects that another worker could run.
    func watchLeases() throws(Violation) {
        let limit = UInt64(plan.silenceLimit.wholeNanoseconds)
        world.leases.advance(to: now, silenceLimit: limit)
        for peer in world.roster.present
        where peer.role == .worker && peer.lease.mustBeChecked(at: now, silenceLimit: limit, world.leases) {
            try checkTaken(from: peer)
        }
    }

    private func checkTaken(from peer: Peer) throws(Violation) {
        guard let members = process.machine?.status().peers else { return }
        let count = members.reduce(0) { $1.peer == "\(peer.id)" ? $0 + $1.leases : $0 }
        peer.lease.note(isTaken: count == 0, at: now)
        if count == 0 { return }
        let other = world.roster.present.first { other in
            other !== peer && other.role == .worker && other.isAlive && other.machine.isJoined
                && other.machine.epoch == world.leases.epoch && other.machine.history == world.storage.history
                && members.contains {
                    $0.session == other.machine.session.value && $0.capacity > 0 && $0.leaseMilliseconds > 0
                }
        }
        guard let other else { return }
        throw Violation(
            .progress,
            "what last reached peer \(peer.index) was sent \(Transcript.seconds(now - peer.lease.reachedAt)) s ago, and it has"
                + " \(count) effects that peer \(other.index) could run")
    }

    // MARK: Idle sessions

    /// A peer waits because the sessions are at their limit. Then none of them may be idle. An idle session is of a process that
    /// ended long ago, has no effect, and has sent no event whose outcome it still needs.
    func demandNoSpace(for peer: Peer) throws(Violation) {
        guard let reducer = process.machine, reducer.journaled.sessions.count >= plan.sessionsMax else { return }
        world.checkers.count(.progress)
        let patience = UInt64((plan.silenceLimit * 3 + .seconds(4)).wholeNanoseconds)
        guard now > process.beganAt + patience else { return }
        let living = Set(world.roster.living.map(\.id))
        var held: [UInt64: Int] = [:]
        for peer in reducer.status().peers { held[peer.session] = peer.leases }
        for (session, record) in reducer.journaled.sessions {
            guard record.watermark == 0 || record.isOnlyOfEffects, held[session.value, default: 0] == 0,
                !living.contains(record.peer),
                let time = world.roster.goneAt[record.peer]
            else { continue }
            // The reducer does not count the times in which it was frozen.
            if now <= time + patience + world.leases.stoodStill(since: time) { continue }
            throw Violation(
                .progress,
                "peer \(peer.index) is kept waiting, and session \(session) of a process that is gone is idle")
        }
    }
}
