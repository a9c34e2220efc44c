import LoopCore

/// The faults that the simulator's own loop meets. If several rare faults must coincide for a rule to matter, a mix has only those,
/// and more often.
package enum FaultMix: String, CaseIterable, Sendable, CustomStringConvertible {
    /// All faults. Each seed draws the kinds and how often each occurs.
    case all
    /// Sessions that are given up and opened again, and late messages of the earlier ones.
    case sessions
    /// Losses of a journal's end that no peer notices, while workers are away.
    case losses
    /// Workers that do not claim their attempts at first.
    case claims
    /// Journals that are restored from a copy.
    case copies
    /// Sessions whose numbers another process uses: forged batches, and outbox files that are restored from a copy.
    case impostors
    /// Clients that keep outbox files, and leave or die all the time. Others continue with the files.
    case outboxes
    /// Slow disks, and more events than they can write. Nothing is lost.
    case slowness
    /// Peers that do not read for a while, many commands for them, and many peers that fetch the state.
    case floods
    /// Events that end the process, in turns with other events.
    case poison
    /// Four turns that wait for a slow disk, one behind the other, while the process is killed and appends fail.
    case overlap
    /// One to three processes of the reducer on one database. They are killed, frozen and cut off, and the database fails too. Some
    /// loops have timers, and some reducers keys.
    case standbys
    /// A loop with timers, whose reducer is killed and started again, and whose clock is set.
    case timers
    /// A reducer with keys. Hostile processes with their own keys try everything that these do not allow. Keys are removed and
    /// changed all the time.
    case keys
    /// A reducer without keys. Hostile processes try everything. The reducer must continue, within its limits and according to its
    /// journal.
    case strangers

    package var description: String { rawValue }

    /// Whether the reducer of a run has keys.
    func hasKeys(_ scenario: Scenario) -> Bool {
        switch self {
        case .keys: true
        case .all: scenario.seed % 4 == 1
        case .standbys: scenario.seed % 4 == 3
        default: false
        }
    }

    func shape(_ plan: inout SimulationPlan, _ scenario: Scenario) {
        var dice = SeededRandom(seed: scenario.seed ^ 0x6d69_7865_7300)
        switch self {
        case .all: return
        case .sessions:
            plan.sessionRetention = plan.silenceLimit / 2
            plan.setFaults([
                (.earlierSession, 1), (.partition, 0.3), (.freeze, 0.3), (.lostCollector, 0.1), (.burst, 0.3),
            ])
        case .losses:
            plan.keeping = .os
            plan.silenceLimit = .milliseconds(800)
            plan.latencyMax = min(plan.latencyMax, plan.silenceLimit / 5)
            plan.sessionRetention = .seconds(600)
            plan.setFaults([
                (.quietLoss, 0.5), (.partition, 0.7), (.freeze, 0.2), (.crash, 0.1), (.powerLoss, 0.1), (.burst, 0.2),
                (.kill, 0.05),
            ])
        case .claims:
            plan.keeping = dice.fraction() < 0.5 ? .os : .fsync
            plan.sessionRetention = .seconds(600)
            plan.setFaults([(.forgetfulClaim, 0.3), (.kill, 0.1), (.partition, 0.2), (.crash, 0.05), (.burst, 0.2)])
        case .impostors:
            plan.keeping = .fsync
            plan.sessionRetention = .seconds(600)
            plan.setFaults([(.forgedBatch, 0.4), (.copiedOutbox, 0.6), (.kill, 0.05)])
        case .outboxes:
            plan.hasOutboxFiles = true
            plan.clientCount = 2
            plan.sessionRetention = .seconds(600)
            plan.latencyMax = plan.silenceLimit / 5
            plan.setFaults([(.stop, 1), (.kill, 1), (.dealer, 0.3), (.partition, 0.1), (.burst, 0.3), (.crash, 0.05)])
        case .floods:
            plan.workerCount = 1
            plan.inboxWindow = 4
            plan.capacity = 8
            // A queue of eight, because the effects of one worker make at most fifteen commands.
            plan.commandsBase = 8 - 4 * plan.capacity
            plan.silenceLimit = .seconds(3)
            plan.eventsPerSecond = 720
            plan.transfersMax = 1
            plan.sessionRetention = plan.silenceLimit * 3 / 2
            plan.setFaults([(.freeze, 0.3), (.dealer, 1), (.burst, 0.3), (.subscription, 0.2), (.partition, 0.1)])
        case .poison:
            plan.keeping = .fsync
            plan.drainMax = 1024
            plan.deferredBatchesMax = dice.fraction() < 0.5 ? 2 : 64
            plan.setFaults([
                (.poison, 0.3), (.crashInReduction, 0.3), (.reducerFreeze, 0.1), (.slowDisk, 0.5),
                (.administration, 0.1),
            ])
        case .slowness:
            plan.keeping = .fsync
            plan.silenceLimit = .seconds(3)
            plan.sessionRetention = .seconds(600)
            plan.outboxEntriesMax = 1024
            plan.eventsPerSecond = 180
            plan.pipeMax = 1000
            plan.drainMax = 8
            plan.slowAppendMax = .milliseconds(1500)
            plan.losesNothing = true
            plan.setFaults([(.slowDisk, 0.7), (.clockSet, 0.1)])
        case .standbys:
            plan.candidateCount = [1, 2, 2, 3, 3, 3].randomElement(using: &dice) ?? 2
            plan.turnsMax = dice.fraction() < 0.8 ? 4 : 1
            plan.hasWarmStandbys = dice.fraction() < 0.6
            plan.hasTimers = dice.fraction() < 0.4
            plan.keeping = .fsync
            plan.sessionRetention = .seconds(600)
            plan.setFaults([
                (.crash, 0.1), (.reducerFreeze, 0.12), (.stepDown, 0.05), (.lostConnection, 0.3), (.candidateCut, 0.08),
                (.isolation, 0.1), (.databaseAway, 0.04), (.failover, 0.15), (.stillSource, 0.2), (.slowDisk, 0.3),
                (.partition, 0.1),
                (.kill, 0.05), (.freeze, 0.05), (.burst, 0.2), (.push, 0.2), (.dealer, 0.2), (.stop, 0.03),
                (.administration, 0.1), (.clockSet, 0.05), (.failingDisk, 0.1), (.subscription, 0.1), (.replay, 0.1),
                (.deadSubscription, 0.03), (.deadPush, 0.03), (.lostCollector, 0.02),
            ])
        case .overlap:
            plan.turnsMax = 4
            plan.keeping = dice.fraction() < 0.8 ? .fsync : .os
            plan.syncMax = .milliseconds(60)
            plan.drainMax = 2
            plan.setFaults([
                (.slowDisk, 1), (.failingDisk, 0.2), (.fullDisk, 0.05), (.crash, 0.2), (.crashInReduction, 0.1),
                (.restart, 0.05), (.kill, 0.1), (.burst, 0.3), (.push, 0.3), (.dealer, 0.3), (.poison, 0.05),
                (.partition, 0.1), (.administration, 0.1), (.copy, 0.05), (.restored, 0.02),
            ])
        case .keys:
            plan.sessionRetention = dice.fraction() < 0.5 ? .seconds(600) : plan.silenceLimit * 3 / 2
            plan.setFaults([
                (.hostile, 3), (.keysChanged, 0.3), (.crash, 0.1), (.partition, 0.1), (.freeze, 0.05), (.kill, 0.1),
                (.dealer, 0.2), (.push, 0.2), (.burst, 0.2), (.stop, 0.05),
            ])
        case .strangers:
            plan.keeping = .fsync
            plan.isUnguarded = true
            plan.sessionsMax = 12
            let acts = HostileAct.allCases.shuffled(using: &dice)
            plan.hostileActs = Array(acts.prefix(Int.random(in: 4...acts.count, using: &dice)))
            plan.sessionRetention = min(plan.sessionRetention, .seconds(10))
            plan.setFaults([(.hostile, 6), (.crash, 0.1), (.kill, 0.1), (.dealer, 0.2), (.push, 0.2), (.burst, 0.2)])
        case .timers:
            plan.hasTimers = true
            if plan.keeping == .memory { plan.keeping = .fsync }
            plan.setFaults([
                (.clockSet, 0.2), (.crash, 0.15), (.crashInReduction, 0.1), (.restart, 0.1), (.powerLoss, 0.05),
                (.reducerFreeze, 0.1), (.failingDisk, 0.05), (.slowDisk, 0.1), (.damagedSnapshot, 0.05), (.poison, 0.1),
                (.administration, 0.1), (.kill, 0.1), (.burst, 0.2), (.copy, 0.05), (.restored, 0.03),
            ])
        case .copies:
            if plan.keeping == .memory { plan.keeping = .fsync }
            plan.setFaults([
                (.copy, 0.15), (.restored, 0.08), (.crash, 0.1), (.freeze, 0.2), (.partition, 0.2), (.kill, 0.1),
            ])
        }
    }
}
