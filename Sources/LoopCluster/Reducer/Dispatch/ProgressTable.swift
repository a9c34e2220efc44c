import LoopCollections
import LoopCore
import LoopWire

/// The progress of the running attempts, as their workers have reported it. It is kept in memory alone, and only as long as an
/// attempt owns its effect.
struct ProgressTable: Sendable {
    private var reports: [EffectID: AttemptProgress] = [:]

    var isEmpty: Bool { reports.isEmpty }

    /// Notes what a worker reports of an attempt that it owns.
    mutating func note(_ report: AttemptProgress) { reports[report.effect] = report }

    /// Drops the reports of attempts that do not own their effect any more.
    mutating func prune(_ isOwner: (AttemptProgress) -> Bool) {
        if !reports.isEmpty { reports = reports.filter { isOwner($0.value) } }
    }

    /// The reports in the order of the effects.
    var inOrder: [AttemptProgress] { reports.values.sorted { $0.effect < $1.effect } }
}

extension Dispatch {
    /// Notes what a session reports of an effect, if it owns the attempt.
    mutating func note(
        _ report: AttemptProgress, of session: SessionID, _ effects: HashTable<EffectID, LiveEffect>
    ) {
        guard let place = effects.index(forKey: report.effect), owns(session, report.attempt, place) else { return }
        progress.note(report)
    }

    /// Forgets the progress of attempts that have ended.
    mutating func forgetEndedProgress(_ effects: HashTable<EffectID, LiveEffect>) {
        if progress.isEmpty { return }
        let owners = owners
        progress.prune { report in
            effects.index(forKey: report.effect).flatMap { owners[$0]?.attempt } == report.attempt
        }
    }

    /// The progress of the running attempts, with the session of each.
    func progress(
        _ effects: HashTable<EffectID, LiveEffect>
    ) -> [(report: AttemptProgress, session: SessionID)] {
        if progress.isEmpty { return [] }
        return progress.inOrder.compactMap { report in
            guard let place = effects.index(forKey: report.effect), let owner = owner(at: place),
                owner.attempt == report.attempt
            else { return nil }
            return (report, owner.session)
        }
    }
}
