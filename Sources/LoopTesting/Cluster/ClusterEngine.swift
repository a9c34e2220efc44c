import LoopCluster
package import LoopCore
import LoopWire

/// A reducer, workers and clients: the shipped machines under virtual time, one seeded generator, a network and a
/// journal that fail as real ones do, and the checkers of the promises beside them. What they run is a ``Workload``.
///
/// A run has two phases. While faults come, clients and effects send events. Then the faults end, and everything must
/// settle within a bounded virtual time. Everything is decided by the seed. A loop that ends is over when everybody has
/// learned of it, in plans that have an end also those who come late.
///
/// As in ``SimulatedPeer``, what is asked at every step is not watched for overlapping accesses.
package final class ClusterEngine<Work: Workload> {
    typealias State = Work.Definition.State
    typealias Event = Work.Definition.Event
    /// The definition as the reducer's process runs it.
    typealias Ran = TrappedLoop<Work.Definition>
    typealias Peer = SimulatedPeer<Work.Script>

    package let scenario: Scenario
    package let plan: SimulationPlan
    let brokenRules: BrokenRules
    var work: Work
    let coder: any ValueCoder
    let limits: WorkloadLimits
    let happenings: [(time: UInt64, what: Happening)]
    var random: SeededRandom
    var agenda = Agenda()
    /// Virtual nanoseconds since the beginning.
    package internal(set) var now: UInt64 = 0
    package internal(set) var stepCount = 0
    private var stepsAtOnce = 0
    var checkers: Checkers<Work>
    /// Kept only where somebody will read it: it costs more than the run.
    package internal(set) var transcript: Transcript?
    /// To ask the transcript itself would copy it.
    let isTranscribing: Bool
    /// How often each kind of fault took place.
    package internal(set) var faultCounts: [SimulationPlan.Fault: Int] = [:]
    /// How many faults were drawn, also those that were left out or had nothing to break.
    package internal(set) var faultsDrawn = 0
    package internal(set) var eventCount = 0
    /// How many messages were sent, in all directions.
    var messageCount = 0
    var ids: UInt32 = 0
    var entryCount = 0
    /// When the turn began whose records are on their way, or whose messages leave.
    var turnAt: UInt64 = 0
    /// The wall clock when the turn began; it may be set while the turn's records are written.
    var turnWall = WallTime(milliseconds: 0)
    /// Up to where each session's entries have to be read behind this turn.
    var readAccount: [SessionID: UInt64] = [:]
    /// When an effect that has failed may be tried again, as far as this process has seen it fail.
    var retriesDue: [EffectID: UInt64] = [:]
    /// The newest time in the journal.
    var journaledTime = WallTime(milliseconds: 0)
    /// How many entries were sent, and how many of them not for the first time.
    var sentCount = 0
    var sentAgainCount = 0
    let loop = LoopID(name: Work.Definition.name)
    let fingerprint: DefinitionFingerprint
    let groups: [String]
    /// Whether some effects run in the reducer's process.
    let hasLocalEffects: Bool

    // The reducer's process.
    var reducer: ReducerMachine<Ran>?
    /// Told apart from `reducer != nil`, which copies the machine to find out.
    var isReducerUp = false
    var reducerLife: UInt32 = 0
    var restCount = 0
    var unsynced: Unsynced?
    var isSyncing = false
    var reducerWakesAt = UInt64.max
    var reducerFrozenUntil: UInt64 = 0
    var reducerBeganAt: UInt64 = 0
    var reducerClockOffset: UInt64 = 0
    var wallOffset: Int64 = 0
    var isNextAppendSlow = false
    var isNextAppendFailing = false
    /// Until then the disk has no room.
    var diskFailsUntil: UInt64 = 0
    /// What the turn holds that is to be lost quietly, and whether the process ends once more after that; nil: none is.
    var awaitedLoss: (of: QuietLoss, endsAgain: Bool)?
    var endsAgainAt = UInt64.max
    /// An older copy of the journal was put back, and nobody has noticed; an operator has been told, and goes on with it.
    var isRestored = false
    var goesOnWithoutLost = false
    /// What the older copy lacks, until the first start.
    var missing: [Record]?
    /// The epoch of the process that serves.
    var servedEpoch = Epoch.none
    /// When the machine was last told the time, and when it had stood still before: leases are longer by that.
    var advancedAt: UInt64 = 0
    var standstills: [(at: UInt64, length: UInt64)] = []
    var flushedAt: UInt64 = 0
    /// Where the newest snapshot was begun, and the one that is being written.
    var snapshotAt: UInt64 = 0
    var writing: SimulatedDisk.Snapshot?
    /// What other threads have come to, or will have by then.
    var errands: [(doneAt: UInt64, result: Errand.Result)] = []
    let trap: TrapSwitch<Event>
    /// The peer of the reducer's own process.
    var local: Peer?
    /// What operators ask for in the next turn.
    var operatorRequests: [AdministrationRequest] = []
    /// This process's hold on the disk.
    var journal: SimulatedJournal?
    var disk: SimulatedDisk?
    /// The history of the newest record.
    var history = History.none
    /// How the loop has ended, as far as the journal knows.
    package internal(set) var outcome: Outcome?
    /// Whether the plan's fault behind the end has come, and those who come when all others have learned of the end.
    var hasFaultAtEnd = false
    var haveLatecomersCome = false
    /// The places of those that have learned of an end and left: should that be lost, others come.
    var departed: [(role: Peer.Role, slot: Int)] = []
    /// After this time bodies and clients do nothing more.
    var standsStill = false

    // What a report counts.
    var snapshotsWritten = 0
    var recoveriesFromSnapshots = 0
    var journalFailures = 0
    var tailsLost = 0
    var historiesBegun = 0
    var trapCount = 0

    // The other processes; nil: one that is gone, and nothing of it is under way.
    var peers: [Peer?] = []
    /// What each of them was, also those that are gone.
    var places: [(role: Peer.Role, slot: Int)] = []
    /// When those that are gone were killed.
    var goneAt: [PeerID: UInt64] = [:]
    /// Those that live, or whose sockets still hold something.
    var present: [Peer] = []

    /// What is lost quietly: some event, the record that took an attempt away from a silent worker, or what stands behind the
    /// first entry that is refused for its attempt.
    enum QuietLoss { case event, attemptEnd, refusal }

    /// A turn whose records are on their way to the disk.
    struct Unsynced: ~Copyable {
        let ready: Ready
        let records: [Record]
    }

    /// What an end of the process may lose, to a part or as a whole.
    var recordsUnderWay: [Record] { unsynced?.records ?? [] }

    /// - Parameters:
    ///   - plan: what the seed has drawn, with the generator as it is behind it.
    ///   - happenings: what comes to pass at a given time, whatever is drawn.
    ///   - records: whether the messages are kept for people.
    init(
        _ scenario: Scenario, plan: (SimulationPlan, SeededRandom), work: Work,
        happenings: [(time: UInt64, what: Happening)] = [], breaking rules: [Rule] = [], records: Bool = false
    ) {
        self.scenario = scenario
        (self.plan, random) = plan
        self.work = work
        self.happenings = happenings
        coder = work.coder
        limits = work.limits
        brokenRules = BrokenRules(rules)
        checkers = Checkers(work, hasShadow: plan.0.hasShadow, breaking: brokenRules)
        trap = TrapSwitch(sparesSuspects: !work.hasPoison, isPoison: { work.isPoison($0) })
        isTranscribing = records
        if records {
            transcript = Transcript(limit: scenario.transcriptLines, loop: loop) { [coder = work.coder] bytes in
                (try? coder.decode(Work.Definition.Event.self, from: Array(bytes))).flatMap { work.describe($0) }
            }
        }
        fingerprint = DefinitionFingerprint(of: work.definition)
        let placements = Set(work.definition.allFeedbacks.map(\.placement.group))
        groups = placements.subtracting([localGroup]).sorted()
        hasLocalEffects = work.definition.allFeedbacks.contains { $0.placement == .local && $0.makeQuery != nil }
    }

    /// The definition as the reducer's process runs it.
    var ran: Ran { TrappedLoop(base: work.definition, trap: trap) }
    /// The definition as it is looked at.
    var plain: Ran { TrappedLoop(base: work.definition, trap: nil) }

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
        try startReducer()
        for slot in 0..<plan.workerCount { try addPeer(.worker, slot) }
        for slot in 0..<plan.clientCount { try addPeer(.client, slot) }
        for (slot, observer) in plan.observers.enumerated() {
            agenda.note(.observerStart(Int32(slot)), at: UInt64(observer.share * Double(faultsEnd)))
            if let share = observer.damageShare {
                agenda.note(.observerDamage(Int32(slot)), at: UInt64(share * Double(faultsEnd)))
            }
        }
        for (index, happening) in happenings.enumerated() { agenda.note(.happening(Int32(index)), at: happening.time) }
        if let end = plan.end { planEnd(end) }
        agenda.note(.fault, at: min(nextFault(), faultsEnd))
        let rest = limits.restLimit.map { faultsEnd + UInt64($0.wholeNanoseconds) } ?? .max
        let limit = (rest == .max ? faultsEnd : rest) + UInt64(plan.settlePhase.wholeNanoseconds)
        var nextLook = faultsEnd
        while let (time, task) = agenda.next() {
            stepsAtOnce = time > now ? 0 : stepsAtOnce + 1
            if stepsAtOnce > 10_000 { throw Violation(.progress, "time stands still: \(task) comes again and again") }
            now = max(now, time)
            if now > nextLook {
                if try lookWhetherSettled() { return }
                nextLook = now + 100_000_000
                if now > rest, !standsStill {
                    say("bodies and clients stand still")
                    standsStill = true
                }
            }
            if now > limit {
                throw Violation(.progress, "not settled after \(plan.settlePhase): \(unsettled() ?? "in motion")")
            }
            stepCount += 1
            try perform(task)
            if try isOver() { return try settle() }
        }
        throw Violation(.progress, "nothing is left to happen: \(unsettled() ?? "all is settled")")
    }

    private func perform(_ task: Agenda.Task) throws(Violation) {
        switch task {
        case .reducerStart(let life): if life == reducerLife { try startReducer() }
        case .reducerRetry(let life): try retryJournal(life)
        case .snapshotWritten(let life): snapshotWritten(life)
        case .errandDone: wakeReducer(at: now)
        case .reducerTurn: try reducerTurn()
        case .reducerSynced(let life): try reducerSynced(life)
        case .peerTurn(let index): if let peer = peers[Int(index)] { try peerTurn(peer) }
        case .effectStep(let index, let run): if let peer = peers[Int(index)] { try effectStep(peer, run) }
        case .clientEvent(let index): if let peer = peers[Int(index)] { try clientEvent(peer) }
        case .observerStart(let slot): try addPeer(.observer, Int(slot))
        case .observerDamage(let slot): try damageObserver(Int(slot))
        case .endNears: disk?.makeCopy()
        case .endFault: try faultAtEnd()
        case .happening(let index): try perform(happenings[Int(index)].what)
        case .fault:
            guard isFaulty else { return endFaults() }
            try drawFault()
            agenda.note(.fault, at: min(nextFault(), faultsEnd))
        }
    }

    private func lookWhetherSettled() throws(Violation) -> Bool {
        guard unsettled() == nil else { return false }
        try settle()
        return true
    }

    private func settle() throws(Violation) {
        if let reducer { try checkers.rest(reducer.core, wholly: true) }
        try demandLittleLoad()
        try observe(.settled)
    }

    func observe(_ observation: Observation) throws(Violation) { try checkers.observe(observation) }

    package var checkCounts: [Promise: Int] { checkers.checkCounts }

    // MARK: Chance

    func nextID() -> UInt32 {
        ids += 1
        return ids
    }

    func chance(_ share: Double) -> Bool { random.fraction() < share }

    /// A duration between two, in nanoseconds.
    func between(_ least: Duration, _ most: Duration) -> UInt64 {
        between(UInt64(least.wholeNanoseconds), UInt64(most.wholeNanoseconds))
    }

    func between(_ least: UInt64, _ most: UInt64) -> UInt64 {
        most <= least ? least : UInt64.random(in: least...most, using: &random)
    }

    /// Asks the workload for something with the run's own chance.
    func drawing<Result>(
        for peer: Peer? = nil, _ ask: (inout Work, inout Draw) throws(Violation) -> Result
    ) throws(Violation) -> Result {
        var draw = Draw(random: random, now: now, faultsEnd: faultsEnd, wantsPoison: peer?.sendsPoison ?? false)
        let result = try ask(&work, &draw)
        random = draw.random
        peer?.sendsPoison = draw.wantsPoison
        return result
    }

    func latency() -> UInt64 { between(50_000, plan.latencyMaxNanoseconds) }

    /// Drawn from the faults' own generator, so that the faults come at the same times whatever happens between them.
    private func nextFault() -> UInt64 {
        guard plan.faultsPerSecond > 0 else { return .max }
        let mean = 1e9 / plan.faultsPerSecond
        var dice = scenario.dice(of: faultsDrawn)
        return now + UInt64(mean * (0.2 + 1.6 * dice.fraction()))
    }
}
