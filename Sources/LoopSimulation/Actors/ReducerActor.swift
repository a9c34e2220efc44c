import LoopCluster
import LoopCore
import LoopWire

/// One of the reducer's processes at work: its turns, its journal or its statements to the database, and what it exchanges with peers.
struct ReducerActor<Work: Workload>: WorldActor {
    let world: World<Work>
    let candidate: Candidate<Ran>

    var process: ReducerProcess<Ran> {
        _read { yield candidate.process }
        nonmutating _modify { yield &candidate.process }
    }

    /// The place of a peer's sockets that are connected to this process.
    var here: Int { candidate.index }

    /// The definition as the process runs it.
    var ran: Ran { TrappedLoop(base: world.work.definition, trap: process.trap) }

    // MARK: - Turns, as the reducer's shell performs them

    var reducerMoment: Moment { process.clock.moment(at: now) }

    func wake(at time: UInt64) {
        guard time < process.wakesAt else { return }
        process.wakesAt = time
        world.agenda.note(.reducerTurn(candidate: process.life.candidate), at: time)
    }

    /// Drains ROUTER completely, then batches, lets time pass, and passes the records to the disk.
    func turn() throws(Violation) {
        guard now >= process.wakesAt else { return }
        process.wakesAt = .max
        guard process.isUp, !candidate.hold.isSteppingDown, process.turns.mayBegin(plan.turnsMax) else { return }
        if process.frozenUntil > now { return wake(at: process.frozenUntil) }
        if process.endsAgainAt <= now {
            process.endsAgainAt = .max
            return try crash()
        }
        let moment = reducerMoment
        guard var machine = process.beginTurn(at: now) else { return }
        world.reads.begin(machine)
        let ready = try machine.turn(at: moment) { (intake) throws(Violation) in
            while let result = process.backgroundJobs.takeNext(at: now) { intake.receive(result) }
            try observe(.turnBegan(intake.progress))
            try admitKeys(&intake)
            if plan.hasHostiles { try drainHostiles(&intake) }
            try drainRouter(&intake)
            try drainSubscriptions(&intake)
            settleInboxes { intake.owner(of: $0) }
            try drainCollector(&intake)
            try drainLocal(&intake, at: moment.monotonic)
        }
        process.machine = consume machine
        if process.trap.hasSprung { return try endInReduction() }
        if !plan.isUnguarded {
            if let reducer = process.machine { try world.reads.check(reducer) { world.checkers.count(.nothingLost) } }
            if isLeading { try watchLeases() }
        }
        process.deadline = ready.deadline
        try append(TurnUnderWay(ready, at: process.turnMoment))
    }

    /// Passes a turn's records to the disk, which needs some time. Meanwhile the next turn may begin.
    func append(_ turn: TurnUnderWay) throws(Violation) {
        if world.storage.database != nil { try place(turn) }
        try sendEarly(turn)
        let records = turn.records
        let isAlone = process.turns.isEmpty
        process.turns.append(turn)
        if world.storage.database != nil { return try sendToDatabase(turn) }
        if isAlone, let length = world.storage.awaitedLoss?.lengthWhereTorn(records) {
            world.storage.awaitedLoss = nil
            return try crash(tearingAt: length)
        }
        if records.isEmpty, isAlone { return try concludeTurns() }
        if !records.isEmpty {
            turn.awaits = 1
            let time = process.turns.write(at: now + drawDuration())
            world.agenda.note(.reducerSynced(life: process.life), at: time)
        }
        wakeForNextTurn()
    }

    private func drawDuration() -> UInt64 {
        let isSlow = world.storage.faults.isNextSlow
        world.storage.faults.isNextSlow = false
        return isSlow ? between(.milliseconds(200), plan.slowAppendMax) : between(0, plan.syncMaxNanoseconds)
    }

    /// The next turn may begin while others wait for the journal.
    func wakeForNextTurn() {
        guard process.turns.mayBegin(plan.turnsMax) else { return }
        wake(at: max(now, min(process.clock.virtual(process.deadline), nextArrival())))
    }

    /// With a broken rule, messages of a turn leave before its receipt.
    private func sendEarly(_ turn: TurnUnderWay) throws(Violation) {
        let isBehindOthers = turn.records.isEmpty && !process.turns.isEmpty
        let isFirst = candidate.hold.receipt == .start && brokenRules.contains(.tailIsReadInTheTerm)
        if brokenRules.contains(.nothingLeavesEarly) || isFirst
            || isBehindOthers && brokenRules.contains(.emptyTurnsWait)
        {
            turn.hasLeft = true
            try deliver(turn.messagesWithoutReceipt, of: turn)
        }
    }

