import LoopCluster
import LoopCore
import LoopWire

/// How the reducer's process begins, ends, and begins anew from its journal.
extension ClusterEngine {
    // MARK: Beginning

    /// A process starts: it opens the journal, asks the crash note what the last one died of, and recovers.
    func startReducer() throws(Violation) {
        if disk == nil || plan.keeping == .memory { try makeDisk() }
        reducerLife += 1
        reducerClockOffset = between(0, 1_000_000_000_000)
        wallOffset += Int64(between(0, 4000)) - 2000
        guard let disk else { return }
        let finding = trap.note.begin(history: disk.history, executable: trap.isArmed ? 1 : 2, thread: 1)
        if case .replay(let crash) = finding, crash.mustStop {
            throw Violation(.poisonIsSetAside, "the start stops: the process ended in the replay of \(crash.seq)")
        }
        if let missing { try startOnCopy(without: missing, disk) }
        try openAndServe()
    }

    private func makeDisk() throws(Violation) {
        history = History(random.next() | 1)
        disk = SimulatedDisk(history: history, alwaysSyncs: plan.keeping == .fsync)
        trap.clear()
        try observe(.began(history))
    }

    /// Opens the journal and goes on from it; later, if that fails.
    func openAndServe() throws(Violation) {
        guard let disk else { return }
        trap.endsAtNext = false
        do {
            journal = try SimulatedJournal(disk, durability: plan.durability, rules: brokenRules)
        } catch {
            throw Violation(.oneOrder, "\(error)")
        }
        let isFresh = disk.position == 0
        reducer = try recovered(from: disk, isFresh: isFresh)
        isReducerUp = true
        retriesDue = [:]
        journaledTime = reducer?.core.time ?? WallTime(milliseconds: 0)
        reducerBeganAt = now
        beginWatch()
        try beginLocally()
        if reducer?.end == nil { try replaceDeparted() }
        flushedAt = now
        snapshotAt = disk.snapshots.first?.entry.position ?? 0
        if isTranscribing, let reducer {
            say("the reducer serves, epoch \(reducer.epoch) of history \(reducer.history), seq \(reducer.seq)")
        }
        wakeReducer(at: now)
    }

