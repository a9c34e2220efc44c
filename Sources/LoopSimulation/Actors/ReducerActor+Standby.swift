import LoopCluster
import LoopCore
import LoopWire

/// How a process stands by, follows the journal, and begins to lead.
extension ReducerActor {
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
        candidate.warm = nil
        candidate.following = StandbyFollowing(pace: [1, 40, 400][pick(3)])
        candidate.hold.standing = .away(until: now)
    }

    // MARK: Leading

    /// A term has begun with this row. Everything that is read from now on is read behind it.
    func lead(_ row: JournalRow) throws(Violation) {
        guard let database = world.storage.database else { return }
        candidate.hold.standing = .leading(row.term)
        let seen = candidate.hold.seen?.end ?? BatchLink()
        candidate.hold.end = brokenRules.contains(.tailIsReadInTheTerm) ? seen : row.end
        // Another process has begun a term since, and has appended something.
        guard database.contains(row.end), database.disk.position == row.end.position else {
            return try loseTerm("it is not the newest")
        }
        if !database.contains(candidate.hold.receipt) {
            throw Violation(
                .nothingLost, "record \(candidate.hold.receipt.position), which had a receipt, is not in the journal")
        }
        let (core, lacking) = try takeOver(row.end)
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
    private func takeOver(
        _ end: BatchLink
    ) throws(Violation) -> (core: JournaledState, lacking: ArraySlice<Record>) {
        guard let database = world.storage.database else { preconditionFailure("a candidate leads without a database") }
        if brokenRules.contains(.tailIsReadInTheTerm) {
            return (try recovered(from: database.disk.records.prefix(Int(candidate.hold.end.position))), [])
        }
        guard let warm = candidate.warm else { return (try recovered(), []) }
        let found = Array(database.disk.records.dropFirst(Int(warm.end.position)))
        let isSound = database.contains(warm.end) && warm.end.position >= database.disk.trimmed
        var lacking = isSound ? WarmState.rest(of: warm.ahead[...], behind: found) : nil
        if brokenRules.contains(.warmStatesAreCompared) { lacking = lacking ?? [] }
        guard let lacking else {
            candidate.warm = nil
            return (try recovered(), [])
        }
        try replay(found.dropFirst(warm.ahead.count))
        guard let core = candidate.warm.take()?.core else { preconditionFailure("a warm state is gone") }
        say("candidate \(candidate.index) goes on from what it has followed, or has led")
        world.tally.warmTakeoverCount += 1
        return (core, lacking)
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
                guard !isAway, let answer = StandbyAnswer.to(request, loop: Work.Definition.name, leader: leader)
                else { continue }
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

    /// A standby replays what its server has, or begins again if that does not follow what it has.
    /// - Parameter behind: the records of the leader's server behind the standby's own, or nil if that server lacks the standby's
    ///   newest batch.
    func follow(_ row: JournalRow, _ behind: [Record]?) throws(Violation) {
        guard let database = world.storage.database else { return }
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
        } else if candidate.following.isCurrent(source, lease: world.leaseNanoseconds, at: steady)
            || brokenRules.contains(.lossIsTheLeaders)
        {
            world.checkers.count(.nothingLost)
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
        candidate.following.backlog = source.newest.position - min(source.newest.position, world.newestSnapshot)
    }

    /// Leaves a server that does not advance while the leader does. A standby that is level has all that the leader has.
    private func judge(_ source: JournalView, _ row: JournalRow) throws(Violation) {
        guard let end = candidate.warm?.end, let database = world.storage.database else { return }
        let steady = candidate.steady(at: now)
        let isBehind = !brokenRules.contains(.lagIsTheLeaders) && !candidate.following.hasAll(source)
        if candidate.following.isStill(isBehind, at: steady) { candidate.following.source = nil }
        guard !isBehind, candidate.following.backlog == 0 else {
            candidate.following.levelSince = nil
            return
        }
        candidate.following.levelSince = candidate.following.levelSince ?? now
        world.checkers.count(.progress)
        if database.contains(row.end), end.position < row.end.position || !source.contains(row.end) {
            throw Violation(
                .progress,
                "candidate \(candidate.index), at record \(end.position), says that it has all that the leader has, which is"
                    + " at \(row.end.position)")
        }
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
        guard let disk = world.storage.disk else { preconditionFailure("a candidate recovers without a journal") }
        do {
            let journal = SimulatedJournal(reading: disk, rules: brokenRules)
            return try Recovery(ran, from: journal, coder: loop.coder, breaking: brokenRules).journaled
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
    }

    /// The state that records make, from the first one on.
    func recovered(from records: ArraySlice<Record>) throws(Violation) -> JournaledState {
        guard let disk = world.storage.disk else { preconditionFailure("a candidate recovers without a journal") }
        var core = JournaledState(definition: ran, coder: loop.coder, history: disk.history)
        core.brokenRules = brokenRules
        do {
            for record in records { try core.apply(record) }
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
        return core
    }

    /// Whether the process leaves the free journal to others.
    func leavesToOthers(_ row: JournalRow) -> Bool {
        let steady = candidate.steady(at: now)
        if candidate.following.free?.sign != row.sign { candidate.following.free = (row.sign, steady) }
        if brokenRules.contains(.closestStandbysLead) { return false }
        candidate.following.heard = (row.end, steady)
        return world.headStart(candidate, newest: row.end.position) > steady
            - (candidate.following.free?.since ?? steady)
    }
}
