import LoopCluster
import LoopCore
import LoopWire

/// How the reducer's process begins, and how it continues from its journal.
extension ReducerActor {
    // MARK: Beginning

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
        var core: JournaledState
        do {
            let recovery = try Recovery(
                ran, from: journal, coder: loop.coder, note: process.trap.note, breaking: brokenRules)
            core = recovery.journaled
        } catch {
            throw Violation(.replayIsExact, "the journal cannot be replayed: \(error)")
        }
        if !disk.snapshots.isEmpty { core.forget(what: brokenRules) }
        if !isFresh { try compare(core, disk) }
        return machine(on: core)
    }

    /// A machine that continues from a state, at the beginning of a new epoch.
    func machine(on recovered: JournaledState) -> ReducerMachine {
        var core = recovered
        var configuration = ReducerConfiguration(
            silenceLimit: plan.silenceLimit, eventBytesMax: loop.limits.eventBytesMax, inboxWindow: plan.inboxWindow,
            sessionsMax: plan.sessionsMax, sessionRetention: plan.sessionRetention)
        configuration.updatesPerSecond = 20
        configuration.isGuarded = world.keys != nil
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
        if world.candidates.count > 1 { configuration.searchLimit = LeaderSearch.walkMax }
        if plan.keeping == .memory || plan.candidateCount > 0 { core.note = nil }
        return ReducerMachine(
            recovered: core, configuration: configuration, seed: world.random.next(), nonce: world.random.next(),
            at: reducerMoment)
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
            // The new process was not refused. It recovers and begins a separate epoch, beside the first.
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
}
