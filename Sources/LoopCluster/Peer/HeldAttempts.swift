import LoopCollections
package import LoopCore
package import LoopWire

/// The attempts that a peer has, and what starts, updates and cancels them. (Protocol, sections 4 and 5.)
///
///     start ──▶ running ── its body ends ──▶ finished ── its last entry is settled ──▶ gone
///                  └── cancelled, or refused for the attempt ────────────────────────────▲
struct HeldAttempts: Sendable {
    private(set) var running = HashTable<EffectID, RunningAttempt>()
    /// Attempts that have ended here and whose last entry is not settled.
    private var finished = HashTable<FinishedAttempt, Void>()
    /// How many claims were made.
    private var claimsCount: UInt64 = 0

    /// What to do with a new attempt.
    enum Start {
        /// Run its body.
        case run
        /// Hand it back when time passes, because the process is to stop. It may be cancelled by then.
        case handBack
        /// Ignore it, because the loop has ended and the message is late. The reducer has released everything, or gets it back
        /// with the goodbye.
        case ignore
    }

    /// Whether this attempt runs here.
    func runs(_ effect: EffectID, _ attempt: Attempt) -> Bool { running[effect]?.attempt == attempt }

    /// The attempts that run here, in the order of their effects.
    var inOrder: [(effect: EffectID, attempt: Attempt)] {
        running.map { ($0.key, $0.value.attempt) }.sorted { $0.effect < $1.effect }
    }

    // MARK: From the reducer

    mutating func apply(
        _ commands: CommandRun, _ start: Start, _ rules: BrokenRules, _ actions: inout [PeerAction]
    ) {
        // By index: an iterator of a type that is not public costs an allocation.
        for index in commands.startIndex..<commands.endIndex { apply(commands[index], start, rules, &actions) }
    }

    @inline(__always)
    private mutating func apply(
        _ command: Command, _ start: Start, _ rules: BrokenRules, _ actions: inout [PeerAction]
    ) {
        switch command {
        case .start(let grant): begin(grant, start, rules, &actions)
        case .update(let effect, let attempt, let version, let request):
            update(effect, attempt, version, request, rules, &actions)
        case .cancel(let effect, let attempt): cancel(effect, upTo: attempt, &actions)
        }
    }

    /// Applies the whole assignment, after which nothing else runs here.
    /// - Parameter isFirst: whether it is the first of an epoch.
    mutating func apply(
        _ grants: [Grant], isFirst: Bool, _ start: Start, _ rules: BrokenRules, _ actions: inout [PeerAction]
    ) {
        var wanted: [EffectID: Attempt] = [:]
        for grant in grants { wanted[grant.effect] = grant.attempt }
        for (effect, attempt) in inOrder where wanted[effect] != attempt { cancel(effect, upTo: attempt, &actions) }
        for grant in grants {
            guard let index = running.index(forKey: grant.effect) else {
                begin(grant, start, rules, &actions)
                continue
            }
            // An epoch's first assignment follows the journal. A newer request may come from records that the journal has lost.
            if isFirst, running[at: index].version > grant.version { running[at: index].version = .initial }
            update(grant.effect, grant.attempt, grant.version, grant.request, rules, &actions)
        }
    }

    @inline(__always)
    private mutating func begin(
        _ grant: Grant, _ start: Start, _ rules: BrokenRules, _ actions: inout [PeerAction]
    ) {
        if start == .ignore { return }
        let key = FinishedAttempt(effect: grant.effect, attempt: grant.attempt)
        if finished.contains(key) && !rules.contains(.finishedAttemptsAreRemembered) { return }
        if let current = running[grant.effect] {
            if current.attempt >= grant.attempt { return }
            cancel(grant.effect, upTo: current.attempt, &actions)
        }
        running.updateValue(RunningAttempt(attempt: grant.attempt, version: grant.version), forKey: grant.effect)
        if start == .run { actions.append(.run(grant)) }
    }

    private mutating func update(
        _ effect: EffectID, _ attempt: Attempt, _ version: Seq, _ request: [UInt8], _ rules: BrokenRules,
        _ actions: inout [PeerAction]
    ) {
        guard let current = running[effect], current.attempt == attempt,
            current.version < version || rules.contains(.updatesAreNewer)
        else { return }
        running[effect]?.version = version
        actions.append(.update(effect, attempt, request: request))
    }

    private mutating func cancel(_ effect: EffectID, upTo attempt: Attempt, _ actions: inout [PeerAction]) {
        guard let current = running[effect], current.attempt <= attempt else { return }
        running[effect] = nil
        actions.append(.stop(effect, current.attempt))
    }

