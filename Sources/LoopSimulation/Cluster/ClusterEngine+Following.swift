import LoopCluster
import LoopCore

/// How standbys follow the journal, and which of them leads next.
extension ClusterEngine {
    // MARK: Reading

    /// A standby replays what its server has, or begins again if that does not follow what it has.
    /// - Parameter behind: the records of the leader's server behind the standby's own, or nil if that server lacks the standby's
    ///   newest batch.
    func follow(_ row: JournalRow, _ behind: [Record]?) throws(Violation) {
        guard let database = storage.database else { return }
        let source = candidate.following.source ?? database.view
        let steady = candidate.steady(at: now)
        guard let warm = candidate.warm else { return try beginToFollow(source) }
        let found = candidate.following.source.map { $0.records(behind: warm.end) } ?? behind
        if let found, let rest = WarmState.rest(of: warm.ahead[...], behind: found) {
            let new = found.dropFirst(warm.ahead.count)
            try replay(new)
            candidate.warm?.end = candidate.following.source?.newest ?? row.end
            candidate.warm?.ahead = Array(rest)
            candidate.following.backlog += UInt64(new.count)
            if !new.isEmpty { candidate.following.read(source.lossesCount) }
        } else if found != nil {
            // Another process has appended something else behind the records with a receipt.
            return try beginToFollow(source)
        } else if candidate.following.isCurrent(source, lease: leaseNanoseconds, at: steady)
            || brokenRules.contains(.lossIsTheLeaders)
        {
            checkers.count(.nothingLost)
            // A leader that had the lost records may have appended them again since.
            if database.lossesCount == candidate.following.lossesCount, database.view.records(behind: warm.end) != nil {
                throw Violation(
                    .nothingLost,
                    "candidate \(candidate.index) says that record \(warm.end.position) is lost, which the journal has")
            }
            return try beginToFollow(source)
        } else {
            candidate.following.source = nil
            return
        }
        candidate.following.replay()
        try judge(source, row)
    }

    private func beginToFollow(_ source: JournalView) throws(Violation) {
        candidate.warm = (try recovered(from: source.records[...]), source.newest, [])
        candidate.following.levelSince = nil
        candidate.following.read(source.lossesCount)
        candidate.following.backlog = source.newest.position - min(source.newest.position, newestSnapshot)
    }

    /// Leaves a server that does not advance while the leader does. A standby that is level has all that the leader has.
    private func judge(_ source: JournalView, _ row: JournalRow) throws(Violation) {
        guard let end = candidate.warm?.end, let database = storage.database else { return }
        let steady = candidate.steady(at: now)
        let isBehind = !brokenRules.contains(.lagIsTheLeaders) && !candidate.following.hasAll(source)
        if candidate.following.isStill(isBehind, at: steady) { candidate.following.source = nil }
        guard !isBehind, candidate.following.backlog == 0 else {
            candidate.following.levelSince = nil
            return
        }
        candidate.following.levelSince = candidate.following.levelSince ?? now
        checkers.count(.progress)
        if database.contains(row.end), end.position < row.end.position || !source.contains(row.end) {
            throw Violation(
                .progress,
                "candidate \(candidate.index), at record \(end.position), says that it has all that the leader has, which is"
                    + " at \(row.end.position)")
        }
    }

    /// The index of a standby whose server lacks the journal's newest record, or nil. The standby changes to another server in
    /// time.
    func standbyOfAStillServer() -> Int? {
        guard plan.hasWarmStandbys, let end = storage.database?.row.end else { return nil }
        return candidates.first { candidate in
            candidate.hold.standing == .standingBy && candidate.following.source.map { !$0.contains(end) } ?? false
        }?.index
    }

    /// The server that a standby reads does not advance from now on, and may lack the newest batches.
    func stopSource(_ dice: inout SeededRandom) -> Bool {
        let standbys = candidates.filter { $0.hold.standing == .standingBy }
        guard plan.hasWarmStandbys, let database = storage.database else { return false }
        guard let standby = standbys.randomElement(using: &dice) else { return false }
        // The standby may have reached another server, which lacks what the former one had.
        standby.following.source = database.view(without: Int(now / 1000 % 4))
        return true
    }

