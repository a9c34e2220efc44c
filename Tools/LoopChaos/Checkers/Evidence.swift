import LoopExamples
import LoopNode

/// The complete result of a run for the checkers. It consists of plain values, so that tests can plant violations.
struct Evidence: Sendable {
    var schedule: ChaosSchedule
    /// What the clients know of each of their events.
    var clients: [UInt64: ClientOutcome] = [:]
    /// The last state that the reducer reported, or nil if it reported none in time.
    var state: LedgerState?
    /// `state` as JSON, at the seq `seq`.
    var stateJSON = ""
    var seq: UInt64 = 0
    /// The pages, by deposit.
    var pages: [UInt64: [LedgerPage.Line]] = [:]
    /// The result of the worker that holds many effects, or nil if there was none.
    var holding: Holding?
    var samples: [StatusSample] = []
    /// The times from each start of the reducer until it was frozen or ended.
    var reducerLives: [Range<Duration>] = []
    /// The names of peers that held an effect in a sample.
    var working: Set<String> = []
    /// The sum of the reducer's counters over all epochs.
    var counters: [String: UInt64] = [:]
    /// Faults that took effect: signals that reached a process, packets dropped, bytes delayed, messages cut.
    var felt: [FaultKind: Int] = [:]
    var starts: [String: Int] = [:]
    /// The result of a run whose journal is in a database.
    var database: Database?
    /// The result of a replay of the journal, or nil if there is none to replay.
    var replay: Replay?
    /// Processes that ended unexpectedly or with a wrong exit code.
    var unexpected: [String] = []
    /// Log lines of processes about mistakes, traps and damage.
    var complaints: [String] = []
    /// Processes, namespaces and sockets that still exist.
    var leftovers: [String] = []
    /// Parts that could not run here, and why.
    var notRun: [String] = []
    /// Whether a part that could not run is a violation.
    var mustRunAll = false

    /// The result of the effects that the holder holds.
    struct Holding: Equatable, Sendable {
        /// How many were requested.
        var count: Int
        /// How many the holder held after the last fault, as the reducer reported.
        var heldAtEnd = 0
        /// How many remained when none was requested any more, as the reducer reported.
        var leftAtEnd = 0
        /// How often each number was started, for each life of the holder's process.
        var lives: [[UInt64: Int]] = []

        var starts: Int { lives.reduce(0) { $0 + $1.values.reduce(0, +) } }
    }

    /// The result of a database and of the reducers that share it.
    struct Database: Sendable {
        var batches: [Batch] = []
        /// The state that each reducer reported at the end when it led, as JSON.
        var reducers: [String: String] = [:]
        var reducerCount = 0
        var observers: [String: Observed] = [:]
        /// How often another server became the primary.
        var failovers = 0

        /// How many terms have written a row.
        var terms: Int { Set(batches.map(\.term)).count }
    }

    /// A row of the journal.
    struct Batch: Sendable {
        var term: Int64
        var positions: (first: Int64, last: Int64)
        var seqs: (first: Int64, last: Int64)
    }

    /// The states that one observer got.
    struct Observed: Equatable, Sendable {
        /// The seq of the newest state.
        var seq: UInt64 = 0
        var stateJSON = ""
        /// A short form of each state, by its seq.
        var digests: [UInt64: Int] = [:]
        /// Violations: states that came after newer ones.
        var stepsBack: [String] = []
    }

    /// The replay of the journal at rest by the reducer's program.
    struct Replay: Equatable, Sendable {
        var verify: ProcessExit
        var verifyText: String
        /// The state that it replays to, as JSON.
        var stateJSON: String
    }
}

/// A violation of a check.
package struct Violation: Equatable, Sendable, CustomStringConvertible {
    /// The check that it violates.
    package let check: String
    package let what: String

    package var description: String { "\(check): \(what)" }
}

/// One check of a run.
struct Check: Sendable {
    let name: String
    let find: @Sendable (Evidence) -> [String]

    func violations(in evidence: Evidence) -> [Violation] {
        let found = find(evidence)
        let shown = found.prefix(10).map { Violation(check: name, what: $0) }
        let more = found.count - shown.count
        return more > 0 ? shown + [Violation(check: name, what: "and \(more) more like it")] : shown
    }

    /// All checks.
    static let all: [Check] = [
        .confirmedIsAppliedOnce, .everySenderWasTold, .nothingStale, .oneAttemptAtATime, .everyEffectCompleted,
        .bookingsAgreeWithThePages, .theReplayIsTheSame, .throughput, .everyKindOfFault, .everyWorkerWorks,
        .processesDoAsTold,
        .heldEffectsStay, .oneLeaderForEachSeq, .reducersAgree, .observersAgree, .nobodyComplains, .nothingIsLeft,
        .allParts,
    ]
}
