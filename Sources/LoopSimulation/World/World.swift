import LoopCluster
package import LoopCore
import LoopWire

/// A reducer, workers and clients: the shipped machines under virtual time. It has one seeded generator, a network and a journal
/// that fail like real ones, and the checkers of the promises. The processes run a ``Workload``.
///
/// The world has everything that its processes share: the agenda, the network, the storage, the roster, the checkers, and the watches,
/// which check what no checker observes. A task of the agenda is handled by an actor, which is given the process that it works on:
/// a ``ReducerActor`` or a ``PeerActor``.
///
/// A run has two phases. During the faults, clients and effects send events. Then the faults end, and everything must settle within
/// a bounded virtual time. The seed decides everything. A loop that ends is over when every process has learned of it, including
/// late ones if the plan has an end.
package final class World<Work: Workload>: WorldActor {
    typealias State = Work.Definition.State
    typealias Event = Work.Definition.Event
    /// The definition as the reducer's process runs it.
    typealias Ran = TrappedLoop<Work.Definition>
    typealias Peer = SimulatedPeer<Work.Script>

    package let scenario: Scenario
    package let plan: SimulationPlan
    let brokenRules: BrokenRules
    /// Events at given times, independent of the seed.
    private let timeline: [(time: UInt64, what: TimelineEntry)]
    let loop: SimulatedLoop
    var work: Work
    var random: SeededRandom
    var agenda = Agenda()
    var checkers: Checkers<Work>
    /// The messages of the run, or nil unless people will read them. They cost more than the run.
    package internal(set) var transcript: Transcript?
    package internal(set) var tally = Tally()
    var network: Network
    var storage = Storage()
    /// The reducer's processes. There is one, unless the journal is in a database.
    let candidates: [Candidate<Ran>]
    var connections: [DatabaseConnection] = []
    var roster = Roster<Work.Script>()
    var reads = ReadAccount()
    var retries = RetryWatch()
    var leases = LeaseWatch()
    var transfers = TransferWatch()
    var ending = Ending()
    /// The folder of keys, or nil if the reducer has none.
    var keys: SimulatedKeys?
    var hostiles = HostileTraffic()
    /// Processes that were refused. Others replace them once keys have changed.
    var refusedPeers: [Peer] = []
    /// In a run without keys, the process that joins after the hostile ones have left, or nil before.
    var latecomer: Peer?
    /// Whether bodies and clients do nothing more.
    var standsStill = false

    /// - Parameters:
    ///   - plan: what the seed has drawn, and the generator afterwards.
    ///   - happenings: events at given times, independent of the seed.
    ///   - records: whether to keep the messages for people.
    init(
        _ scenario: Scenario, plan: (SimulationPlan, SeededRandom), work: Work,
        timeline: [(time: UInt64, what: TimelineEntry)] = [], breaking rules: [Rule] = [], records: Bool = false
    ) {
        self.scenario = scenario
        (self.plan, random) = plan
        self.work = work
        self.timeline = timeline
        loop = SimulatedLoop(work)
        brokenRules = BrokenRules(rules)
        checkers = Checkers(
            work, hasShadow: plan.0.hasShadow, isUnguarded: plan.0.isUnguarded, breaking: brokenRules)
        if plan.0.hasKeys {
            keys = SimulatedKeys(
                workers: plan.0.workerCount, clients: plan.0.clientCount, observers: plan.0.observers.count,
                groups: loop.workerGroups)
        }
        network = Network(loop: loop.id)
        candidates = (0..<max(1, plan.0.candidateCount)).map { index in
            let trap = TrapSwitch<Event>(sparesSuspects: !work.hasPoison, isPoison: { work.isPoison($0) })
            return Candidate(index: index, process: ReducerProcess(trap: trap, candidate: index))
        }
        if records { transcript = Transcript(limit: scenario.transcriptLines) }
    }

    var world: World { self }

    /// The actor of one of the reducer's processes.
    func reducer(_ index: Int) -> ReducerActor<Work> { at(candidates[index]) }
    func at(_ candidate: Candidate<Ran>) -> ReducerActor<Work> { ReducerActor(world: self, candidate: candidate) }

    /// The process of the reducer that leads, by the database's row, or nil if none does. If the journal is a file, there is one process.
    var leader: Candidate<Ran>? {
        guard let database = storage.database else { return candidates[0] }
        return candidates.first { $0.hold.term == database.row.term }
    }

    /// The definition as the checkers use it.
    var plain: Ran { TrappedLoop(base: work.definition, trap: nil) }

    /// Virtual nanoseconds since the beginning.
    package var now: UInt64 { agenda.now }
    /// The outcome of the loop, as far as the journal has it.
    package var outcome: Outcome? { ending.outcome }
    var faultsEnd: UInt64 { UInt64(plan.faultPhase.wholeNanoseconds) }
    var isFaulty: Bool { now < faultsEnd }

    /// Runs the seed to its end.
    /// - Throws: the first violation.
    package func run() throws(Violation) {
        do {
            try runToEnd()
        } catch {
            var violation = rootCause(of: error)
            if let advice = work.advice(on: violation.promise) { violation.what += "\n    \(advice)" }
            throw violation
        }
    }

    private func runToEnd() throws(Violation) {
        try begin()
        let rest = loop.limits.restLimit.map { faultsEnd + UInt64($0.wholeNanoseconds) } ?? .max
        let limit = (rest == .max ? faultsEnd : rest) + UInt64(plan.settlePhase.wholeNanoseconds)
        var nextLook = faultsEnd
        while let task = agenda.next() {
            if agenda.tasksAtOnce > 10_000 {
                throw Violation(.progress, "time stands still: \(task) comes again and again")
            }
            if now > nextLook {
                if unsettled() == nil { return try settle() }
                nextLook = now + 100_000_000
                if now > rest, !standsStill {
                    say("bodies and clients stand still")
                    standsStill = true
                }
            }
            if now > limit {
                throw Violation(.progress, "not settled after \(plan.settlePhase): \(unsettled() ?? "in motion")")
            }
            tally.stepCount += 1
            if plan.isUnguarded { try performUnguarded(task) } else { try perform(task) }
            if try isOver() { return try settle() }
        }
        throw Violation(.progress, "nothing is left to happen: \(unsettled() ?? "all is settled")")
    }

    private func begin() throws(Violation) {
        if plan.candidateCount > 0 { try startCandidates() } else { try reducer(0).start() }
        for slot in 0..<plan.workerCount { try addPeer(.worker, slot) }
        for slot in 0..<plan.clientCount { try addPeer(.client, slot) }
        for (slot, observer) in plan.observers.enumerated() {
            agenda.note(.observerStart(Int32(slot)), at: UInt64(observer.share * Double(faultsEnd)))
            if let share = observer.damageShare {
                agenda.note(.observerDamage(Int32(slot)), at: UInt64(share * Double(faultsEnd)))
            }
        }
        for (index, happening) in timeline.enumerated() { agenda.note(.happening(Int32(index)), at: happening.time) }
        if let end = plan.end { planEnd(end) }
        noteNextFault()
    }

    func perform(_ task: Agenda.Task) throws(Violation) {
        switch task {
        case .reducerStart(let life): try actor(of: life)?.start()
        case .reducerRetry(let life): try actor(of: life)?.retryJournal()
        case .snapshotWritten(let life): actor(of: life)?.snapshotWritten()
        case .jobDone(let index): reducer(Int(index)).wake(at: now)
        case .reducerTurn(let index): try reducer(Int(index)).turn()
        case .reducerSynced(let life): try actor(of: life)?.synced()
        case .candidateLook(let index): try reducer(Int(index)).look()
        case .statement(let connection): try runStatement(Int(connection))
        case .answer(let connection):
            try reducer(connections[Int(connection)].candidate).takeAnswer(Int(connection))
        case .confirmation: confirm()
        case .failover: try failOver()
        case .peerTurn(let index): if let peer = roster[index] { try at(peer).turn() }
        case .effectStep(let index, let run): if let peer = roster[index] { try at(peer).effectStep(run) }
        case .clientEvent(let index): if let peer = roster[index] { try at(peer).clientEvent() }
        case .observerStart(let slot): try addPeer(.observer, Int(slot))
        case .observerDamage(let slot): try damageObserver(Int(slot))
        case .endNears: storage.disk?.makeCopy()
        case .endFault: try faultAtEnd()
        case .happening(let index): try perform(timeline[Int(index)].what)
        case .fault:
            guard isFaulty else { return try endFaults() }
            try drawFault()
            noteNextFault()
        }
    }

    /// The actor of a machine, or nil if its process has another one by now.
    private func actor(of life: ProcessLife) -> ReducerActor<Work>? {
        let actor = reducer(Int(life.candidate))
        return life == actor.process.life ? actor : nil
    }

    private func settle() throws(Violation) {
        if let reducer = leader?.process.machine { try checkers.rest(reducer.journaled, wholly: true) }
        try demandLittleLoad()
        try observe(.settled)
    }

    package var checkCounts: [Promise: Int] { checkers.checkCounts }

    // MARK: Chance

    /// Asks the workload for something, with the run's random generator.
    func drawing<Result>(
        for peer: Peer? = nil, _ ask: (inout Work, inout Draw) throws(Violation) -> Result
    ) throws(Violation) -> Result {
        var draw = Draw(
            random: random, now: now, faultsEnd: faultsEnd, wantsPoison: peer?.faults.sendsPoison ?? false)
        let result = try ask(&work, &draw)
        random = draw.random
        peer?.faults.sendsPoison = draw.wantsPoison
        return result
    }

    /// The time of the next fault comes from the generator of faults. So the faults have equal times whatever happens between them.
    private func noteNextFault() {
        guard plan.faultsPerSecond > 0 else { return agenda.note(.fault, at: faultsEnd) }
        let mean = 1e9 / plan.faultsPerSecond
        var dice = scenario.dice(of: tally.faultsDrawn)
        agenda.note(.fault, at: min(now + UInt64(mean * (0.2 + 1.6 * dice.fraction())), faultsEnd))
    }

    // MARK: The reducer's processes

    func startCandidates() throws(Violation) {
        storage.begin(SimulatedDatabase(history: History(random.next() | 1), breaking: brokenRules))
        try observe(.began(storage.history))
        for candidate in candidates {
            at(candidate).beginToStandBy()
            agenda.note(.candidateLook(candidate: UInt8(candidate.index)), at: now)
        }
    }

    /// Gives each process a turn now.
    func wakeCandidates() {
        for candidate in candidates { at(candidate).wake(at: now) }
    }

    func noteDurable(_ record: Record, of turn: TurnMoment) throws(Violation) {
        if case .event = record { tally.eventCount += 1 }
        retries.note(record, of: turn)
        try checkers.journal(storage.history, record)
        storage.note(record)
    }

    /// Records of the journal's end are lost.
    func forget(_ lost: [Record], of disk: SimulatedDisk) throws(Violation) {
        storage.findHistory(of: disk)
        try checkers.lose(lost, keeping: disk.records, of: disk.history)
    }

    /// A state that is not a function of its events breaks many promises. If the journal gives another state than the reducer's,
    /// that is reported as the cause.
    func rootCause(of violation: Violation) -> Violation {
        guard [.nothingStale, .observersConverge, .oneOwner, .nothingLost, .invariant].contains(violation.promise),
            loop.limits.restInterval == 1, let core = (leader ?? candidates[0]).process.machine?.journaled,
            let disk = storage.disk,
            core.position == disk.position
        else { return violation }
        do {
            try at(leader ?? candidates[0]).compare(core, disk, from: nil)
            return violation
        } catch {
            return error
        }
    }
}