    /// The disk has answered for the oldest turn that waits for it.
    func synced() throws(Violation) {
        process.turns.all.first { $0.awaits > 0 }?.awaits = 0
        try concludeTurns()
    }

    /// Concludes the turns that no longer wait for anything, in their order.
    func concludeTurns() throws(Violation) {
        while process.turns.first?.awaits == 0, let done = process.turns.removeFirst() { try conclude(done) }
        guard process.isUp else { return }
        if brokenRules.contains(.receiptsAreOfOneTurn) {
            for turn in process.turns.all where !turn.hasLeft {
                turn.hasLeft = true
                try deliver(turn.messagesWithoutReceipt, of: turn)
            }
        }
        wakeForNextTurn()
    }

    /// The disk has a turn's records, or has failed. With a receipt, the messages leave.
    private func conclude(_ done: TurnUnderWay) throws(Violation) {
        let (records, position) = (done.records, done.position)
        if world.storage.database != nil {
            try takeReceipt(of: done)
        } else if !records.isEmpty {
            guard try store(done) else { return }
        }
        guard let ready = done.takeReady(),
            let released = process.machine?.release(ready, JournalReceipt(through: position))
        else { return }
        if !records.isEmpty, isLeading {
            if process.turns.isEmpty { try demandSurvivorsStruck() }
            try observeReducer()
            if let loss = world.storage.awaitedLoss, process.turns.isEmpty, loss.covers(records) {
                return try loseQuietly(loss, done, released.messages)
            }
        }
        if let end = done.outcome, world.outcome == nil {
            try world.noteEnd(end)
            guard process.isUp else { return }
        }
        if !done.hasLeft { try deliver(released.messages, of: done) }
        keepUp(released)
        // This follows the turn's snapshot, as in a node: the first records of a new history are not durable before the next turn.
        if let lost = done.historyLost { try goOn(without: lost) }
    }

    /// - Returns: whether there is a receipt.
    private func store(_ turn: TurnUnderWay) throws(Violation) -> Bool {
        process.journal?.failure = world.storage.faults.takeFailure(at: now)
        do {
            _ = try process.journal?.append(turn.log, through: turn.position)
        } catch  where error.kind == .misuse {
            throw Violation(.oneOrder, "another process has written into the journal: \(error)")
        } catch {
            try journalFailed(turn.records, error)
            return brokenRules.contains(.failedJournalsAreLeft)
        }
        for record in turn.records { try world.noteDurable(record, of: turn.moment) }
        try observe(.turnEnded)
        return true
    }

    /// Compares a few turns completely, and the others only as far as most differences would show.
    private func observeReducer() throws(Violation) {
        process.releaseCount += 1
        guard process.turns.isEmpty, process.releaseCount % loop.limits.restInterval == 0 else { return }
        guard let reducer = process.machine else { return }
        try measureQueues()
        try world.checkers.rest(reducer.journaled, wholly: process.releaseCount % (8 * loop.limits.restInterval) == 0)
        guard process.releaseCount % 64 == 0 else { return }
        for peer in reducer.status().peers {
            try observe(.measured(entries: 0, entriesMax: 0, lag: peer.lag, lagMax: plan.inboxWindow + 16))
        }
    }

    /// Peers know of records that the journal does not have.
    private func goOn(without lost: HistoryLost) throws(Violation) {
        world.checkers.count(.nothingLost)
        say("\(lost)")
        if plan.keeping == .fsync, !plan.isUnguarded {
            guard world.storage.isRestored else { throw Violation(.nothingLost, "\(lost)") }
            if !world.storage.goesOnWithoutLost {
                say("the reducer stops; an operator starts it without what is missing")
                world.storage.goesOnWithoutLost = true
                return try crash()
            }
        }
        let (history, moment) = (History(world.random.next() | 1), reducerMoment)
        process.machine?.beginHistory(history, at: moment)
        world.leases.epoch = process.machine?.epoch ?? .none
        world.tally.historiesBegun += 1
    }

    /// The work after a durable turn: snapshots, background jobs, operators' requests to the journal.
    private func keepUp(_ released: Released) {
        for request in released.journalRequests {
            guard case .trim(let before) = request.question else { continue }
            if let term = candidate.hold.term { world.storage.database?.trim(before: before, in: term) }
            _ = process.journal?.trim(before: before)
        }
        snapshotIfDue()
        for job in released.backgroundJobs {
            // The time does not come from the generator, because everything else depends on its numbers.
            let time = now + 1_000_000 + (now &* 0x9E37_79B9) % 400_000_000
            process.backgroundJobs.begin(job, doneAt: time)
            world.agenda.note(.jobDone(candidate: process.life.candidate), at: time)
        }
    }

