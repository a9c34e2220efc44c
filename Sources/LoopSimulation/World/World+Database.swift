import LoopCluster
import LoopCore

/// The database of the reducer's processes: its statements, its standbys, and which process leads next.
extension World {
    func runStatement(_ number: Int) throws(Violation) {
        guard let database = storage.database else { return }
        let stalled = max(connections[number].stalledUntil, storage.awayUntil)
        if stalled > now { return agenda.note(.statement(Int32(number)), at: stalled) }
        guard let statement = connections[number].nextStatement() else { return }
        let holder = database.row.holder
        let answer = try run(statement, database)
        // A process that has ended was level when it sent its statement, and is so no more.
        if case .taken(_?) = answer, !connections[number].isCut {
            try demandClosest(connections[number].candidate, holder: holder)
        }
        if connections[number].isCut, case .changed(true) = answer { tally.lateChangeCount += 1 }
        let isConfirmed = database.isConfirming || statement.isLook
        guard let time = connections[number].answer(answer, isConfirmed: isConfirmed, arrival: now + latency()) else {
            return
        }
        agenda.note(.answer(Int32(number)), at: time)
    }

    private func run(
        _ statement: DatabaseConnection.Statement, _ database: SimulatedDatabase
    ) throws(Violation) -> DatabaseConnection.Answer {
        switch statement {
        case .look: return .row(database.row)
        case .newest: return .newest(database.disk.newestEnd)
        case .takeOver(let sign, let holder, let address, let nonce):
            return .taken(database.takeOver(sign, by: holder, at: address, nonce: nonce))
        case .append(let batch, let term):
            // The database refuses this append. Those behind it are already on their way.
            if storage.faults.takeFailure(at: now) != nil { return .changed(false) }
            return .changed(try database.append(batch, in: term))
        case .renew(let term): return .changed(database.renew(term))
        case .release(let term): return .changed(database.release(term))
        }
    }

    /// From now on no standby of the database confirms anything.
    func beginFailover(_ dice: inout SeededRandom) -> Bool {
        guard let database = storage.database, database.isConfirming else { return false }
        database.stopConfirming()
        let time = now + between(.milliseconds(20), chance(0.2) ? .seconds(7) : .seconds(2))
        agenda.note(dice.fraction() < 0.6 ? .failover : .confirmation, at: time)
        return true
    }

    /// The database's standbys have confirmed everything. The answers that waited leave.
    func confirm() {
        guard let database = storage.database, !database.isConfirming else { return }
        database.confirm()
        for number in connections.indices {
            for time in connections[number].confirm(arrival: now + latency()) {
                agenda.note(.answer(Int32(number)), at: time)
            }
        }
    }

    /// A standby replaces the database. What it does not have is lost, and nothing may depend on that.
    func failOver() throws(Violation) {
        guard let database = storage.database, !database.isConfirming else { return }
        // Some standbys continue to read the old primary.
        for candidate in candidates where plan.hasWarmStandbys && chance(0.3) {
            candidate.following?.source = database.server()
        }
        let lost = database.failOver()
        say("a standby takes the database's place; it lacks \(lost.count) records")
        checkers.count(.nothingLost)
        let end = database.row.end.position
        if max(storage.notedPosition, storage.toldPosition) > end {
            throw Violation(
                .durableBeforeVisible,
                "record \(max(storage.notedPosition, storage.toldPosition)) was relied on without a receipt: a failover"
                    + " leaves \(end)")
        }
        for candidate in candidates {
            guard let number = candidate.hold.connection else { continue }
            connections[number].cut(running: 0)
            _ = try at(candidate).loseConnection()
        }
    }

    /// The index of a standby whose server lacks the journal's newest record, or nil. The standby changes to another server in
    /// time.
    func standbyOfAStillServer() -> Int? {
        guard plan.hasWarmStandbys, let end = storage.database?.row.end else { return nil }
        return candidates.first { candidate in
            candidate.hold.standing == .standingBy
                && candidate.following?.source.map { $0.end(ofRowAt: end.position) != end } ?? false
        }?.index
    }

    /// The server that a standby reads does not advance from now on, and may lack the newest batches.
    func stopSource(_ dice: inout SeededRandom) -> Bool {
        let standbys = candidates.filter { $0.hold.standing == .standingBy }
        guard plan.hasWarmStandbys, let database = storage.database else { return false }
        guard let standby = standbys.randomElement(using: &dice) else { return false }
        // The standby may have reached another server, which lacks what the former one had.
        standby.following?.source = database.server(without: Int(now / 1000 % 4))
        return true
    }

    var newestSnapshot: UInt64 { storage.disk?.snapshots.first?.entry.position ?? 0 }

    /// How long it takes to replay a record.
    static var replayTime: Duration { .milliseconds(20) }

    /// How many records a candidate has to replay if it leads now.
    private func backlog(_ candidate: Candidate<Ran>, newest: UInt64) -> Int {
        Int(newest - max(candidate.position > newest ? 0 : candidate.position, min(newestSnapshot, newest)))
    }

    /// A process takes over from another one. It must not be far behind if a standby is level, and has been for long enough to see
    /// that the journal is free.
    func demandClosest(_ index: Int, holder: UInt64) throws(Violation) {
        let taker = candidates[index]
        guard plan.hasWarmStandbys, let newest = storage.database?.row.end.position, taker.hold.holder != holder
        else { return }
        let look = looksWithin
        checkers.count(.progress)
        let replay = min(Self.replayTime * backlog(taker, newest: newest), plan.lease * 2)
        guard replay > .nanoseconds(look) * 21 / 5 + plan.lease / 20 else { return }
        let other = candidates.first { other in
            guard let following = other.following, let since = following.levelSince else { return false }
            return other.index != index && other.hold.standing == .standingBy && backlog(other, newest: newest) == 0
                && now <= following.lookedAt + look
                && .nanoseconds(now - since) >= plan.lease * 6 / 5 + .nanoseconds(5 * look)
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