    mutating func cancelAll(_ actions: inout [PeerAction]) {
        for (effect, attempt) in inOrder { actions.append(.stop(effect, attempt)) }
        running = HashTable()
    }

    /// Cancels and forgets all attempts, because the session is gone.
    mutating func loseSession(_ actions: inout [PeerAction]) {
        cancelAll(&actions)
        finished.removeAll()
    }

    // MARK: From the effects

    /// Takes note that the body of an attempt that runs here has ended.
    mutating func end(_ effect: EffectID, _ attempt: Attempt) {
        running[effect] = nil
        finished.updateValue((), forKey: FinishedAttempt(effect: effect, attempt: attempt))
    }

    /// Takes note of the outcome of an effect's entry. A refusal of its effect ends the attempt here too. A refusal of the
    /// entry's bytes does not, because the reducer still counts on this attempt.
    mutating func settle(_ entry: EntryHead, _ outcome: EntryOutcome, _ actions: inout [PeerAction]) {
        guard entry.hasEffect else { return }
        if entry.endsTheBody {
            finished.removeValue(forKey: FinishedAttempt(effect: entry.effect, attempt: entry.attempt))
        }
        if outcome.endsTheAttempt, runs(entry.effect, entry.attempt) {
            cancel(entry.effect, upTo: entry.attempt, &actions)
        }
    }

    // MARK: Claims

    /// A claim of every attempt that runs or has entries in the outbox. It has its own number, so that parts of two claims are
    /// not mixed.
    mutating func nextClaim(bytesMax: Int, _ rules: BrokenRules) -> [ClaimPart] {
        claimsCount += 1
        var claims = running.map { ClaimedAttempt(effect: $0.key, attempt: $0.value.attempt) }
        if !rules.contains(.claimsIncludeTheOutbox) {
            claims += finished.map { ClaimedAttempt(effect: $0.key.effect, attempt: $0.key.attempt) }
        }
        claims.sort { ($0.effect, $0.attempt) < ($1.effect, $1.attempt) }
        return ClaimPart.parts(
            of: claims, number: claimsCount, bytesMax: rules.contains(.messagesComeInParts) ? .max : bytesMax)
    }
}

/// An attempt that runs here.
package struct RunningAttempt: Equatable, Sendable {
    package let attempt: Attempt
    /// The version of its newest request.
    package internal(set) var version: Seq
}

/// An attempt that has ended here, until its last entry is settled.
private struct FinishedAttempt: MixedKey, Sendable {
    let effect: EffectID
    let attempt: Attempt

    /// A hash of two IDs that the reducer assigns.
    var mixed: UInt64 { Mix.finish(effect.mixed &+ attempt.epoch &* 31 &+ attempt.count) }
}

extension EntryOutcome {
    /// Whether the reducer has given up the attempt whose entry got this outcome.
    fileprivate var endsTheAttempt: Bool {
        switch self {
        case .refused(.stale), .refused(.attempt), .refused(.ended): true
        case .refused, .applied: false
        }
    }
}

/// The newest progress of each attempt. A report leaves with a heartbeat if it differs from the one before. A lost report is
/// not repeated, because a newer one follows.
struct ProgressReports: Sendable {
    private var newest: [EffectID: AttemptProgress] = [:]
    /// The effects with a report that was not sent yet.
    private var untold: Set<EffectID> = []

    var isEmpty: Bool { newest.isEmpty }

    mutating func note(_ report: AttemptProgress) {
        guard newest[report.effect] != report else { return }
        newest[report.effect] = report
        untold.insert(report.effect)
    }

    /// Marks all reports as not sent, for a reducer that knows none of them.
    mutating func begin() { untold = Set(newest.keys) }

    /// Takes the reports to be sent now, in parts of at most a number of bytes. Reports of attempts that no longer run are dropped.
    mutating func take(bytesMax: Int, runs: (EffectID, Attempt) -> Bool) -> [[AttemptProgress]] {
        if newest.isEmpty { return [] }
        newest = newest.filter { runs($0.key, $0.value.attempt) }
        let reports = untold.sorted().compactMap { newest[$0] }
        untold.removeAll(keepingCapacity: true)
        let size = max(1, bytesMax / AttemptProgress.byteCountMax)
        return stride(from: 0, to: reports.count, by: size).map { Array(reports[$0..<min($0 + size, reports.count)]) }
    }
}
