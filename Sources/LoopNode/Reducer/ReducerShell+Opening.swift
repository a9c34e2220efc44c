import LoopCluster
import LoopCore
import LoopJournal
import LoopKeys
import LoopWire

/// Opens a reducer's journal, and answers peers before there is a machine.
extension ReducerShell {
    static func open(
        _ configuration: ReducerNodeConfiguration, _ log: NodeLog, _ obstacle: JournalObstacle,
        _ isStopping: @escaping @Sendable () -> Bool
    ) throws -> any Journal {
        var opening = opening(
            configuration, waits: configuration.succession == .wait, address: configuration.address(), log, isStopping)
        opening.waitsForFile = true
        opening.whileWaiting = { owner in
            obstacle.note(owner)
            return true
        }
        do {
            let journal = try configuration.journal.open(opening)
            obstacle.clear()
            return journal
        } catch {
            if error.kind.mayPass, isStopping() { throw RecoveryError.stopped }
            throw NodeError(error)
        }
    }

    /// Makes the lookout that asks the other reducers of the loop, or returns nil if there are none.
    static func lookout(
        _ configuration: ReducerNodeConfiguration, bound: ReducerAddress, _ ring: KeyRing?, _ log: NodeLog
    ) throws -> Lookout? {
        guard let reducers = configuration.reducers, reducers.endpoints.count > 1 else { return nil }
        guard ring == nil || reducers.keys != nil else {
            throw NodeError.keys(
                "--reducer with --keys needs --key and --reducer-key, by which the other reducers are asked")
        }
        return try Lookout(
            reducers, loop: Definition.name, own: configuration.address(bound: bound), context: configuration.context,
            log)
    }

    /// Opens the crash note of an earlier process, or returns nil if the journal is not a file.
    /// - Parameter hadCrash: set to true if the note reports a crash.
    static func crashNote(
        beside journal: any Journal, _ configuration: ReducerNodeConfiguration, _ log: NodeLog, hadCrash: inout Bool
    ) throws -> CrashNoteFile? {
        guard let path = configuration.journal.path(Definition.name) else { return nil }
        let file = try CrashNoteFile(path: SQLiteJournal.crashNote(of: path))
        if let line = try file.begin(history: journal.history) {
            hadCrash = true
            log.note(.crashed, line, [.reason(line)])
            // The line must be written before this process can end in the same event.
            StandardError.flush(within: .milliseconds(100))
        }
        return file
    }

    /// Answers peers while there is no service.
    static func answer(_ failure: JournalFailure, _ holder: SocketHolder, _ ring: KeyRing?) throws {
        var answers: [(route: [UInt8], messages: [ToPeer])] = []
        let allowed = ring?.allowed
        try holder.sockets.drainControl(for: .milliseconds(5)) { request, route, principal, _ in
            guard case .router(let id) = route, let request, Standby.may(.readStatus, principal, allowed) else {
                return
            }
            answers.append((id, try failure.answer(to: request, Definition.self)))
        }
        for (id, messages) in answers {
            for message in messages {
                let frame = PeerFrame(history: .none, epoch: .none, session: .none, message: message)
                try holder.sockets.reply(frame, to: id)
            }
        }
        try holder.sockets.drainSubscriptions(for: .milliseconds(5))
    }

    /// Answers peers while the state is rebuilt, ten times a second.
    /// - Returns: a closure to call before each record, which returns whether to stop.
    static func whileRecovering(
        _ journal: any Journal, _ holder: SocketHolder, _ ring: KeyRing?, _ isStopping: @escaping @Sendable () -> Bool
    ) -> () -> Bool {
        let began = SystemClock.monotonic
        var (count, total, answersAt) = (UInt64(0), UInt64?.none, began + .milliseconds(100))
        return {
            count += 1
            let now = SystemClock.monotonic
            guard now >= answersAt else { return isStopping() }
            answersAt = now + .milliseconds(100)
            let all = total ?? journal.position - min(journal.position, (try? journal.snapshots().first?.position) ?? 0)
            total = all
            let error = JournalError(
                .unreachable, operation: "be used yet",
                reason: "the state is being rebuilt from it: \(count) of about \(all) records are applied",
                remedy: "wait", fault: JournalFault(.recovering))
            // If a socket fails, the first turn gets the error again.
            try? holder.sockets.wait(milliseconds: 0)
            try? answer(JournalFailure(error: error, since: began, tries: 0, retryAt: now), holder, ring)
            return isStopping()
        }
    }
}
