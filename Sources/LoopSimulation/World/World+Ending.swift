import LoopCluster
import LoopCore
import LoopWire

/// How a loop ends, how a run ends, and whether everything has settled.
extension World {
    func planEnd(_ end: SimulationPlan.End) {
        say("the loop is to end at \(Transcript.seconds(end.at)) or soon after")
        guard end.fault?.kind == .restored else { return }
        agenda.note(.endNears, at: end.at - min(end.at, between(.zero, .seconds(2))))
    }

    /// The journal has the loop's end. No peer knows it yet.
    func noteEnd(_ end: Outcome) throws(Violation) {
        say("the loop has ended: \(end.text.prefix(200))")
        ending.outcome = end
        guard let fault = plan.end?.fault, isFaulty, !ending.hasFaultAtEnd else { return }
        ending.hasFaultAtEnd = true
        if fault.after == 0 { return try faultAtEnd() }
        agenda.note(.endFault, at: now + fault.after)
    }

    func faultAtEnd() throws(Violation) {
        guard isFaulty, let kind = plan.end?.fault?.kind, let peer = roster.present.first, let leader else { return }
        say("a fault after the end: \(kind)")
        var dice = SeededRandom(seed: scenario.seed)
        if try at(leader).fault(kind, peer, &dice) { tally.faultCounts[kind, default: 0] += 1 }
    }

    /// The end that some processes know is lost with a part of the journal. New processes replace those that have left.
    func replaceDeparted() throws(Violation) {
        for (role, slot) in roster.takeDeparted() { try addPeer(role, slot) }
    }

    /// Whether the loop has ended and every process knows. If the plan requires it, more processes come then and learn of it too.
    func isOver() throws(Violation) -> Bool {
        guard outcome != nil, let leader, !leader.process.isSyncing, roster.unaware == nil,
            !plan.isUnguarded && storage.database == nil || hasWrittenAll(leader)
        else { return false }
        guard plan.end != nil, !ending.haveLatecomersCome else { return true }
        ending.haveLatecomersCome = true
        say("everybody has learned of the end; others come late")
        try addPeer(.worker, 0)
        try addPeer(.client, 0)
        for slot in plan.observers.indices { try addPeer(.observer, slot) }
        return false
    }

    /// What is not settled yet, or nil if everything is.
    func unsettled() -> String? {
        guard let leader else { return "no reducer leads" }
        guard let reducer = leader.process.machine, !leader.process.isSyncing else { return "the reducer is busy" }
        if let index = standbyOfAStillServer() {
            return "candidate \(index) reads a server that does not move any more"
        }
        if plan.isUnguarded { return unsettledAmongStrangers(reducer, leader) }
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
        return unsettledEffects(reducer, wall: at(leader).reducerMoment.wall)
    }

    /// A session that should have been retired by now, or nil.
    private func keptInVain(_ reducer: ReducerMachine) -> SessionID? {
        guard plan.sessionRetention < plan.settlePhase / 2 else { return nil }
        return reducer.journaled.sessions.keys.sorted().first { session in
            !roster.present.contains { $0.isAlive && $0.machine.session == session }
        }
    }

    private func unsettledEffects(_ reducer: ReducerMachine, wall present: WallTime) -> String? {
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
        let wall = max(present, reducer.journaled.time)
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

    /// An honest process that receives something impossible ends, and its supervisor starts another.
    func performUnguarded(_ task: Agenda.Task) throws(Violation) {
        do {
            try perform(task)
        } catch {
            guard let peer = task.peer.flatMap({ roster[$0] }), peer.isAlive,
                !Checkers<Work>.unguarded.contains(error.promise)
            else { throw error }
            say("\(peer.role) \(peer.index) ends: \(error)")
            try at(peer).kill()
        }
    }

    /// Whether every record is durable, even those with which a history begins.
    func hasWrittenAll(_ leader: Candidate<Ran>) -> Bool {
        leader.process.machine?.journaled.position == storage.disk?.position
    }

    /// What is missing until the reducer has proved to work: it must serve a process that comes after the hostile ones.
    func unsettledAmongStrangers(_ reducer: ReducerMachine, _ leader: Candidate<Ran>) -> String? {
        guard let latecomer else { return "hostile processes are there" }
        guard hasWrittenAll(leader) else { return "the reducer has records to write" }
        let isServed = latecomer.machine.isJoined && latecomer.machine.epoch == reducer.epoch
        return isServed || latecomer.life.hasEnded ? nil : "a process that came when they had gone is not let in"
    }
}

/// How the loop ends, and the plan's faults for that moment.
struct Ending {
    /// The loop's outcome, as far as the journal has it.
    var outcome: Outcome?
    /// Whether the plan's fault after the end has come.
    var hasFaultAtEnd = false
    /// Whether the late processes have come. They start when all others know of the end.
    var haveLatecomersCome = false
}

extension Agenda.Task {
    /// The process whose turn it is, or nil if the task is the reducer's, or no process's.
    fileprivate var peer: Int32? {
        switch self {
        case .peerTurn(let index), .effectStep(let index, _), .clientEvent(let index): index
        default: nil
        }
    }
}
