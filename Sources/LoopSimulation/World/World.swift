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
        if records { transcript = Transcript(limit: scenario.transcriptLines, loop: loop.id) }
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

    var leaseNanoseconds: UInt64 { UInt64(plan.lease.wholeNanoseconds) }

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
