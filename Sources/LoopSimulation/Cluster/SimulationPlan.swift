import LoopCluster
package import LoopCore

/// The plan that one seed draws: the cluster's size and limits, and the rates of faults. Each run omits some kinds, so that none
/// hides another (swarm testing, Groce 2012).
package struct SimulationPlan: Sendable {
    /// What an observer follows, and when it comes.
    package struct Watched: Sendable {
        package enum Mode: String, CaseIterable, Sendable { case full, delta, transitions, both }

        package var mode: Mode
        /// The position of the section that it follows, or nil for the whole state.
        package var section: Int?
        /// The least number of milliseconds between two updates.
        package var interval: UInt32 = 0
        /// When it comes, as a share of the time with faults.
        package var share: Double = 0
        /// When its knowledge is damaged in its memory, as such a share, or nil for never.
        package var damageShare: Double?

        package init(_ mode: Mode) { self.mode = mode }

        var includesStates: Bool { mode != .transitions }
        var includesTransitions: Bool { mode == .transitions || mode == .both }
        /// Whether each state is made of the one before.
        var dependsOnTheLast: Bool { mode == .delta }
    }

    /// The journal's guarantees.
    package enum Keeping: String, Sendable { case memory, os, fsync }

    package var silenceLimit: Duration
    package var keeping: Keeping
    package var faults: [Fault]
    /// How often some faults come per second, instead of their usual rates.
    package var emphasis: [Fault: Double] = [:]
    /// The mean number of faults per second.
    package var faultsPerSecond: Double
    package var faultPhase: Duration
    package var settlePhase = Duration.seconds(90)
    package var workerCount = 3
    package var clientCount: Int
    package var eventsPerSecond: Double
    package var latencyMax: Duration
    package var syncMax: Duration
    package var outboxEntriesMax: Int
    package var inboxWindow: UInt64
    package var capacity: Int
    package var pipeMax: Int
    package var sessionRetention: Duration
    package var sessionsMax = 10_000
    /// The largest payload of one message of commands, claims and the like, in bytes, or nil for the shipped limit.
    package var payloadBytesMax: Int?
    /// The share of effects' attempts that fail.
    package var failureShare: Double
    /// The largest number of batches that the reducer reads in one turn.
    package var drainMax: Int
    /// The number of turns that may wait for the journal at one time.
    package var turnsMax = 1
    /// The number of records between two snapshots.
    package var snapshotInterval: UInt64
    package var hasStateHashes: Bool
    /// Whether no fault loses a message. Then little is sent twice.
    package var losesNothing = false
    /// How many batches wait while the reducer reduces an event alone, and how many encoded states of each kind it keeps.
    package var deferredBatchesMax = 4
    package var transfersMax = 4
    /// The number of commands that may wait for a peer, in addition to four for each effect that it may have.
    package var commandsBase = 64
    /// The longest time of a slow append.
    package var slowAppendMax = Duration.seconds(3)
    /// Whether every record is applied to a second state at once. That costs as much as the reducer's own state does.
    package var hasShadow: Bool
    /// Whether old messages are kept to arrive again.
    package var hasReplays: Bool
    /// The virtual time after which the next start has a build that can reduce every event.
    package var buildReplacedAt: UInt64
    /// What the observers follow, and when they come.
    package var observers: [Watched] = []
    /// The largest state that is published whole, and the size of the parts in which a larger one is fetched, in bytes. Nil is the
    /// shipped limit.
    package var stateBytesMax: Int?
    package var statePartBytes: Int?
    /// Whether clients keep an outbox file, with which others continue after them.
    package var hasOutboxFiles = false
    /// The share of payloads that are no event.
    package var garbageShare = 0.02
    /// How the loop ends, or nil if it runs forever.
    package var end: End?
    /// The number of reducer processes on one database, or 0 if the journal is a file.
    package var candidateCount = 0
    /// The duration of the leader's lease.
    package var lease = Duration.seconds(1)
    /// Whether standbys replay the journal while they wait.
    package var hasWarmStandbys = false
    /// Whether the loop has timers.
    package var hasTimers = false
    /// Whether the reducer and each process have keys.
    package var hasKeys = false
    /// Whether hostile processes take part in a loop without keys. Then only the promises that need no keys are checked.
    package var isUnguarded = false
    /// The acts that hostile processes try.
    var hostileActs = HostileAct.allCases
    /// Whether there are hostile processes.
    var hasHostiles: Bool { faults.contains(.hostile) }

    /// How a loop ends, and what happens to its reducer then.
    package struct End: Sendable {
        /// The virtual time from which clients request the end, until they have learned of it.
        package var at: UInt64
        /// Whether effects request it too.
        package var isByEffects: Bool
        /// A fault at a time after the journal first has the end, or nil for none.
        package var fault: (kind: Fault, after: UInt64)?
    }

    /// The plan that a seed draws from these faults.
    /// - Returns: the plan, and the generator afterwards.
    package static func drawn(_ scenario: Scenario, _ faults: Faults) -> (SimulationPlan, SeededRandom) {
        var random = SeededRandom(seed: scenario.seed)
        let plan = SimulationPlan(&random, scenario, faults)
        return (plan, random)
    }

    private init(_ random: inout SeededRandom, _ scenario: Scenario, _ allowed: Faults) {
        silenceLimit = [.milliseconds(800), .milliseconds(3000)].randomElement(using: &random) ?? .seconds(1)
        keeping =
            [.memory, .memory, .os, .os, .fsync, .fsync, .fsync, .fsync, .fsync].randomElement(using: &random)
            ?? .fsync
        let count = Int.random(in: min(3, allowed.kinds.count)...allowed.kinds.count, using: &random)
        faults = Array(allowed.kinds.shuffled(using: &random).prefix(count))
        let rarity: Double = [0.7, 1.5, 3].randomElement(using: &random) ?? 1
        faultsPerSecond = rarity * faults.map(\.perSecond).reduce(0, +)
        faultPhase = scenario.duration
        clientCount = Int.random(in: 1...2, using: &random)
        eventsPerSecond = [50, 90, 180].randomElement(using: &random) ?? 84
        latencyMax =
            [.milliseconds(1), .milliseconds(10), .milliseconds(80), .milliseconds(500)].randomElement(using: &random)
            ?? .zero
        // A lease needs a few round trips within the limit.
        latencyMax = min(latencyMax, silenceLimit / 5)
        syncMax = [.milliseconds(1), .milliseconds(8), .milliseconds(60)].randomElement(using: &random) ?? .zero
        outboxEntriesMax = [12, 64, 1024].randomElement(using: &random) ?? 64
        inboxWindow = [4, 40, 400].randomElement(using: &random) ?? 40
        capacity = Int.random(in: 3...8, using: &random)
        pipeMax = [20, 200, 1000].randomElement(using: &random) ?? 200
        sessionRetention =
            [silenceLimit / 2, silenceLimit * 3 / 2, .seconds(600)].randomElement(using: &random) ?? .seconds(600)
        failureShare = [0, 0.1, 0.4].randomElement(using: &random) ?? 0
        drainMax = [2, 8, 1024].randomElement(using: &random) ?? 8
        snapshotInterval = [40, 120, 360].randomElement(using: &random) ?? 120
        hasStateHashes = random.fraction() < 0.3
        hasShadow = random.fraction() < 0.3
        hasReplays = faults.contains(.replay) || faults.contains(.earlierSession)
        buildReplacedAt = UInt64(random.fraction() * Double(UInt64(faultPhase.wholeNanoseconds)))
        for simplification in scenario.simpler { simplify(simplification) }
    }

    /// Adds observers, and draws the sizes of state messages. It has a separate generator, so that nothing else depends on it.
    /// - Parameters:
    ///   - count: the number of observers.
    ///   - sections: the number of sections that can be followed.
    ///   - parts: the limits of messages, and of the parts of a state. Nil is the shipped limit.
    mutating func addObservers(_ count: Int, _ scenario: Scenario, sections: Int, parts: [Int?]) {
        if scenario.simpler.contains(.noObservers) { return }
        var dice = SeededRandom(seed: scenario.seed ^ 0x6f62_7365_7276_6572)
        for _ in 0..<count { observers.append(Self.drawObserver(&dice, sections: sections)) }
        if let bytes = (parts.randomElement(using: &dice) ?? nil) {
            stateBytesMax = dice.fraction() < 0.5 ? 0 : nil
            statePartBytes = bytes
        }
    }

    /// Makes some loops end: at any time, when the faults end, or right after. It has a separate generator, so that nothing else
    /// depends on it.
    mutating func addEnd(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x656e_6473)
        guard !scenario.simpler.contains(.noEnd), dice.fraction() < 0.25 else { return }
        let shares: [ClosedRange<Double>] = [0...1, 0...1, 0...1, 0.97...1, 1...1.03]
        let share = Double.random(in: shares.randomElement(using: &dice) ?? 0...1, using: &dice)
        var end = End(
            at: UInt64(share * Double(UInt64(faultPhase.wholeNanoseconds))), isByEffects: dice.fraction() < 0.3)
        let kinds: [Fault?] = [nil, nil, .crash, .crash, .powerLoss, .restart, .restored, .reducerFreeze, .failingDisk]
        let after = dice.fraction() < 0.3 ? 0 : UInt64.random(in: 0...1_500_000_000, using: &dice)
        if let kind = kinds.randomElement(using: &dice) ?? nil { end.fault = (kind, after) }
        if candidateCount > 0 {
            // A fault that loses records does not apply to a database.
            if end.fault?.kind == .restored || end.fault?.kind == .powerLoss { end.fault?.kind = .crash }
            if end.fault?.kind == .restart { end.fault?.kind = .stepDown }
        }
        self.end = end
    }

    /// Draws the number of sessions, and the largest size of a message. It has a separate generator, so that nothing else depends
    /// on it.
    mutating func addLimits(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6c69_6d69_7473)
        payloadBytesMax = [nil, nil, 40, 100, 400].randomElement(using: &dice) ?? nil
        guard dice.fraction() < 0.3 else { return }
        // The living processes, and those that come when the loop has ended. The sessions of ended processes must make space for
        // them.
        let living = workerCount + clientCount + observers.count
        sessionsMax = living + (end == nil ? 1 : 2 + observers.count) + Int.random(in: 0...2, using: &dice)
        sessionRetention = min(sessionRetention, .seconds(10))
    }

    /// Draws whether clients keep an outbox file. It has a separate generator, so that nothing else depends on it.
    mutating func addOutboxFiles(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6f75_7462_6f78)
        hasOutboxFiles = dice.fraction() < 0.5
    }

    /// Draws whether turns overlap, as in a node. It has a separate generator, so that nothing else depends on it.
    mutating func addOverlap(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6f76_6572_6c61_70)
        if !hasKeys, !isUnguarded, dice.fraction() < 0.5 { turnsMax = 4 }
    }

    /// Gives the reducer and every process keys, and adds hostile processes and changes of keys to the faults. No copy of the
    /// journal is put back. It does not have the owners of the newer sessions, so no peer's report of the loss would be believed.
    /// An operator would have to start the peers again. Turns do not overlap, because they are judged one by one.
    mutating func addKeys() {
        hasKeys = true
        turnsMax = 1
        sessionsMax = 10_000
        faults.removeAll { $0 == .copy || $0 == .restored }
        if end?.fault?.kind == .restored { end?.fault = nil }
        for fault in [Fault.hostile, .keysChanged] where !faults.contains(fault) {
            faults.append(fault)
            faultsPerSecond += fault.perSecond
        }
    }

    private static func drawObserver(_ dice: inout SeededRandom, sections: Int) -> Watched {
        var watched = Watched(
            [.full, .delta, .delta, .delta, .delta, .both, .transitions].randomElement(using: &dice) ?? .full)
        watched.share = [0, 0, 0.3, 0.95].randomElement(using: &dice) ?? 0
        let section = Int.random(in: -1...1, using: &dice)
        if section >= 0, section < sections, watched.mode == .full || watched.mode == .delta {
            watched.section = section
        }
        watched.interval = [0, 0, 200, 1500].randomElement(using: &dice) ?? 0
        let damage = dice.fraction()
        if watched.dependsOnTheLast, damage < 0.4 { watched.damageShare = 0.2 + damage * 1.5 }
        return watched
    }

    private mutating func simplify(_ simplification: Scenario.Simplification) {
        switch simplification {
        case .oneClient: clientCount = min(1, clientCount)
        case .oneWorker: workerCount = min(1, workerCount)
        case .noFailures: failureShare = 0
        case .noGarbage: garbageShare = 0
        case .fastNetwork: latencyMax = .milliseconds(1)
        case .fastDisk: syncMax = .milliseconds(1)
        case .fewEvents: eventsPerSecond = 10
        case .noObservers, .noEnd: break
        }
    }

    /// One of the plan's faults. Frequent faults are drawn more often.
    func drawFault(_ dice: inout SeededRandom) -> Fault {
        var share = dice.fraction() * faults.map { perSecond($0) }.reduce(0, +)
        for fault in faults.dropLast() {
            share -= perSecond(fault)
            if share < 0 { return fault }
        }
        return faults[faults.count - 1]
    }

    private func perSecond(_ fault: Fault) -> Double {
        emphasis.isEmpty ? fault.perSecond : emphasis[fault] ?? fault.perSecond
    }

    /// Sets these faults and no others, each with its rate per second.
    mutating func setFaults(_ emphasis: [(fault: Fault, perSecond: Double)]) {
        faults = emphasis.map(\.fault)
        self.emphasis = Dictionary(uniqueKeysWithValues: emphasis.map { ($0.fault, $0.perSecond) })
        faultsPerSecond = emphasis.map(\.perSecond).reduce(0, +)
        hasReplays = faults.contains(.replay) || faults.contains(.earlierSession)
    }

    var syncMaxNanoseconds: UInt64 { UInt64(syncMax.wholeNanoseconds) }
    var durability: Durability { Durability(rawValue: keeping.rawValue) ?? .os }
    var latencyMaxNanoseconds: UInt64 { UInt64(latencyMax.wholeNanoseconds) }
}
