import LoopCluster
import LoopCore
import LoopWire

/// How a process uses the database: its statements, a turn's records, how it stands by, leads, and ends its term.
extension ReducerActor {
    /// The time after which a statement without an answer proves nothing.
    private var statementLimit: Duration { .seconds(5) }
    private var steady: MonotonicTime { candidate.steady(at: now) }

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
        if let first = candidate.hold.sent.first, steady - first.at > statementLimit,
            now > process.frozenUntil + 10_000_000
        {
            _ = try loseConnection()
        }
        if candidate.hold.sent.isEmpty { keepInTouch() }
        if !process.isUp { answerAsStandby() }
    }

    private func keepInTouch() {
        switch candidate.hold.standing {
        case .standingBy: send(.look)
        case .leading(let term):
            if steady - candidate.hold.provenAt >= plan.lease / 4 { send(.renew(term)) }
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
        let isStale = turn.batch == nil && steady - candidate.hold.provenAt > plan.lease
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
        case .row(let row): try see(row)
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
    private func see(_ row: JournalRow) throws(Violation) {
        if candidate.hold.seen?.sign != row.sign { candidate.following?.signs.hear(row.end, at: steady) }
        candidate.hold.seen = row
        candidate.following?.look(at: now, within: world.looksWithin)
        let isSilent = candidate.hold.watch.verdict(on: row.sign, lease: plan.lease, at: steady) == .free
        guard candidate.hold.standing == .standingBy else { return }
        if plan.hasWarmStandbys { try follow(row) }
        guard row.isReleased || row.holder == candidate.hold.holder || isSilent, !leavesToOthers(row) else { return }
        candidate.hold.standing = .takingOver
        send(
            .takeOver(
                row.sign, holder: candidate.hold.holder, address: candidate.address, nonce: world.random.next()))
    }

    /// Compares the newest batch with the one in the term's row. Another batch is damage only if this process proves that no other
    /// process has begun a term since.
    private func judge(_ newest: RowEnd) throws(Violation) {
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

    // MARK: - How a process stands by, follows the journal, and begins to lead

    /// Whether the process is the leader, by the row.
    var isLeading: Bool {
        guard let database = world.storage.database else { return true }
        return candidate.hold.term == database.row.term
    }

    /// A process begins to stand by.
    func beginToStandBy() {
        beginLife()
        candidate.rate = 0.98 + 0.04 * world.random.fraction()
        candidate.hold = DatabaseHold()
        candidate.hold.holder = world.random.next()
        candidate.following = following(pace: [1, 40, 400][pick(3)])
        candidate.hold.standing = .away(until: now)
    }

    // MARK: Leading

    /// A term has begun with this row. Everything that is read from now on is read behind it.
    func lead(_ row: JournalRow) throws(Violation) {
        guard let database = world.storage.database else { return }
        candidate.hold.standing = .leading(row.term)
        let seen = candidate.hold.seen?.end ?? .start
        candidate.hold.end = brokenRules.contains(.tailIsReadInTheTerm) ? seen : row.end
        // Another process has begun a term since, and has appended something.
        guard database.contains(row.end), database.disk.position == row.end.position else {
            return try loseTerm("it is not the newest")
        }
        if !database.contains(candidate.hold.receipt) {
            throw Violation(
                .nothingLost, "record \(candidate.hold.receipt.position), which had a receipt, is not in the journal")
        }
        let (core, lacking) = try takeOver()
        world.tally.takeoverCount += 1
        let moment = TurnMoment(at: now, wall: reducerMoment.wall)
        try noteJournal(through: min(core.position, row.end.position), of: moment)
        // Records that the journal lacks are appended before anything else.
        if lacking.isEmpty {
            try compare(core, database.disk)
        } else {
            world.tally.completionCount += 1
            try append(TurnUnderWay(of: lacking, through: core.position, at: moment))
        }
        try serve(machine(on: core), database.disk)
    }

    /// The state at the end of the journal: the warm one if its row is in the journal, or else a recovered one.
    /// - Returns: the state, and its newest records that the journal lacks.
    private func takeOver() throws(Violation) -> (core: JournaledState, lacking: ArraySlice<Record>) {
        guard let database = world.storage.database else { preconditionFailure("a candidate leads without a database") }
        var disk = database.disk
        var warm = candidate.following?.follower.handOver()
        if brokenRules.contains(.tailIsReadInTheTerm) {
            (disk, warm) = (disk.standingStill(at: candidate.hold.end), nil)
        }
        do {
            let journal = SimulatedJournal(reading: disk, rules: brokenRules)
            let recovery = try Recovery(
                ran, from: journal, coder: loop.coder, breaking: brokenRules, warm: warm.take())
            if recovery.warmSeq != nil {
                say("candidate \(candidate.index) goes on from what it has followed, or has led")
                world.tally.warmTakeoverCount += 1
            }
            return (recovery.journaled, recovery.lacking[...])
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
    }

    // MARK: Standing by

    /// Answers the messages to a process that does not lead, as a standby does.
    func answerAsStandby() {
        let isAway = candidate.hold.standing != .standingBy && candidate.hold.standing != .takingOver
        let seen = candidate.hold.seen.flatMap { $0.isReleased || $0.address == candidate.address ? nil : $0.address }
        let leader = seen == "" ? nil : seen
        for peer in world.roster.present {
            for index in peer.sockets[here].pusher.connections.pipes.indices {
                while peer.sockets[here].pusher.connections.pipes[index].readableAt <= now {
                    _ = peer.sockets[here].pusher.connections.pipes[index].popFirst()
                }
            }
            while peer.sockets[here].dealer.toReducer.readableAt <= now,
                let request = peer.sockets[here].dealer.toReducer.popFirst()
            {
                if isTranscribing { world.transcript?.note(.toReducer(peer.index, request), at: now) }
                let unready = Unready(loop: Work.Definition.name, .go(to: leader))
                guard !isAway, let answer = try? unready.answers(to: request).first else { continue }
                let frame = PeerFrame(history: .none, epoch: .none, session: .none, message: answer)
                if isTranscribing { world.transcript?.note(.toPeer(peer.index, frame, isLost: false), at: now) }
                let arrival = max(now + latency(), peer.sockets[here].cutFromReducerUntil)
                if !peer.sockets[here].dealer.isDead {
                    peer.sockets[here].dealer.fromReducer.append(frame, arrival: arrival)
                }
                at(peer).wake(at: arrival)
            }
        }
    }

    // MARK: Reading

    /// A standby that follows the journal.
    private func following(pace: UInt64, from warm: consuming WarmState? = nil) -> StandbyFollowing<Ran> {
        StandbyFollowing(
            pace: pace, JournalFollower(ran, coder: loop.coder, from: warm.take()), lease: plan.lease,
            breaking: brokenRules)
    }

    /// A standby replays what its server has, or begins again if that does not follow what it has.
    private func follow(_ row: JournalRow) throws(Violation) {
        guard let database = world.storage.database, let pace = candidate.following?.pace else { return }
        let server = candidate.following?.source ?? database.disk
        let source = SimulatedJournal(reading: server, rules: brokenRules, pace: pace)
        let lossesCount = candidate.following?.lossesCount
        // Without a receipt for records of its own, another process may have appended others instead of them.
        let before = candidate.following?.follower.warm.flatMap { $0.ahead.isEmpty ? $0.end : nil }
        do {
            guard let (look, isLevel) = try candidate.following?.look(at: source, at: steady) else { return }
            switch look {
            case .begun, .behind, .level: break
            case .lost:
                world.checkers.count(.nothingLost)
                // A leader that had the lost records may have appended them again since.
                let present = SimulatedJournal(reading: database.disk, rules: brokenRules)
                if let before, database.disk.lossesCount == lossesCount, present.contains(before) {
                    throw Violation(
                        .nothingLost,
                        "candidate \(candidate.index) says that record \(before.position) is lost, which the journal has"
                    )
                }
            case .stopped(let reason):
                throw Violation(
                    .replayIsExact, "candidate \(candidate.index) cannot replay what it reads: \(reason)")
            }
            try note(isLevel, source, row)
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(.replayIsExact, "candidate \(candidate.index) cannot read the journal: \(error)")
        }
    }

    /// A standby that is level has all that the leader has.
    private func note(_ isLevel: Bool, _ source: SimulatedJournal, _ row: JournalRow) throws(Violation) {
        guard let database = world.storage.database, isLevel else {
            candidate.following?.levelSince = nil
            return
        }
        if candidate.following?.levelSince == nil { candidate.following?.levelSince = now }
        world.checkers.count(.progress)
        if database.contains(row.end), candidate.position < row.end.position || !source.contains(row.end) {
            throw Violation(
                .progress,
                "candidate \(candidate.index), at record \(candidate.position), says that it has all that the leader has, which"
                    + " is at \(row.end.position)")
        }
    }

    /// Keeps the state of a machine that no longer leads, with the records that have no receipt.
    func keepState() {
        guard let core = process.machine?.journaled, let began = candidate.hold.taken?.end,
            let disk = world.storage.disk, let pace = candidate.following?.pace
        else { return }
        let end = candidate.hold.receipt.position > began.position ? candidate.hold.receipt : began
        let journal = SimulatedJournal(reading: disk, rules: brokenRules, knowing: end)
        candidate.following = following(
            pace: pace, from: WarmState(of: core, at: journal, ahead: process.turns.records))
    }

    /// Whether the process leaves the free journal to others.
    func leavesToOthers(_ row: JournalRow) -> Bool {
        guard plan.hasWarmStandbys else { return false }
        let steady = candidate.steady(at: now)
        if candidate.following?.free?.sign != row.sign { candidate.following?.free = (row.sign, steady) }
        let waited = steady - (candidate.following?.free?.since ?? steady)
        // The simulator's journals are short, so a record takes longer than in a node.
        let headStart = HeadStart(lease: plan.lease, perRecord: World<Work>.replayTime, breaking: brokenRules)
        let newest = row.end.position
        guard headStart.duration(from: candidate.position, to: newest) > waited else { return false }
        candidate.following?.signs.hear(row.end, at: steady)
        return headStart.duration(from: candidate.position, to: newest, snapshot: world.newestSnapshot) > waited
    }
}
