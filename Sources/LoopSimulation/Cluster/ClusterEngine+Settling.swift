import LoopCluster
import LoopCore
import LoopWire

/// Whether everything has settled.
extension ClusterEngine {
    /// What is not settled yet, or nil if everything is.
    func unsettled() -> String? {
        guard focusOnLeader() else { return "no reducer leads" }
        guard let reducer = process.machine, !process.isSyncing else { return "the reducer is busy" }
        if let index = standbyOfAStillServer() {
            return "candidate \(index) reads a server that does not move any more"
        }
        if plan.isUnguarded { return unsettledAmongStrangers(reducer) }
        if reducer.end != nil {
            let unaware = roster.unaware.map { "\($0.role) \($0.index)" } ?? "a late process"
            return "\(unaware) has not learned that the loop has ended"
        }
        for peer in roster.present where peer.isAlive {
            let name = "\(peer.role) \(peer.index)"
            if !peer.machine.isJoined {
                return "\(name) has not joined (\(peer.machine.isOver ? "over" : "on its way"))"
            }
            if peer.role != .local, !reducer.hears(peer.machine.session) {
                return "\(name) is not heard by the reducer"
            }
            if !peer.machine.outbox.isEmpty { return "\(name) has \(peer.machine.outbox.count) entries in its outbox" }
            if peer.role == .observer, let lack = checkers.lacks(observer: peer.index) {
                return "\(name) \(lack)"
            }
            if peer.role == .observer, peer.observing?.watched.section != nil,
                let standing = peer.observing?.machine.standing(isHeard: true), !standing.isCurrent
            {
                return "\(name), at \(standing.state.map { "\($0)" } ?? "no state"), does not know that it is current"
            }
            if peer.life.frozenUntil > now { return "\(name) stands still" }
            if !standsStill, peer.client.pause != nil { return "\(name) has more to send" }
        }
        if let session = keptInVain(reducer) { return "session \(session) of a process that is gone is kept" }
        return unsettledEffects(reducer)
    }

    /// A session that should have been retired by now, or nil.
    private func keptInVain(_ reducer: ReducerMachine) -> SessionID? {
        guard plan.sessionRetention < plan.settlePhase / 2 else { return nil }
        return reducer.journaled.sessions.keys.sorted().first { session in
            !roster.present.contains { $0.isAlive && $0.machine.session == session }
        }
    }

    private func unsettledEffects(_ reducer: ReducerMachine) -> String? {
        let bodies = roster.bodies
        for body in bodies {
            guard let effect = reducer.journaled.effects[body.effect] else {
                return "a body of \(body.effect) \(body.attempt) runs, which is not wanted"
            }
            if effect.status != .open { return "a body of \(body.effect) runs, which is \(effect.status)" }
            if bodies.contains(where: { $0.effect == body.effect && $0.run != body.run }) {
                return "\(body.effect) runs twice"
            }
        }
        let wall = max(reducerMoment.wall, reducer.journaled.time)
        if let due = reducer.journaled.schedules.first(where: { !$0.value.isPaused && $0.value.next <= wall }) {
            return "schedule \(due.key) is due and has not run"
        }
        for (id, effect) in reducer.journaled.effects where effect.status == .open {
            if let time = checkers.timer(id) {
                if time <= wall { return "timer \(id) is due and has not fired" }
                continue
            }
            guard let body = bodies.first(where: { $0.effect == id }) else {
                if standsStill, mayWait(id, effect, reducer, bodies.count) { continue }
                return "\(id) is wanted and does not run"
            }
            if body.grant.request != effect.request { return "\(id) lacks its newest request" }
            if !body.isAtRest { return "\(id) runs and has an end" }
        }
        return nil
    }

    /// Whether an effect that does not run may wait for frozen processes, or for its next try.
    private func mayWait(_ id: EffectID, _ effect: LiveEffect, _ reducer: ReducerMachine, _ running: Int) -> Bool {
        if let retry = effect.retry, retries.mayWait(id, retry, at: now) { return true }
        let policy = reducer.journaled.feedback(of: id)?.policy ?? EffectPolicy()
        if policy.concurrency != nil || policy.concurrencyPerGroup != nil { return true }
        if policy.rate != nil || policy.ratePerGroup != nil { return true }
        return running >= roster.present.reduce(0) { $0 + ($1.isAlive ? $1.machine.configuration.capacity : 0) }
    }
}
