import LoopCluster
import LoopCore

/// How a process uses the database: its statements, a turn's records, and the end of a term whose outcome is unknown.
extension ReducerActor {
    /// The time after which a statement without an answer proves nothing, in nanoseconds.
    private var statementLimit: UInt64 { 5_000_000_000 }
    private var steady: UInt64 { candidate.steady(at: now) }

    /// The process connects.
    private func connect() {
        candidate.hold.connection = world.connections.count
        world.connections.append(DatabaseConnection(of: candidate.index))
        candidate.hold.sent = []
    }

    /// Sends a statement over the connection of the process. A connection that is cut carries nothing.
    func send(_ statement: DatabaseConnection.Statement, for turn: TurnUnderWay? = nil) {
        guard let number = candidate.hold.connection else { return }
        candidate.hold.sent.append(DatabaseHold.Sent(at: steady, turn: turn))
        if world.connections[number].isCut { return }
        let arrival = world.connections[number].send(statement, arrival: now + between(50_000, plan.syncMaxNanoseconds))
        world.agenda.note(.statement(Int32(number)), at: arrival)
    }

    /// The client's side of a connection ends. The backend does not know, so some of the sent statements may still run, soon or
    /// late.
    /// - Parameter count: how many of its statements run, or nil for a random number.
    func cutConnection(running count: Int? = nil) {
        guard let number = candidate.hold.connection.take() else { return }
        if !world.connections[number].isCut {
            world.connections[number].cut(running: count ?? pick(world.connections[number].statementCount + 1))
            if chance(0.5) { world.connections[number].stalledUntil = now + between(.zero, .seconds(6)) }
        }
        candidate.hold.sent = []
    }

    /// The regular work of each process: it connects, reads the row, renews its lease, and answers peers while it stands by.
    func look() throws(Violation) {
        world.agenda.note(
            .candidateLook(candidate: process.life.candidate), at: now + UInt64(50_000_000 / candidate.rate))
        guard process.frozenUntil <= now else { return }
        switch candidate.hold.standing {
        case .gone: return
        case .away(let time):
            if now >= max(time, candidate.cutUntil, world.storage.awayUntil) {
                connect()
                candidate.hold.standing = .standingBy
            }
        case .standingBy, .takingOver, .leading: break
        }
        // Answers that arrived while it was frozen are read first.
        if let first = candidate.hold.sent.first, steady - min(steady, first.at) > statementLimit,
            now > process.frozenUntil + 10_000_000
        {
            _ = try loseConnection()
        }
        if candidate.hold.sent.isEmpty { keepInTouch() }
        if !process.isUp { answerAsStandby() }
    }

    private func keepInTouch() {
        switch candidate.hold.standing {
        case .standingBy: send(.look(behind: candidate.warm?.end))
        case .leading(let term):
            if steady - candidate.hold.provenAt >= world.leaseNanoseconds / 4 { send(.renew(term)) }
        case .gone, .away, .takingOver: break
        }
    }

    // MARK: A turn's records

    /// Places a turn's records behind those of the turn before.
    func place(_ turn: TurnUnderWay) throws(Violation) {
        if !turn.records.isEmpty {
            let batch = SimulatedBatch(turn.log, after: candidate.hold.end)
            if batch.end.position != turn.position {
                throw Violation(
                    .oneOrder,
                    "records through \(turn.position) are to be appended behind \(candidate.hold.end.position)")
            }
            turn.batch = batch
            candidate.hold.end = batch.end
        }
        turn.end = candidate.hold.end
    }

    /// Passes a turn's records to the database. A turn without records leaves if a proof is younger than a lease. A turn that
    /// reports missing records needs a newer proof.
    func sendToDatabase(_ turn: TurnUnderWay) throws(Violation) {
        guard let term = candidate.hold.term else { return }
        if let batch = turn.batch {
            turn.awaits += 1
            send(.append(batch, term), for: turn)
        }
        let isStale = turn.batch == nil && steady - candidate.hold.provenAt > world.leaseNanoseconds
        if isStale || turn.historyLost != nil, !brokenRules.contains(.lossIsProven) {
            turn.awaits += 1
            send(.renew(term), for: turn)
        }
        try concludeTurns()
    }

    /// The database has everything that a turn waits for.
    func takeReceipt(of turn: TurnUnderWay) throws(Violation) {
        guard turn.batch != nil, let database = world.storage.database, database.contains(turn.end) else { return }
        candidate.hold.receipt = turn.end
        try noteJournal(through: turn.position, of: turn.moment)
        if isLeading, turn.isOfMachine { try observe(.turnEnded) }
    }

    /// Shows the checkers the journal up to a position that is proven to be in it.
    func noteJournal(through position: UInt64, of turn: TurnMoment) throws(Violation) {
        guard let disk = world.storage.disk else { return }
        while world.storage.notedPosition < position {
            try world.noteDurable(disk.records[Int(world.storage.notedPosition)], of: turn)
            world.storage.notedPosition += 1
        }
    }

    /// Checks messages that leave. The records that they depend on must be in the journal, even if another process leads by now.
    func demandInJournal(_ turn: TurnUnderWay) throws(Violation) {
        guard let database = world.storage.database else { return }
        world.checkers.count(.durableBeforeVisible)
        world.storage.toldPosition = max(world.storage.toldPosition, turn.position)
        if database.contains(turn.end) { return }
        throw Violation(
            .durableBeforeVisible,
            "what leaves candidate \(candidate.index) depends on record \(turn.position), which is not in the journal like"
                + " that")
    }

