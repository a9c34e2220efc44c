import LoopCluster
import LoopCore
import LoopWire

/// Faults of several reducer processes that share a database. A fault of a process hits the focused candidate.
extension ClusterEngine {
    /// Focuses a candidate for a fault. Most faults of processes hit the leader.
    func focusForFault(_ dice: inout SeededRandom) {
        if dice.fraction() < 0.7, focusOnLeader() { return }
        focus(on: Int.random(in: candidates.indices, using: &dice))
    }

    /// The process is killed, and another one replaces it.
    /// - Returns: whether it ran.
    func killCandidate() throws(Violation) -> Bool {
        guard candidate.hold.standing != .gone else { return false }
        say("candidate \(candidate.index) ends")
        cutConnection()
        let end = ending.outcome
        if process.isUp { try letGoOfMachine() }
        ending.outcome = end
        process.endLife()
        candidate.hold = DatabaseHold()
        candidate.warm = nil
        for peer in roster.present { loseBuffers(of: peer) }
        agenda.note(.reducerStart(life: process.life), at: now + between(.milliseconds(5), .seconds(4)))
        return true
    }

    /// The leader releases the journal behind its last append, accepts nothing more, and stands by.
    func stepDown() -> Bool {
        guard let term = candidate.hold.term, process.isUp, !candidate.hold.isSteppingDown else { return false }
        say("candidate \(candidate.index) steps down")
        candidate.hold.isSteppingDown = true
        send(.release(term))
        return true
    }

    /// The statements of a process take long.
    func stallStatements() -> Bool {
        guard let number = candidate.hold.connection else { return false }
        connections[number].stalledUntil = now + between(.milliseconds(100), plan.slowAppendMax)
        return true
    }

    /// The process does not reach the database and does not know it, so it waits for answers that never come.
    func cutCandidate(until time: UInt64) {
        candidate.cutUntil = time
        guard let number = candidate.hold.connection, !connections[number].isCut else { return }
        connections[number].cut(running: pick(connections[number].statementCount + 1))
        if chance(0.5) { connections[number].stalledUntil = time }
    }

    /// No peer reaches the process.
    func isolate(until time: UInt64) {
        for peer in roster.present { peer.sockets.cut(.both, until: time) }
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
            candidate.following.source = database.view
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
        for index in candidates.indices {
            focus(on: index)
            guard let number = candidate.hold.connection else { continue }
            connections[number].cut(running: 0)
            _ = try loseConnection()
        }
    }

    /// From now on nothing of the database fails.
    func healDatabase() {
        storage.awayUntil = 0
        confirm()
        for candidate in candidates { candidate.cutUntil = 0 }
        focusOnLeader()
    }
}