    /// An ordinary snapshot. It is taken between two turns, written while the loop continues, and valid once its row is there.
    private func snapshotIfDue() {
        guard plan.keeping != .memory, let disk = world.storage.disk,
            process.snapshots.isDue(at: disk.position, interval: plan.snapshotInterval)
        else { return }
        // The machine is ahead of the journal while a turn is under way.
        guard process.turns.isEmpty else {
            process.turns.mustRest = true
            return
        }
        guard isLeading else { return }
        process.snapshots.newestAt = disk.position
        process.snapshots.writing = snapshot()
        world.agenda.note(.snapshotWritten(life: process.life), at: now + between(1_000_000, 500_000_000))
    }

    func snapshot() -> SimulatedDisk.Snapshot? {
        guard let core = process.machine?.journaled, let bytes = try? core.snapshot() else { return nil }
        let entry = SnapshotEntry(
            position: core.position, seq: core.seq, fingerprint: core.loop.fingerprint.value, byteCount: bytes.count)
        return SimulatedDisk.Snapshot(entry: entry, bytes: bytes)
    }

    func snapshotWritten() {
        guard let written = process.snapshots.writing.take() else { return }
        if let database = world.storage.database {
            if let term = candidate.hold.term { database.add(written, in: term) }
            return
        }
        world.storage.disk?.add(written, breaking: brokenRules)
    }

    // MARK: - How the process begins, and continues from its journal

    /// A process starts. It opens the journal, reads in the crash note how the last process ended, and recovers.
    func start() throws(Violation) {
        if world.storage.database != nil { return beginToStandBy() }
        if world.storage.disk == nil || plan.keeping == .memory { try makeDisk() }
        beginLife()
        guard let disk = world.storage.disk else { return }
        let trap = process.trap
        let finding = trap.note.begin(history: disk.history, executable: trap.isArmed ? 1 : 2, thread: 1)
        if case .replay(let crash) = finding, crash.mustStop {
            throw Violation(.poisonIsSetAside, "the start stops: the process ended in the replay of \(crash.seq)")
        }
        if let missing = world.storage.takeMissing() { try startOnCopy(without: missing, disk) }
        try openAndServe()
    }

    /// Another process runs from now on, with another clock.
    func beginLife() {
        process.endLife()
        process.clock.offset = between(0, 1_000_000_000_000)
        process.clock.wallOffset += Int64(between(0, 4000)) - 2000
    }

    private func makeDisk() throws(Violation) {
        world.storage.begin(History(world.random.next() | 1), alwaysSyncs: plan.keeping == .fsync)
        process.trap.clear()
        try observe(.began(world.storage.history))
    }

    /// Opens the journal and continues from it, or tries again later if that fails.
    func openAndServe() throws(Violation) {
        guard let disk = world.storage.disk else { return }
        process.trap.endsAtNext = false
        do {
            process.journal = try SimulatedJournal(disk, durability: plan.durability, rules: brokenRules)
        } catch {
            throw Violation(.oneOrder, "\(error)")
        }
        try serve(try recovered(from: disk, isFresh: disk.position == 0), disk)
    }

    /// A machine that has recovered begins its epoch.
    func serve(_ machine: ReducerMachine, _ disk: SimulatedDisk) throws(Violation) {
        world.retries.begin(at: machine.journaled.time, now)
        world.leases.begin(machine.epoch, at: now)
        world.transfers.begin()
        for peer in world.roster.present { peer.lease.begin() }
        candidate.keys.begin()
        world.hostiles.endListeners { _, _ in true }
        process.begin(machine, at: now, snapshotAt: disk.snapshots.first?.entry.position ?? 0)
        try claimHostilely()
        try beginLocally()
        if process.machine?.end == nil { try world.replaceDeparted() }
        if isTranscribing, let reducer = process.machine {
            say("the reducer serves, epoch \(reducer.epoch) of history \(reducer.history), seq \(reducer.seq)")
        }
        wake(at: now)
    }