    /// Keeps the state of a machine that no longer leads, with the records that have no receipt.
    func keepState() {
        guard let core = process.machine?.journaled, let began = candidate.hold.taken?.end else { return }
        let end = candidate.hold.receipt.position > began.position ? candidate.hold.receipt : began
        let ahead = process.turns.records
        guard core.position == end.position + UInt64(ahead.count) else { return }
        candidate.warm = (core, end, ahead)
        candidate.following.read(nil)
        candidate.following.backlog = 0
    }

    func replay(_ records: some Sequence<Record>) throws(Violation) {
        do {
            for record in records { try candidate.warm?.core.apply(record) }
        } catch {
            throw Violation(.replayIsExact, "candidate \(candidate.index) cannot replay what it reads: \(error)")
        }
    }

    /// The state that an ordinary recovery makes of the journal.
    func recovered() throws(Violation) -> JournaledState {
        guard let disk = storage.disk else { preconditionFailure("a candidate recovers without a journal") }
        do {
            let journal = SimulatedJournal(reading: disk, rules: brokenRules)
            return try Recovery(ran, from: journal, coder: loop.coder, breaking: brokenRules).journaled
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
    }

    /// The state that records make, from the first one on.
    func recovered(from records: ArraySlice<Record>) throws(Violation) -> JournaledState {
        guard let disk = storage.disk else { preconditionFailure("a candidate recovers without a journal") }
        var core = JournaledState(definition: ran, coder: loop.coder, history: disk.history)
        core.brokenRules = brokenRules
        do {
            for record in records { try core.apply(record) }
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
        return core
    }

    // MARK: The next leader

    private var newestSnapshot: UInt64 { storage.disk?.snapshots.first?.entry.position ?? 0 }

    /// How long a candidate leaves a free journal to others, in nanoseconds. It is a time for each record that it has to replay,
    /// and at most two leases. The simulator's journals are short, so the time for a record is longer than in a node.
    private func headStart(_ candidate: Candidate<Ran>, newest: UInt64) -> UInt64 {
        guard plan.hasWarmStandbys else { return 0 }
        let position = candidate.warm.map { $0.end.position - min($0.end.position, candidate.following.backlog) } ?? 0
        let reached = max(position > newest ? 0 : position, min(newestSnapshot, newest))
        return min((newest - reached) * 20_000_000, leaseNanoseconds * 2)
    }

    /// Whether the focused process leaves the free journal to others.
    func leavesToOthers(_ row: JournalRow) -> Bool {
        let steady = candidate.steady(at: now)
        if candidate.following.free?.sign != row.sign { candidate.following.free = (row.sign, steady) }
        if brokenRules.contains(.closestStandbysLead) { return false }
        candidate.following.heard = (row.end, steady)
        return headStart(candidate, newest: row.end.position) > steady - (candidate.following.free?.since ?? steady)
    }

    /// A process takes over from another one. It must not be far behind if a standby is level, and has been for long enough to see
    /// that the journal is free.
    func demandClosest(_ index: Int, holder: UInt64) throws(Violation) {
        let taker = candidates[index]
        guard let newest = storage.database?.row.end.position, taker.hold.holder != holder else { return }
        let look = looksWithin
        checkers.count(.progress)
        guard headStart(taker, newest: newest) > look * 21 / 5 + leaseNanoseconds / 20 else { return }
        let other = candidates.first { other in
            other.index != index && other.hold.standing == .standingBy && headStart(other, newest: newest) == 0
                && now <= other.following.lookedAt + look
                && other.following.levelSince.map { $0 + leaseNanoseconds * 6 / 5 + 5 * look <= now } ?? false
        }
        guard let other else { return }
        throw Violation(
            .progress,
            "candidate \(index) leads, which has much to replay up to record \(newest), and candidate \(other.index) was level"
        )
    }

    /// The time within which a standby reads the row again, unless something stops it, in nanoseconds.
    var looksWithin: UInt64 { 105_000_000 + plan.syncMaxNanoseconds + plan.latencyMaxNanoseconds }
}
