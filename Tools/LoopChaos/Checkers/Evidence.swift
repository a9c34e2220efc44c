import LoopExamples
import LoopNode

/// Everything that a run leaves for the checkers. Plain values: what is planted in them is found, or a test fails.
struct Evidence: Sendable {
    var schedule: ChaosSchedule
    /// What the clients know of each of their events.
    var clients: [UInt64: ClientOutcome] = [:]
    /// The last state that the reducer reported; nil if it reported none in time.
    var state: LedgerState?
    /// The same as JSON of a state of this seq.
    var stateJSON = ""
    var seq: UInt64 = 0
    /// The pages, by deposit.
    var pages: [UInt64: [LedgerPage.Line]] = [:]
    /// Of the worker that holds many effects; nil: there was none.
    var holding: Holding?
    var samples: [StatusSample] = []
    /// When the reducer was started again, and when it was frozen or ended next.
    var reducerLives: [Range<Duration>] = []
    /// The reducer's counters, of all epochs together.
    var counters: [String: UInt64] = [:]
    /// Faults that took effect: signals that reached a process, packets dropped, bytes delayed, messages cut.
    var felt: [FaultKind: Int] = [:]
    var starts: [String: Int] = [:]
    /// Of a run whose journal is in a database.
    var database: Database?
    /// What replaying the journal said; nil where there is none to replay.
    var replay: Replay?
    /// Processes that ended by themselves or not as they should.
    var unexpected: [String] = []
    /// What processes wrote of mistakes, traps and damage.
    var complaints: [String] = []
    /// Processes, namespaces, sockets that are still there.
    var leftovers: [String] = []
    /// Parts that could not run here, and why.
    var notRun: [String] = []
    /// Whether a part that could not run is a violation.
    var mustRunAll = false

    /// What became of the effects that are held.
    struct Holding: Equatable, Sendable {
        /// How many were asked for.
        var count: Int
        /// How many the holder held after the last fault, as the reducer said.
        var heldAtEnd = 0
        /// How many were there when none was wanted any more, as the reducer said.
        var leftAtEnd = 0
        /// How often each number was started, of each life of the holder's process.
        var lives: [[UInt64: Int]] = []

        var starts: Int { lives.reduce(0) { $0 + $1.values.reduce(0, +) } }
    }

    /// What a database and those who share it have left.
    struct Database: Sendable {
        var batches: [Batch] = []
        /// The state that each reducer told at the end when it led, as JSON.
        var reducers: [String: String] = [:]
        var reducerCount = 0
        var observers: [String: Observed] = [:]
        /// How often another server became the primary.
        var failovers = 0

        /// How many terms have written something.
        var terms: Int { Set(batches.map(\.term)).count }
    }

    /// A row of the journal.
    struct Batch: Sendable {
        var term: Int64
        var positions: (first: Int64, last: Int64)
        var seqs: (first: Int64, last: Int64)
    }

    /// What one observer was shown.
    struct Observed: Equatable, Sendable {
        /// Of the newest state.
        var seq: UInt64 = 0
        var stateJSON = ""
        /// A short form of each state, by its seq.
        var digests: [UInt64: Int] = [:]
        /// What must not be.
        var stepsBack: [String] = []
    }

    /// What the reducer's program made of the journal at rest.
    struct Replay: Equatable, Sendable {
        var verify: ProcessExit
        var verifyText: String
        /// The state that it replays to, as JSON.
        var stateJSON: String
    }
}

/// A violation of a check.
public struct Violation: Equatable, Sendable, CustomStringConvertible {
    /// The check that it violates.
    public let check: String
    public let what: String

    public var description: String { "\(check): \(what)" }
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

    /// All of them.
    static let all: [Check] = [
        .confirmedIsAppliedOnce, .everySenderWasTold, .nothingStale, .oneAttemptAtATime, .everyEffectCompleted,
        .bookingsAgreeWithThePages, .theReplayIsTheSame, .throughput, .everyKindOfFault, .processesDoAsTold,
        .heldEffectsStay, .oneLeaderForEachSeq, .reducersAgree, .observersAgree, .nobodyComplains, .nothingIsLeft,
        .allParts,
    ]
}