    private func recovered(from disk: SimulatedDisk, isFresh: Bool) throws(Violation) -> ReducerMachine<Ran> {
        guard let journal else { preconditionFailure("a reducer recovers without a journal") }
        var core: JournaledState<Ran>
        do {
            let recovery = try Recovery(
                ran, from: journal, coder: coder, note: trap.note, breaking: brokenRules)
            core = recovery.core
            if recovery.snapshot != nil { recoveriesFromSnapshots += 1 }
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
        if !disk.snapshots.isEmpty { core.forget(what: brokenRules) }
        if !isFresh { try compare(core, disk) }
        var configuration = ReducerConfiguration(
            silenceLimit: plan.silenceLimit, eventBytesMax: limits.eventBytesMax, inboxWindow: plan.inboxWindow,
            sessionsMax: plan.sessionsMax, sessionRetention: plan.sessionRetention)
        configuration.updatesPerSecond = 20
        configuration.deferredBatchesMax = plan.deferredBatchesMax
        configuration.transfersMax = plan.transfersMax
        configuration.commandsBase = plan.commandsBase
        if let bytes = plan.stateBytesMax { configuration.stateBytesMax = bytes }
        if let bytes = plan.statePartBytes { configuration.statePartBytes = bytes }
        configuration.stateHashes = plan.hasStateHashes
        if let bytes = plan.payloadBytesMax { configuration.payloadBytesMax = bytes }
        // Where every record is applied to a second state, hashes of marks are compared as they come; and states that are
        // large are fetched in pieces.
        if plan.hasShadow || plan.statePartBytes != nil { configuration.hashedBytesMax = 128 }
        if plan.keeping == .memory { core.note = nil }
        return ReducerMachine(
            recovered: core, configuration: configuration, seed: random.next(), nonce: random.next(), at: reducerMoment)
    }

    /// Whichever snapshot a recovery begins from, and also without one, it comes to the same.
    private func compare(_ recovered: JournaledState<Ran>, _ disk: SimulatedDisk) throws(Violation) {
        try checkers.rest(recovered, wholly: true)
        guard reducerLife % 8 == 0 else { return }
        for snapshot in disk.snapshots.dropFirst() where !snapshot.isDamaged {
            try compare(recovered, disk, from: snapshot)
        }
        if !plan.hasShadow { try compare(recovered, disk, from: nil) }
    }

    /// A state that is no function of its events makes all kinds of promises seem broken: what was found is held to be that
    /// where the journal gives another state than the reducer has.
    func rootCause(of violation: Violation) -> Violation {
        guard [.nothingStale, .observersConverge, .oneOwner, .nothingLost, .invariant].contains(violation.promise),
            limits.restInterval == 1, let core = reducer?.core, let disk, core.position == disk.position
        else { return violation }
        do {
            try compare(core, disk, from: nil)
            return violation
        } catch {
            return error
        }
    }

    private func compare(
        _ recovered: JournaledState<Ran>, _ disk: SimulatedDisk, from snapshot: SimulatedDisk.Snapshot?
    ) throws(Violation) {
        checkers.count(.replayIsExact)
        let place = snapshot.map { "the snapshot at \($0.entry.seq)" } ?? "the first record"
        do {
            var core =
                try snapshot.map { written in
                    try JournaledState(restoring: written.bytes, definition: plain, coder: coder)
                } ?? JournaledState(definition: plain, coder: coder, history: disk.history)
            core.core.brokenRules = brokenRules
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

    // MARK: Failing journals

    /// Nothing that depended on the failed records leaves, and nothing that the machine holds can be trusted.
    func journalFailed(_ records: [Record], _ error: JournalError) throws(Violation) {
        checkers.count(.durableBeforeVisible)
        journalFailures += 1
        if brokenRules.contains(.failedJournalsAreLeft) { return }
        say("\(error)")
        // What had been written before the failure may have reached the disk.
        if error.kind == .failedDisk { try tear(records) }
        journal?.close()
        try letGoOfMachine()
        reducerLife += 1
        agenda.note(.reducerRetry(life: reducerLife), at: now + between(250_000_000, 1_000_000_000))
    }

    /// The same process tries its journal again. Until now it answered nobody.
    func retryJournal(_ life: UInt32) throws(Violation) {
        guard life == reducerLife else { return }
        for peer in present { while peer.toReducer.readableAt <= now { _ = peer.toReducer.popFirst() } }
        if now < diskFailsUntil {
            return agenda.note(.reducerRetry(life: reducerLife), at: now + between(250_000_000, 1_000_000_000))
        }
        try openAndServe()
    }

    func letGoOfMachine() throws(Violation) {
        reducer = nil
        isReducerUp = false
        isSyncing = false
        unsynced = nil
        writing = nil
        journal = nil
        outcome = nil
        reducerWakesAt = .max
        try endLocally()
    }

    /// Some of the records of an append that did not come to its end stand.
    /// - Parameter length: how many; nil: as it comes.
    private func tear(_ records: [Record], at length: Int? = nil) throws(Violation) {
        let survivors = records.prefix(length ?? Int.random(in: 0...records.count, using: &random))
        disk?.append(survivors, isSynced: plan.keeping == .fsync || survivors.contains(where: \.outlivesPower))
        for record in survivors { try noteDurable(record) }
        if !records.isEmpty { say("\(survivors.count) of \(records.count) records stand") }
    }

    // MARK: Ending

    /// The process ends in the middle of reducing an event.
    func endInReduction() throws(Violation) {
        guard let (event, isItsFault) = trap.sprung else { return }
        say("the process ends in the reduction of \(event)")
        switch trap.finding(disk?.history ?? .none) {
        case .suspect(let suspect):
            if let entry = checkers.entry(history, suspect.session, suspect.number) {
                try observe(.trapped(entry: entry.id, isItsFault: isItsFault))
            }
        case .retry(let id): try observe(.trappedAgain(quarantined: id))
        default: break
        }
        trapCount += 1
        // A handler of signals leaves word of a fault, and cannot of a kill.
        try crashReducer(signal: isItsFault && chance(0.8) ? 4 : 0)
    }

    /// - Parameters:
    ///   - signal: what ended it, as far as a handler could write it down.
    ///   - losesPower: whether what was not synced is gone with it.
    ///   - position: what stood before it has reached the disk, synced or not; nil: some of it has.
    ///   - length: how many records of the append that was under way stand; nil: some of them.
    func crashReducer(
        signal: UInt64 = 0, losesPower: Bool = false, behind position: UInt64? = nil, tearingAt length: Int? = nil
    ) throws(Violation) {
        guard isReducerUp else { return }
        // An append may have come to its end, to a part, or to nothing.
        let records = plan.keeping == .memory ? [] : recordsUnderWay
        let isInReduction = trap.hasSprung
        trap.end(signal: signal)
        journal?.close()
        try letGoOfMachine()
        say("the reducer's process ends")
        if !isInReduction { try tear(records, at: length) }
        if plan.keeping == .none || losesPower { try loseTail(behind: position) }
        reducerLife += 1
        for peer in present where peer.role != .local { loseBuffers(of: peer) }
        if trap.isArmed, now > plan.buildReplacedAt {
            trap.isArmed = false
            say("another build of the loop is started")
        }
        agenda.note(.reducerStart(life: reducerLife), at: now + between(.milliseconds(5), .seconds(2)))
    }

    /// A graceful end: the whole journal is in a snapshot, and the next start replays nothing.
    func stopReducer() throws(Violation) {
        guard isReducerUp, !isSyncing, plan.keeping != .memory else { return }
        journal?.flush()
        if let last = snapshot(), last.entry.position == disk?.position { disk?.add(last, breaking: brokenRules) }
        try crashReducer()
    }

    /// Acknowledged records are gone, where the journal did not promise to keep them.
    private func loseTail(behind position: UInt64?) throws(Violation) {
        guard let disk, plan.keeping != .memory else { return }
        let share = random.fraction()
        let lost = position.map { disk.losePower(behind: $0) } ?? disk.losePower(keeping: share)
        guard !lost.isEmpty else { return }
        say("\(lost.count) records are lost")
        tailsLost += 1
        try forget(lost, of: disk)
    }

    /// Records are gone from the journal's end.
    func forget(_ lost: [Record], of disk: SimulatedDisk) throws(Violation) {
        history = disk.history
        for record in disk.records { if case .historyBegun(let begun, _) = record { history = begun } }
        try checkers.lose(lost, keeping: disk.records, of: disk.history)
    }

    /// What the dead process had buffered is gone; connections are made anew.
    private func loseBuffers(of peer: Peer) {
        for index in peer.pusher.pipes.indices {
            let lost = Int.random(in: 0...peer.pusher.pipes[index].count, using: &random)
            for _ in 0..<lost { _ = peer.pusher.pipes[index].popFirst() }
        }
        renewRoute(of: peer)
        guard peer.isConnected else { return }
        // What the old connection had delivered may be read late.
        if let last = peer.subscriber.pipes.indices.last, chance(0.3) {
            peer.subscriber.pipes[last].stalledUntil = stall()
        }
        if let last = peer.pusher.pipes.indices.last, chance(0.3) {
            peer.pusher.pipes[last].stalledUntil = stall()
            peer.pusher.pipes.append(Pipe())
        }
        renewSubscription(of: peer)
    }

    // MARK: Two of them

    /// Another process is started on the same journal, while this one has it.
    /// - Returns: whether there is one that has it.
    func startSecondReducer() throws(Violation) -> Bool {
        guard let disk, isReducerUp, plan.keeping != .memory else { return false }
        checkers.count(.oneOrder)
        if brokenRules.contains(.journalsHaveOneOwner) { disk.release() }
        do {
            var second = try SimulatedJournal(disk, durability: plan.durability, rules: brokenRules)
            // Nobody stopped it: it recovers and begins an epoch of its own, beside the first.
            let recovery = try Recovery(plain, from: second, coder: coder)
            var machine = ReducerMachine(
                recovered: recovery.core, configuration: ReducerConfiguration(), seed: 1, nonce: random.next(),
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
}
