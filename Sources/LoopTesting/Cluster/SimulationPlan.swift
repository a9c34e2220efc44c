import LoopCluster
package import LoopCore

/// What one seed draws: the cluster's size and limits, and which faults come how often (swarm testing, Groce 2012: each
/// run leaves out some kinds, so that none hides another).
package struct SimulationPlan: Sendable {
    /// What an observer follows, and when it comes.
    package struct Watched: Sendable {
        package enum Mode: String, CaseIterable, Sendable { case full, delta, events, transitions, both }

        package var mode: Mode
        /// The position of the section that it follows; nil: all of the state.
        package var section: Int?
        /// Milliseconds between two updates, at least.
        package var interval: UInt32 = 0
        /// When it comes, as a share of the time in which there are faults.
        package var share: Double = 0
        /// When what it knows is damaged in its memory, as such a share; nil: never.
        package var damageShare: Double?

        package init(_ mode: Mode) { self.mode = mode }

        var includesStates: Bool { mode != .transitions }
        var includesTransitions: Bool { mode == .transitions || mode == .both }
        /// Whether a state is made of the one before.
        var dependsOnTheLast: Bool { mode == .delta || mode == .events }
    }

    /// What the journal promises.
    package enum Keeping: String, Sendable { case memory, none, os, fsync }

    package var silenceLimit: Duration
    package var keeping: Keeping
    package var faults: [Fault]
    /// How often some of them come per second, in place of what is usual.
    package var emphasis: [Fault: Double] = [:]
    /// On average, per second.
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
    /// The largest payload of one message of commands, claims and the like, in bytes; nil: as shipped.
    package var payloadBytesMax: Int?
    /// The share of effects' attempts that fail.
    package var failureShare: Double
    /// How many batches the reducer takes in one turn, at most.
    package var drainMax: Int
    /// How many turns may wait for the journal at the same time.
    package var turnsMax = 1
    /// How many records there are between two snapshots.
    package var snapshotInterval: UInt64
    package var hasStateHashes: Bool
    /// Whether no fault loses a message: then little is sent twice.
    package var losesNothing = false
    /// How many batches of the reducer wait while an event is reduced alone, and how many encoded states it keeps of each kind.
    package var deferredBatchesMax = 4
    package var transfersMax = 4
    /// How many commands may wait for a peer, besides four for each effect that it may hold.
    package var commandsBase = 64
    /// How long an append takes that is slow, at most.
    package var slowAppendMax = Duration.seconds(3)
    /// Whether every record is applied to a second state as it comes. That costs as much as the reducer's own state does.
    package var hasShadow: Bool
    /// Whether messages of the past are kept to come again.
    package var hasReplays: Bool
    /// The first start after this virtual time is one of a build that takes every event.
    package var buildReplacedAt: UInt64
    /// What the observers follow, and when they come.
    package var observers: [Watched] = []
    /// The largest state that is published whole, and the parts in which a larger one is fetched, in bytes; nil: as shipped.
    package var stateBytesMax: Int?
    package var statePartBytes: Int?
    /// Whether clients keep an outbox file, with which others go on after them.
    package var hasOutboxFiles = false
    /// The share of payloads that no event can be read from.
    package var garbageShare = 0.02
    /// How the loop ends; nil if it runs for ever.
    package var end: End?
    /// How many processes the reducer has on one database; 0: the journal is a file.
    package var candidateCount = 0
    /// Within what time the leader renews its lease.
    package var lease = Duration.seconds(1)
    /// Whether standbys replay the journal while they wait.
    package var hasWarmStandbys = false
    /// Whether the loop has timers.
    package var hasTimers = false
    /// Whether the reducer has keys, and each process one of them.
    package var hasKeys = false
    /// Whether hostile processes take part in a loop without keys: only the promises that hold there are checked.
    package var isUnguarded = false
    /// What hostile processes try.
    var hostileActs = HostileAct.allCases
    /// Whether there are hostile processes.
    var hasHostiles: Bool { faults.contains(.hostile) }

    /// How a loop ends, and what happens to its reducer then.
    package struct End: Sendable {
        /// From this virtual time on clients ask for it, until they have learned of it.
        package var at: UInt64
        /// Whether effects ask for it too.
        package var isByEffects: Bool
        /// A fault at a time after the journal first has the end; nil for none.
        package var fault: (kind: Fault, after: UInt64)?
    }

    /// What a seed draws of these faults.
    /// - Returns: with the generator as it is after it.
    package static func drawn(_ scenario: Scenario, _ faults: Faults) -> (SimulationPlan, SeededRandom) {
        var random = SeededRandom(seed: scenario.seed)
        let plan = SimulationPlan(&random, scenario, faults)
        return (plan, random)
    }

    private init(_ random: inout SeededRandom, _ scenario: Scenario, _ allowed: Faults) {
        silenceLimit = [.milliseconds(800), .milliseconds(3000)].randomElement(using: &random) ?? .seconds(1)
        keeping =
            [.memory, .memory, .none, .os, .fsync, .fsync, .fsync, .fsync, .fsync].randomElement(using: &random)
            ?? .fsync
        let count = Int.random(in: min(3, allowed.kinds.count)...allowed.kinds.count, using: &random)
        faults = Array(allowed.kinds.shuffled(using: &random).prefix(count))
        let rarity: Double = [0.7, 1.5, 3].randomElement(using: &random) ?? 1
        faultsPerSecond = allowed.rate * rarity * faults.map(\.perSecond).reduce(0, +)
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

    /// Adds observers, and draws how large a state is for its messages. Has a generator of its own, so that nothing else
    /// depends on it.
    /// - Parameters:
    ///   - count: how many.
    ///   - sections: how many sections there are to be followed.
    ///   - parts: limits of messages, and of the parts of a state; nil: as shipped.
    mutating func addObservers(_ count: Int, _ scenario: Scenario, sections: Int, parts: [Int?]) {
        if scenario.simpler.contains(.noObservers) { return }
        var dice = SeededRandom(seed: scenario.seed ^ 0x6f62_7365_7276_6572)
        for _ in 0..<count { observers.append(Self.drawObserver(&dice, sections: sections)) }
        if let bytes = (parts.randomElement(using: &dice) ?? nil) {
            stateBytesMax = dice.fraction() < 0.5 ? 0 : nil
            statePartBytes = bytes
        }
    }

    /// Has some loops end: at any time, when the faults end, or right after. Has a generator of its own, so that nothing else
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
            // What loses records does not hit a database.
            if end.fault?.kind == .restored || end.fault?.kind == .powerLoss { end.fault?.kind = .crash }
            if end.fault?.kind == .restart { end.fault?.kind = .stepDown }
        }
        self.end = end
    }

    /// Draws how many sessions there may be, and how large a message. Has a generator of its own, so that nothing else depends on
    /// it.
    mutating func addLimits(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6c69_6d69_7473)
        payloadBytesMax = [nil, nil, 40, 100, 400].randomElement(using: &dice) ?? nil
        guard dice.fraction() < 0.3 else { return }
        // The living processes, and those that come when the loop has ended. Sessions that others left must make room.
        let living = workerCount + clientCount + observers.count
        sessionsMax = living + (end == nil ? 1 : 2 + observers.count) + Int.random(in: 0...2, using: &dice)
        sessionRetention = min(sessionRetention, .seconds(10))
    }

    /// Draws whether clients keep an outbox file. Has a generator of its own, so that nothing else depends on it.
    mutating func addOutboxFiles(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6f75_7462_6f78)
        hasOutboxFiles = dice.fraction() < 0.5
    }

    /// Draws whether turns overlap, as in a node. Has a generator of its own, so that nothing else depends on it.
    mutating func addOverlap(_ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6f76_6572_6c61_70)
        if !hasKeys, !isUnguarded, dice.fraction() < 0.5 { turnsMax = 4 }
    }

    /// Gives the reducer and every process keys, and adds hostile processes and changes of keys to the faults. No copy of the
    /// journal is put back: it does not show whose the newer sessions were, so no peer's report of the loss would be believed,
    /// and an operator has to start the peers again. Turns do not overlap: they are judged one by one.
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
            [.full, .delta, .delta, .events, .events, .both, .transitions].randomElement(using: &dice) ?? .full)
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

    /// One of the plan's faults, the frequent ones more often.
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

    /// Has these faults and no others, each at this rate per second.
    mutating func setFaults(_ emphasis: [(fault: Fault, perSecond: Double)]) {
        faults = emphasis.map(\.fault)
        self.emphasis = Dictionary(uniqueKeysWithValues: emphasis.map { ($0.fault, $0.perSecond) })
        faultsPerSecond = emphasis.map(\.perSecond).reduce(0, +)
        hasReplays = faults.contains(.replay) || faults.contains(.earlierSession)
    }

    var syncMaxNanoseconds: UInt64 { UInt64(syncMax.wholeNanoseconds) }
    var durability: Durability { Durability(rawValue: keeping.rawValue) ?? .none }
    var latencyMaxNanoseconds: UInt64 { UInt64(latencyMax.wholeNanoseconds) }
}
