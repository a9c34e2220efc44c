package import LoopCore

/// What one seed draws: the cluster's size and limits, and which faults come how often (swarm testing, Groce 2012: each
/// run leaves out some kinds, so that none hides another).
package struct SimulationPlan: Sendable {
    package enum Fault: String, CaseIterable, Sendable {
        /// The publisher drops the next few messages for one peer.
        case burst
        /// A PUSH connection is lost: the middle of its queue is gone.
        case push
        /// A SUB connection is lost and made again.
        case subscription
        /// A DEALER connection is lost: both directions are cleared, and it comes back under another routing id.
        case dealer
        /// A SUB that receives nothing until it is made anew.
        case deadSubscription
        /// A PUSH that delivers nothing until it is made anew.
        case deadPush
        /// A PUSH whose messages get lost for a while, also when it is made anew.
        case lostCollector
        /// A process stands still.
        case freeze
        case kill
        /// A worker is asked to go, and another comes.
        case stop
        /// The reducer stands still.
        case reducerFreeze
        case crash
        /// The next append takes long.
        case slowDisk
    }

    package var silenceLimit: Duration
    package var isJournalVolatile: Bool
    package var faults: [Fault]
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
    /// The share of effects' attempts that fail.
    package var failureShare: Double
    /// How many batches the reducer takes in one turn, at most.
    package var drainMax: Int

    package init(_ random: inout SeededRandom) {
        silenceLimit = [.milliseconds(600), .milliseconds(2400)].randomElement(using: &random) ?? .seconds(1)
        isJournalVolatile = random.fraction() < 0.2
        let count = Int.random(in: 1...Fault.allCases.count, using: &random)
        faults = Array(Fault.allCases.shuffled(using: &random).prefix(count))
        faultsPerSecond = [0.5, 2, 5].randomElement(using: &random) ?? 1
        faultPhase = .seconds(12)
        clientCount = Int.random(in: 1...2, using: &random)
        eventsPerSecond = [10, 30, 60].randomElement(using: &random) ?? 10
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
    }
}