    // MARK: Answers

    func takeAnswer(_ number: Int) throws(Violation) {
        guard !world.connections[number].isCut, candidate.hold.connection == number else { return }
        if process.frozenUntil > now { return world.agenda.note(.answer(Int32(number)), at: process.frozenUntil) }
        guard let answer = world.connections[number].nextAnswer(), !candidate.hold.sent.isEmpty else { return }
        let sent = candidate.hold.sent.removeFirst()
        switch answer {
        case .row(let row, let behind): try see(row, behind)
        case .taken(nil): candidate.hold.standing = .standingBy
        case .taken(let row?):
            candidate.hold.provenAt = sent.at
            candidate.hold.taken = row
            send(.newest)
        case .newest(let end): try judge(end)
        case .changed(let isMine) where candidate.hold.standing == .takingOver:
            if isMine { throw damaged() }
            say("candidate \(candidate.index) was overtaken before it has led")
            candidate.hold.standing = .standingBy
        case .changed(let isMine):
            guard isMine || brokenRules.contains(.deposedLeadersStop) else {
                return try loseTerm("another process has the journal")
            }
            candidate.hold.provenAt = max(candidate.hold.provenAt, sent.at)
            sent.turn?.awaits -= 1
            try concludeTurns()
            if candidate.hold.isSteppingDown, candidate.hold.sent.isEmpty {
                try loseTerm("it has let go of the journal")
            }
        }
    }

    /// A process that stands by has read the row.
    private func see(_ row: JournalRow, _ behind: [Record]?) throws(Violation) {
        if candidate.hold.seen?.sign != row.sign { candidate.following.heard = (row.end, steady) }
        candidate.hold.seen = row
        candidate.following.look(at: now, within: world.looksWithin)
        let isSilent = candidate.hold.watch.isSilent(row.sign, lease: world.leaseNanoseconds, at: steady)
        guard candidate.hold.standing == .standingBy else { return }
        if plan.hasWarmStandbys { try follow(row, behind) }
        guard row.isReleased || row.holder == candidate.hold.holder || isSilent, !leavesToOthers(row) else { return }
        candidate.hold.standing = .takingOver
        send(
            .takeOver(
                row.sign, holder: candidate.hold.holder, address: candidate.address, nonce: world.random.next()))
    }

    /// Compares the newest batch with the one in the term's row. Another batch is damage only if this process proves that no other
    /// process has begun a term since.
    private func judge(_ newest: BatchLink) throws(Violation) {
        guard let row = candidate.hold.taken else { return }
        if newest == row.end { return try lead(row) }
        world.checkers.count(.nothingLost)
        if brokenRules.contains(.verdictsAreProven) { throw damaged() }
        send(.renew(row.term))
    }

    private func damaged() -> Violation {
        Violation(
            .nothingLost,
            "candidate \(candidate.index) says that the journal is damaged: its newest record is not \(candidate.hold.taken?.end.position ?? 0)"
        )
    }

    // MARK: An unknown outcome ends the term

    /// The connection of the process is lost.
    /// - Returns: whether it had a connection.
    func loseConnection() throws(Violation) -> Bool {
        guard candidate.hold.connection != nil else { return false }
        guard candidate.hold.term != nil, process.isUp else {
            cutConnection()
            candidate.hold.standing = .away(until: now + between(.milliseconds(50), .milliseconds(500)))
            return true
        }
        if brokenRules.contains(.unknownIsNotSuccess) {
            for turn in process.turns.all { turn.awaits = 0 }
            try concludeTurns()
        }
        if brokenRules.contains(.unknownIsNotRepeated) || brokenRules.contains(.lostConnectionsEndTheTerm) {
            try goOnInTheTerm()
        } else {
            try loseTerm("its connection to the database is lost")
        }
        return true
    }

    /// With a broken rule, the process connects again and continues with the turns under way. It takes the present end of the
    /// journal for a receipt, or appends everything once more behind it.
    private func goOnInTheTerm() throws(Violation) {
        cutConnection()
        connect()
        guard let database = world.storage.database, let term = candidate.hold.term else { return }
        let repeats = brokenRules.contains(.unknownIsNotRepeated)
        if repeats { candidate.hold.end = database.row.end }
        for turn in process.turns.all {
            turn.awaits = 0
            guard var batch = turn.batch else { continue }
            if repeats {
                batch = SimulatedBatch(turn.log, after: candidate.hold.end)
                (turn.batch, turn.end, candidate.hold.end) = (batch, batch.end, batch.end)
            } else if database.contains(batch.end) {
                continue
            }
            turn.awaits = 1
            send(.append(batch, term), for: turn)
        }
        try concludeTurns()
    }

    /// The term ends. No message that depends on turns under way leaves, and the machine is discarded. The process stands by again.
    func loseTerm(_ why: String) throws(Violation) {
        world.checkers.count(.durableBeforeVisible)
        say("candidate \(candidate.index) leads no more: \(why)")
        cutConnection()
        keepState()
        try letGoOfMachine()
        process.endLife()
        candidate.hold.isSteppingDown = false
        candidate.hold.standing = .away(until: now + between(250_000_000, 1_000_000_000))
    }
}
