import LoopCluster
import LoopCore
import LoopWire

/// Whether everything has settled.
extension SimulatedCluster {
    /// What is still in motion or wrong; nil: nothing.
    func unsettled() -> String? {
        guard let reducer, unsynced == nil else { return "the reducer is busy" }
        for peer in present where peer.isAlive {
            let name = "\(peer.role) \(peer.index)"
            if !peer.machine.isJoined {
                return "\(name) has not joined (\(peer.machine.isOver ? "over" : "on its way"))"
            }
            if !peer.machine.outbox.isEmpty { return "\(name) has \(peer.machine.outbox.count) entries in its outbox" }
            if peer.frozenUntil > now { return "\(name) stands still" }
        }
        if let session = keptInVain(reducer) { return "session \(session) of a process that is gone is kept" }
        return unsettledEffects(reducer)
    }

    /// A session that should have been retired by now.
    private func keptInVain(_ reducer: ReducerMachine<SlotLoop>) -> SessionID? {
        guard plan.sessionRetention < plan.settlePhase / 2 else { return nil }
        return reducer.core.sessions.keys.sorted().first { session in
            !present.contains { $0.isAlive && $0.machine.session == session }
        }
    }

    private func unsettledEffects(_ reducer: ReducerMachine<SlotLoop>) -> String? {
        let bodies = present.filter(\.isAlive).flatMap(\.bodies.values)
        for body in bodies {
            guard let effect = reducer.core.effects[body.effect] else {
                return "a body of \(body.effect) \(body.attempt) runs, which is not wanted"
            }
            if effect.status != .open { return "a body of \(body.effect) runs, which is \(effect.status)" }
            if bodies.contains(where: { $0.effect == body.effect && $0.run != body.run }) {
                return "\(body.effect) runs twice"
            }
        }
        for (id, effect) in reducer.core.effects where effect.status == .open {
            guard let body = bodies.first(where: { $0.effect == id }) else { return "\(id) is wanted and does not run" }
            if body.request != effect.request { return "\(id) lacks its newest request" }
            if !body.isEndless { return "\(id) runs and has an end" }
        }
        return nil
    }
}