/// The faults of a run, how a loop ends, and whether everything has settled.
extension World {
    /// Draws the next fault with a separate generator, so that leaving it out does not change the others.
    func drawFault() throws(Violation) {
        let number = tally.faultsDrawn
        tally.faultsDrawn += 1
        var dice = scenario.dice(of: number)
        _ = dice.next()
        let kind = plan.drawFault(&dice)
        let share = dice.fraction()
        guard !scenario.withoutFaults.contains(number) else { return }
        let alive = roster.living.filter { $0.role != .local }
        guard !alive.isEmpty else { return }
        let peer = alive[min(Int(share * Double(alive.count)), alive.count - 1)]
        let candidate = candidateForFault(&dice)
        say("fault \(number): \(kind) at peer \(peer.index)")
        if try at(candidate).fault(kind, peer, &dice) { tally.faultCounts[kind, default: 0] += 1 }
    }

    /// The process of the reducer that a fault hits. Most faults of processes hit the leader.
    private func candidateForFault(_ dice: inout SeededRandom) -> Candidate<Ran> {
        if candidates.count == 1 { return candidates[0] }
        if dice.fraction() < 0.7, let leader { return leader }
        return candidates[Int.random(in: candidates.indices, using: &dice)]
    }

    func stall() -> UInt64 {
        now + ([0, 300, 2000, 6000].randomElement(using: &random) ?? 0) * 1_000_000
    }

    /// From now on nothing fails, and everything must settle.
    func endFaults() throws(Violation) {
        say("the faults end")
        for candidate in candidates {
            candidate.process.frozenUntil = 0
            candidate.process.endsAgainAt = .max
            candidate.process.trap.endsAtNext = false
            candidate.cutUntil = 0
            at(candidate).wake(at: now)
        }
        storage.awayUntil = 0
        confirm()
        storage.awaitedLoss = nil
        storage.faults.heal()
        for peer in roster.present {
            // The number of a forged batch is not used again before its owner learns of it.
            peer.life.frozenUntil = peer.life.forgedUntil
            peer.faults.forgetsClaims = false
            peer.heal()
            at(peer).wake(at: now)
        }
        restoreKeys()
        if plan.isUnguarded { latecomer = try addPeer(.worker, 0) }
    }

    // MARK: - How a loop ends, how a run ends, and whether everything has settled

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
