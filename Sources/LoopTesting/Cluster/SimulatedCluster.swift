package import LoopCluster
import LoopCore
import LoopWire

/// A reducer, workers and clients: the shipped machines under virtual time, one seeded generator, a network and a
/// journal that fail as real ones do, and the checkers of the promises beside them.
///
/// A run has two phases. While faults come, clients and effects send events. Then the faults end, and everything must
/// settle within a bounded virtual time. Everything is decided by the seed.
package final class SimulatedCluster {
    package let seed: UInt64
    package let plan: SimulationPlan
    let brokenRules: BrokenRules
    var random: SeededRandom
    var agenda = Agenda()
    /// Virtual nanoseconds since the beginning.
    package internal(set) var now: UInt64 = 0
    package internal(set) var stepCount = 0
    private var stepsAtOnce = 0
    var checkers = Checkers()
    package internal(set) var transcript = Transcript(limit: 40)
    package internal(set) var faultCount = 0
    package internal(set) var eventCount = 0
    var ids: UInt64 = 0
    let loop = LoopID(name: SlotLoop.name)

    // The reducer's process.
    var reducer: ReducerMachine<SlotLoop>?
    var reducerLife = 0
    var unsynced: Unsynced?
    var reducerWakesAt = UInt64.max
    var reducerFrozenUntil: UInt64 = 0
    var reducerClockOffset: UInt64 = 0
    var wallOffset: Int64 = 0
    var isNextAppendSlow = false
    var journal = SimulatedJournal(history: .none)
    var history = History.none

    // The other processes, dead ones too.
    var peers: [SimulatedPeer] = []
    var peersByID: [PeerID: Int] = [:]
    var peersByRoute: [[UInt8]: Int] = [:]

    /// A turn whose records are on their way to the disk.
    struct Unsynced {
        let records: [Record]
        let position: UInt64
        let deadline: MonotonicTime
        let messages: [Outbound]
    }

    package init(seed: UInt64, breaking rules: [Rule] = []) {
        self.seed = seed
        brokenRules = BrokenRules(rules)
        random = SeededRandom(seed: seed)
        plan = SimulationPlan(&random)
    }

    var faultsEnd: UInt64 { UInt64(plan.faultPhase.wholeNanoseconds) }
    var isFaulty: Bool { now < faultsEnd }

    /// Runs the seed to its end.
    /// - Throws: the first violation.
    package func run() throws(Violation) {
        try startReducer()
        for _ in 0..<plan.workerCount { addPeer(.worker) }
        for _ in 0..<plan.clientCount { addPeer(.client) }
        agenda.note(.fault, at: nextFault())
        let limit = faultsEnd + UInt64(plan.settlePhase.wholeNanoseconds)
        var nextLook = faultsEnd
        while let (time, task) = agenda.next() {
            stepsAtOnce = time > now ? 0 : stepsAtOnce + 1
            if stepsAtOnce > 10_000 { throw Violation(.progress, "time stands still: \(task) comes again and again") }
            now = max(now, time)
            if now > nextLook {
                if try lookWhetherSettled() { return }
                nextLook = now + 100_000_000
            }
            if now > limit {
                throw Violation(.progress, "not settled after \(plan.settlePhase): \(unsettled() ?? "in motion")")
            }
            stepCount += 1
            try perform(task)
        }
        throw Violation(.progress, "nothing is left to happen: \(unsettled() ?? "all is settled")")
    }

    private func perform(_ task: Agenda.Task) throws(Violation) {
        switch task {
        case .reducerStart: try startReducer()
        case .reducerTurn: try reducerTurn()
        case .reducerSynced(let life): try reducerSynced(life)
        case .peerTurn(let index): try peerTurn(peers[index])
        case .effectStep(let peer, let run): try effectStep(peers[peer], run)
        case .clientEvent(let peer): try clientEvent(peers[peer])
        case .fault:
            guard isFaulty else { return endFaults() }
            try fault()
            agenda.note(.fault, at: nextFault())
        }
    }

    private func lookWhetherSettled() throws(Violation) -> Bool {
        guard unsettled() == nil else { return false }
        try observe(.settled)
        return true
    }

    func observe(_ observation: Observation) throws(Violation) { try checkers.observe(observation) }

    package var checkCounts: [Promise: Int] { checkers.checkCounts }

    // MARK: Chance

    func nextID() -> UInt64 {
        ids += 1
        return ids
    }

    func chance(_ share: Double) -> Bool { random.fraction() < share }

    /// A duration between two, in nanoseconds.
    func between(_ least: Duration, _ most: Duration) -> UInt64 {
        let least = UInt64(least.wholeNanoseconds)
        let most = UInt64(most.wholeNanoseconds)
        return most <= least ? least : UInt64.random(in: least...most, using: &random)
    }

    func latency() -> UInt64 { between(.microseconds(50), plan.latencyMax) }

    private func nextFault() -> UInt64 {
        let mean = 1 / plan.faultsPerSecond
        return now + between(.seconds(mean * 0.2), .seconds(mean * 1.8))
    }

    // MARK: Whether everything has settled

    /// What is still in motion or wrong; nil: nothing.
    func unsettled() -> String? {
        guard let reducer, unsynced == nil else { return "the reducer is busy" }
        for peer in peers where peer.isAlive {
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
            !peers.contains { $0.isAlive && $0.machine.session == session }
        }
    }

    private func unsettledEffects(_ reducer: ReducerMachine<SlotLoop>) -> String? {
        let bodies = peers.filter(\.isAlive).flatMap(\.bodies.values)
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
