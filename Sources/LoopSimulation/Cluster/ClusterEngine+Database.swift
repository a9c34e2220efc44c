import LoopCluster
import LoopCore
import LoopWire

/// The database of the reducer's processes: how statements reach it, and how answers return.
extension ClusterEngine {
    /// The time after which a statement without an answer proves nothing, in nanoseconds.
    private var statementLimit: UInt64 { 5_000_000_000 }
    var leaseNanoseconds: UInt64 { UInt64(plan.lease.wholeNanoseconds) }
    private var steady: UInt64 { candidate.steady(at: now) }

    // MARK: At the process

    /// The focused process connects.
    private func connect() {
        candidate.hold.connection = connections.count
        connections.append(DatabaseConnection(of: candidate.index))
        candidate.hold.sent = []
    }

    /// Sends a statement over the connection of the focused process. A connection that is cut carries nothing.
    func send(_ statement: DatabaseConnection.Statement, for turn: TurnUnderWay? = nil) {
        guard let number = candidate.hold.connection else { return }
        candidate.hold.sent.append(DatabaseHold.Sent(at: steady, turn: turn))
        if connections[number].isCut { return }
        let arrival = connections[number].send(statement, arrival: now + between(50_000, plan.syncMaxNanoseconds))
        agenda.note(.statement(Int32(number)), at: arrival)
    }

    /// The client's side of a connection ends. The backend does not know, so some of the sent statements may still run, soon or
    /// late.
    /// - Parameter count: how many of its statements run, or nil for a random number.
    func cutConnection(running count: Int? = nil) {
        guard let number = candidate.hold.connection.take() else { return }
        if !connections[number].isCut {
            connections[number].cut(running: count ?? pick(connections[number].statementCount + 1))
            if chance(0.5) { connections[number].stalledUntil = now + between(.zero, .seconds(6)) }
        }
        candidate.hold.sent = []
    }

    /// The regular work of each process: it connects, reads the row, renews its lease, and answers peers while it stands by.
    func look(_ index: Int) throws(Violation) {
        focus(on: index)
        agenda.note(.candidateLook(candidate: UInt8(index)), at: now + UInt64(50_000_000 / candidate.rate))
        guard process.frozenUntil <= now else { return }
        switch candidate.hold.standing {
        case .gone: return
        case .away(let time):
            if now >= max(time, candidate.cutUntil, storage.awayUntil) {
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
            if steady - candidate.hold.provenAt >= leaseNanoseconds / 4 { send(.renew(term)) }
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
        let isStale = turn.batch == nil && steady - candidate.hold.provenAt > leaseNanoseconds
        if isStale || turn.historyLost != nil, !brokenRules.contains(.lossIsProven) {
            turn.awaits += 1
            send(.renew(term), for: turn)
        }
        try concludeTurns()
    }

    /// The database has everything that a turn waits for.
    func takeReceipt(of turn: TurnUnderWay) throws(Violation) {
        guard turn.batch != nil, let database = storage.database, database.contains(turn.end) else { return }
        candidate.hold.receipt = turn.end
        try noteJournal(through: turn.position, of: turn.moment)
        if isLeading, turn.isOfMachine { try observe(.turnEnded) }
    }

    /// Shows the checkers the journal up to a position that is proven to be in it.
    func noteJournal(through position: UInt64, of turn: TurnMoment) throws(Violation) {
        guard let disk = storage.disk else { return }
        while storage.notedPosition < position {
            try noteDurable(disk.records[Int(storage.notedPosition)], of: turn)
            storage.notedPosition += 1
        }
    }

    /// Checks messages that leave. The records that they depend on must be in the journal, even if another process leads by now.
    func demandInJournal(_ turn: TurnUnderWay) throws(Violation) {
        guard let database = storage.database else { return }
        checkers.count(.durableBeforeVisible)
        storage.toldPosition = max(storage.toldPosition, turn.position)
        if database.contains(turn.end) { return }
        throw Violation(
            .durableBeforeVisible,
            "what leaves candidate \(candidate.index) depends on record \(turn.position), which is not in the journal like"
                + " that")
    }

    // MARK: At the database

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
        case .look(let behind): return .row(database.row, behind: behind.flatMap { records(behind: $0, database.view) })
        case .newest: return .newest(database.newest)
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

    private func records(behind link: BatchLink, _ view: JournalView) -> [Record]? {
        // With this rule broken, a state with another end is taken for an equal one.
        let compares = !brokenRules.contains(.warmStatesAreCompared)
        return compares ? view.records(behind: link) : Array(view.records.dropFirst(Int(link.position)))
    }

    // MARK: Answers

    func takeAnswer(_ number: Int) throws(Violation) {
        focus(on: connections[number].candidate)
        guard !connections[number].isCut, candidate.hold.connection == number else { return }
        if process.frozenUntil > now { return agenda.note(.answer(Int32(number)), at: process.frozenUntil) }
        guard let answer = connections[number].nextAnswer(), !candidate.hold.sent.isEmpty else { return }
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
        candidate.following.look(at: now, within: looksWithin)
        let isSilent = candidate.hold.watch.isSilent(row.sign, lease: leaseNanoseconds, at: steady)
        guard candidate.hold.standing == .standingBy else { return }
        if plan.hasWarmStandbys { try follow(row, behind) }
        guard row.isReleased || row.holder == candidate.hold.holder || isSilent, !leavesToOthers(row) else { return }
        candidate.hold.standing = .takingOver
        send(
            .takeOver(
                row.sign, holder: candidate.hold.holder, address: candidate.address, nonce: random.next()))
    }

    /// Compares the newest batch with the one in the term's row. Another batch is damage only if this process proves that no other
    /// process has begun a term since.
    private func judge(_ newest: BatchLink) throws(Violation) {
        guard let row = candidate.hold.taken else { return }
        if newest == row.end { return try lead(row) }
        checkers.count(.nothingLost)
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

    /// The connection of the focused process is lost.
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
        guard let database = storage.database, let term = candidate.hold.term else { return }
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
        checkers.count(.durableBeforeVisible)
        say("candidate \(candidate.index) leads no more: \(why)")
        cutConnection()
        // An end that was reported has a receipt, and stays.
        let end = ending.outcome
        keepState()
        try letGoOfMachine()
        ending.outcome = end
        process.endLife()
        candidate.hold.isSteppingDown = false
        candidate.hold.standing = .away(until: now + between(250_000_000, 1_000_000_000))
    }
}