    private func recovered(from disk: SimulatedDisk, isFresh: Bool) throws(Violation) -> ReducerMachine {
        guard let journal = process.journal else { preconditionFailure("a reducer recovers without a journal") }
        var core = try recovered(from: journal, note: process.trap.note)
        if !disk.snapshots.isEmpty { core.forget(what: brokenRules) }
        if !isFresh { try compare(core, disk) }
        return machine(on: core)
    }

    /// The state that an ordinary recovery makes of a journal.
    func recovered(from journal: SimulatedJournal, note: CrashNote? = nil) throws(Violation) -> JournaledState {
        do {
            return try Recovery(ran, from: journal, coder: loop.coder, note: note, breaking: brokenRules).journaled
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
    }

    /// A machine that continues from a state, at the beginning of a new epoch.
    func machine(on recovered: JournaledState) -> ReducerMachine {
        var core = recovered
        var configuration = ReducerConfiguration(
            silenceLimit: plan.silenceLimit, eventBytesMax: loop.limits.eventBytesMax, inboxWindow: plan.inboxWindow,
            sessionsMax: plan.sessionsMax, sessionRetention: plan.sessionRetention)
        configuration.updatesPerSecond = 20
        configuration.deferredBatchesMax = plan.deferredBatchesMax
        configuration.transfersMax = plan.transfersMax
        configuration.commandsBase = plan.commandsBase
        if let bytes = plan.stateBytesMax { configuration.stateBytesMax = bytes }
        if let bytes = plan.statePartBytes { configuration.statePartBytes = bytes }
        configuration.stateHashes = plan.hasStateHashes
        if let bytes = plan.payloadBytesMax { configuration.payloadBytesMax = bytes }
        // If every record is applied to a second state, hashes of marks are compared as they come. Large states are fetched in
        // chunks.
        if plan.hasShadow || plan.statePartBytes != nil { configuration.hashedBytesMax = 128 }
        var setting = ReducerSetting()
        setting.isGuarded = world.keys != nil
        if world.candidates.count > 1 { setting.searchLimit = LeaderSearch.walkMax }
        if plan.keeping == .memory || plan.candidateCount > 0 { core.note = nil }
        return ReducerMachine(
            recovered: core, configuration: configuration, setting: setting, seed: world.random.next(),
            nonce: world.random.next(), at: reducerMoment)
    }

    /// Checks that a recovery gives an equal result from every snapshot, and without one.
    func compare(_ recovered: JournaledState, _ disk: SimulatedDisk) throws(Violation) {
        try world.checkers.rest(recovered, wholly: true)
        guard process.life.number % 8 == 0 else { return }
        for snapshot in disk.snapshots.dropFirst() where !snapshot.isDamaged {
            try compare(recovered, disk, from: snapshot)
        }
        if !plan.hasShadow { try compare(recovered, disk, from: nil) }
    }

    func compare(
        _ recovered: JournaledState, _ disk: SimulatedDisk, from snapshot: SimulatedDisk.Snapshot?
    ) throws(Violation) {
        world.checkers.count(.replayIsExact)
        let place = snapshot.map { "the snapshot at \($0.entry.seq)" } ?? "the first record"
        do {
            var core =
                try snapshot.map { written in
                    try JournaledState(restoring: written.bytes, definition: world.plain, coder: loop.coder)
                } ?? JournaledState(definition: world.plain, coder: loop.coder, history: disk.history)
            core.brokenRules = brokenRules
            for record in disk.records[Int(snapshot?.entry.position ?? 0)...] { try core.apply(record) }
            let differences = try core.differences(from: recovered)
            if !differences.isEmpty {
                throw Violation(
                    .replayIsExact, "\(place) gives another \(differences.joined(separator: ", ")) than the reducer has"
                )
            }
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(.replayIsExact, "\(place) cannot be gone on from: \(error)")
        }
    }

    // MARK: Two reducers

    /// Another process is started on the journal of a running one.
    /// - Returns: whether a process had the journal.
    func startSecondReducer() throws(Violation) -> Bool {
        guard let disk = world.storage.disk, process.isUp, plan.keeping != .memory else { return false }
        world.checkers.count(.oneOrder)
        if brokenRules.contains(.journalsHaveOneOwner) { disk.release() }
        do {
            var second = try SimulatedJournal(disk, durability: plan.durability, rules: brokenRules)
            // The new process was not refused. It recovers and begins a separate epoch while the first goes on.
            let recovery = try Recovery(world.plain, from: second, coder: loop.coder)
            var machine = ReducerMachine(
                recovered: recovery.journaled, configuration: ReducerConfiguration(), seed: 1,
                nonce: world.random.next(),
                at: reducerMoment)
            let ready = machine.turn(at: reducerMoment)
            _ = try second.append(ready.records, through: ready.position)
        } catch let error as JournalError where error.kind == .locked {
            return true
        } catch {
            throw Violation(.oneOrder, "a second reducer came as far as this: \(error)")
        }
        return true
    }

    // MARK: - Checks outside of the checkers: queues, suspects, leases and idle sessions

    func measureQueues() throws(Violation) {
        guard let reducer = process.machine else { return }
        let capacity = loop.hasLocalEffects ? max(plan.capacity, loop.limits.localCapacity) : plan.capacity
        let outbox = plan.outboxEntriesMax + (loop.hasLocalEffects ? 4 : 2) * capacity
        for queue in reducer.queues {
            let most =
                switch queue.kind {
                case .commands: 4 * capacity + plan.commandsBase
                // The outbox of a sender has the entries whose outcome it does not know.
                case .outcomes: outbox
                case .deferredBatches: plan.deferredBatchesMax
                case .transfers: plan.transfersMax
                // The reducer's own peer has a session in addition to the limited ones.
                case .sessions: reducer.configuration.sessionsMax + (loop.hasLocalEffects ? 1 : 0)
                }
            try observe(.queued(queue, max: most))
        }
    }

    // MARK: Suspects

    /// Checks that no entry that was consumed is a suspect.
    func demandSurvivorsStruck() throws(Violation) {
        guard plan.keeping != .memory else { return }
        for suspect in process.trap.note.suspects where suspect.effect == nil && suspect.session != .none {
            guard let watermark = process.machine?.journaled.sessions[suspect.session]?.watermark,
                suspect.number <= watermark
            else { continue }
            throw Violation(
                .poisonIsSetAside,
                "entry \(suspect.number) of session \(suspect.session) is consumed, and is a suspect still")
        }
    }

    // MARK: Leases

    /// The machine was given the time. A worker whose lease is over has no effects that another worker could run.
    func watchLeases() throws(Violation) {
        let limit = UInt64(plan.silenceLimit.wholeNanoseconds)
        world.leases.advance(to: now, silenceLimit: limit)
        for peer in world.roster.present
        where peer.role == .worker && peer.lease.mustBeChecked(at: now, silenceLimit: limit, world.leases) {
            try checkTaken(from: peer)
        }
    }

    private func checkTaken(from peer: Peer) throws(Violation) {
        guard let members = process.machine?.status().peers else { return }
        let count = members.reduce(0) { $1.peer == "\(peer.id)" ? $0 + $1.leases : $0 }
        peer.lease.note(isTaken: count == 0, at: now)
        if count == 0 { return }
        let other = world.roster.present.first { other in
            other !== peer && other.role == .worker && other.isAlive && other.machine.isJoined
                && other.machine.epoch == world.leases.epoch && other.machine.history == world.storage.history
                && members.contains {
                    $0.session == other.machine.session.value && $0.capacity > 0 && $0.leaseMilliseconds > 0
                }
        }
        guard let other else { return }
        throw Violation(
            .progress,
            "what last reached peer \(peer.index) was sent \(Transcript.seconds(now - peer.lease.reachedAt)) s ago, and it has"
                + " \(count) effects that peer \(other.index) could run")
    }

    // MARK: Idle sessions

    /// A peer waits because the sessions are at their limit. Then none of them may be idle. An idle session is of a process that
    /// ended long ago, has no effect, and has sent no event whose outcome it still needs.
    func demandNoSpace(for peer: Peer) throws(Violation) {
        guard let reducer = process.machine, reducer.journaled.sessions.count >= plan.sessionsMax else { return }
        world.checkers.count(.progress)
        let patience = UInt64((plan.silenceLimit * 3 + .seconds(4)).wholeNanoseconds)
        let living = Set(world.roster.living.map(\.id))
        var held: [UInt64: Int] = [:]
        for peer in reducer.status().peers { held[peer.session] = peer.leases }
        for (session, record) in reducer.journaled.sessions {
            guard record.watermark == 0 || record.isOnlyOfEffects, held[session.value, default: 0] == 0,
                !living.contains(record.peer),
                let time = world.roster.goneAt[record.peer]
            else { continue }
            // The process counts from its beginning, and not the times in which it was frozen.
            let since = max(time, process.beganAt)
            if now <= since + patience + world.leases.stoodStill(since: since) { continue }
            throw Violation(
                .progress,
                "peer \(peer.index) is kept waiting, and session \(session) of a process that is gone is idle")
        }
    }
}
