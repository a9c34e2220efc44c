import LoopCluster
import LoopCore
import LoopWire

/// G6: at any time one attempt of an effect commits, in order and without gaps. An attempt that was followed by another, or voided,
/// never commits again. No attempt runs twice.
struct OneOwner: Checker {
    static let promise = Promise.oneOwner
    private(set) var checkCount = 0
    private var commits: [EffectID: Commit] = [:]
    private var floors: [EffectID: Attempt] = [:]
    /// Attempts of which an entry was refused: entries after the gap must not commit. An earlier attempt may commit if the records
    /// that voided it are lost.
    private var refused: Set<Run> = []
    private var runs: [Run: Int] = [:]
    /// Attempts that their worker once did not claim. It may have given them up.
    private var forgotten: Set<Run> = []
    private var epoch = Epoch.none
    /// The number of events so far, and their number when each epoch began.
    private var seq: UInt64 = 0
    private var epochs: [(number: UInt64, after: UInt64)] = []
    private var history = History.none
    /// Whether the record that voided an attempt may be lost.
    private var hasLostRecords = false

    private struct Run: Hashable {
        let history: History
        let effect: EffectID
        let attempt: Attempt
    }

    private struct Commit {
        var attempt: Attempt
        var session: SessionID
        /// The position of the next entry of this attempt.
        var next: Int
    }

    mutating func begin(_ history: History) {
        self.history = history
        commits = [:]
        floors = [:]
        refused = []
        seq = 0
        epochs = []
    }

    /// A worker begins an attempt.
    mutating func run(_ grant: Grant, _ history: History, on peer: Int) throws(Violation) {
        checkCount += 1
        let run = Run(history: history, effect: grant.effect, attempt: grant.attempt)
        if let earlier = runs.updateValue(peer, forKey: run) {
            throw Violation(
                .oneOwner,
                "attempt \(grant.attempt) of \(grant.effect) runs on peer \(peer) and ran on peer \(earlier)")
        }
    }

    /// A worker does not claim an attempt that it has.
    mutating func forget(_ history: History, _ effect: EffectID, _ attempt: Attempt) {
        forgotten.insert(Run(history: history, effect: effect, attempt: attempt))
    }

    mutating func lose(_ records: [JournaledRecord]) {
        hasLostRecords = true
        // After an older copy of the journal was put back, the number of an epoch is given again, with another nonce.
        for case .epochBegun(let epoch, _) in records.map(\.record) {
            runs = runs.filter { $0.key.attempt.epoch < epoch.number }
        }
    }

    mutating func follow(_ journaled: JournaledRecord) throws(Violation) {
        switch journaled.record {
        case .event(let event):
            seq = event.seq.value
            if let effect = event.effect { try commit(journaled.entry, effect, event.attempt, event.session) }
        case .completed(let session, _, let effect, let attempt):
            try commit(journaled.entry, effect, attempt, session)
        case .attemptEnded(let end):
            if let entry = end.entry { try commit(journaled.entry, end.effect, end.upTo, entry.session) }
            floors[end.effect] = max(floors[end.effect] ?? .none, end.upTo)
        case .granted(let grants):
            for (index, effect) in grants.effects.enumerated() {
                let attempt = grants.attempt(at: index)
                let earlier = Attempt(epoch: attempt.epoch, count: attempt.count - 1)
                floors[effect] = max(floors[effect] ?? .none, earlier)
            }
        case .refused(let refusal):
            guard let effect = refusal.effect, let entry = journaled.entry else { return }
            if refusal.isForItsBytes {
                // Otherwise the effect would complete without the event.
                checkCount += 1
                if !entry.wantsSeq, !entry.wantsAnswer {
                    throw Violation(
                        .oneOwner,
                        "entry #\(entry.id) of \(effect) is refused (\(refusal.reason)), and its body hears nothing")
                }
                // The entry is refused for its bytes, not for its effect, so the attempt continues after it.
                try commit(entry, effect, entry.attempt, refusal.session)
            } else if refusal.reason == .attempt {
                checkCount += 1
                let run = Run(history: history, effect: effect, attempt: entry.attempt)
                if entry.attempt > floors[effect] ?? .none, !hasLostRecords, !forgotten.contains(run) {
                    throw Violation(
                        .oneOwner, "attempt \(entry.attempt) of \(effect) is refused, but nothing took it away")
                }
                refused.insert(run)
                floors[effect] = max(floors[effect] ?? .none, refusal.attempt)
            }
        case .quarantined(let record):
            if let effect = record.effect { try commit(journaled.entry, effect, record.attempt, record.session) }
        case .epochBegun(let epoch, _):
            self.epoch = epoch
            epochs.append((epoch.number, seq))
        case .historyBegun(let begun, _):
            history = begun
            for effect in commits.keys { floors[effect] = Attempt(epoch: epoch.number, count: .max) }
        case .skipped, .sessionOpened, .sessionOwned, .sessionRetired, .definition, .stateHash, .stateMarked, .markHash,
            .operatorAction, .scheduled:
            break
        }
    }

    private mutating func commit(
        _ entry: SentEntry?, _ effect: EffectID, _ attempt: Attempt, _ session: SessionID
    ) throws(Violation) {
        checkCount += 1
        guard let entry else { return }
        if entry.effect != effect || entry.attempt != attempt {
            throw Violation(.oneOwner, "entry #\(entry.id) of \(entry.attempt) was journaled as of \(attempt)")
        }
        // The attempt was of another effect, which had this one's number in a lost part of the journal.
        if let began = epochs.last(where: { $0.after < effect.seq.value })?.number, attempt.epoch < began {
            throw Violation(
                .oneOwner, "attempt \(attempt) commits for \(effect), which began in epoch \(began)")
        }
        let run = Run(history: history, effect: effect, attempt: attempt)
        if attempt <= floors[effect] ?? .none || refused.contains(run) {
            throw Violation(.oneOwner, "attempt \(attempt) of \(effect) commits, but was taken away")
        }
        var commit = commits[effect] ?? Commit(attempt: attempt, session: session, next: 0)
        if attempt < commit.attempt {
            throw Violation(.oneOwner, "attempt \(attempt) of \(effect) commits after \(commit.attempt)")
        }
        if attempt > commit.attempt { commit = Commit(attempt: attempt, session: session, next: 0) }
        if commit.session != session {
            throw Violation(.oneOwner, "sessions \(commit.session) and \(session) commit \(attempt) of \(effect)")
        }
        if commit.next != entry.index {
            throw Violation(
                .oneOwner,
                "attempt \(attempt) of \(effect) commits its entry \(entry.index), expected \(commit.next)")
        }
        commit.next += 1
        commits[effect] = commit
    }
}

extension RefusalRecord {
    /// Whether the cause is in the entry itself, and not in its effect or its attempt.
    fileprivate var isForItsBytes: Bool { reason == .undecodable || reason == .quarantined || reason == .tooLarge }
}
