import LoopCollections
import LoopCore
import LoopWire

/// What became of entries, of a session, and of the loop. (Protocol, sections 2 and 7.)
extension PeerMachine {
    mutating func acknowledge(_ acknowledgement: Acknowledgement) {
        if isUsedByAnother(acknowledgement.watermark) { return abandonSession() }
        guard acknowledgement.base <= outbox.settled || breaks(.acknowledgementsHaveABase) else {
            needsOutcomes = true
            return
        }
        settle(upTo: acknowledgement.watermark, acknowledgement.notable)
    }

    mutating func settle(upTo watermark: UInt64, _ notable: [NotableOutcome]) {
        guard watermark > outbox.settled else { return }
        var outcomes: [UInt64: EntryOutcome] = [:]
        for item in notable { outcomes[item.number] = item.outcome }
        let base = outbox.base
        for (number, entry) in outbox.settle(upTo: watermark, told: outcomes.keys.sorted()) {
            settle(base + number, entry, outcomes[number] ?? .applied(.initial))
        }
        progressAt = now
        pushRebuilds = 0
        noticeSpace()
        endIfEmpty()
        finishIfEmpty()
    }

    private mutating func settle(_ number: UInt64, _ entry: EntryHead, _ outcome: EntryOutcome) {
        if entry.hasEffect {
            let effect = entry.effect
            if entry.endsTheBody { finished.remove(FinishedAttempt(effect: effect, attempt: entry.attempt)) }
            // A refusal for its effect ends the attempt here too. One for the entry's own sake (its bytes) does not:
            // the reducer still counts on this attempt.
            if outcome.endsTheAttempt, running[effect]?.attempt == entry.attempt {
                cancel(effect, upTo: entry.attempt)
            }
        }
        switch outcome {
        case .refused: actions.append(.settled(number: number, outcome))
        case .applied where entry.wantsSeq: actions.append(.settled(number: number, outcome))
        case .applied: break
        }
    }

    /// The session is gone, with its history or by its own end: nothing is known of what was not settled. What a sender
    /// keeps and has never sent goes over to the next session.
    mutating func loseSession() {
        var lost = outbox.unsettled
        if keptSettled != nil {
            lost = outbox.loseSession()
            keptSettled = 0
        } else {
            outbox = Outbox()
        }
        for (number, _) in lost { actions.append(.settled(number: number, .refused(.historyChanged))) }
        for effect in running.keys.sorted() { cancel(effect, upTo: .all) }
        finished.removeAll()
        session = .none
        epoch = .none
        needsOutcomes = false
        needsAssignments = false
        pushRebuilds = 0
        noticeSpace()
        endIfEmpty()
        finishIfEmpty()
    }

    /// Whether the reducer has consumed entries of this session that never left here: somebody else has its numbers, a copy of
    /// its outbox file or a forger. What was consumed under a number is then not known to be the entry that has it here.
    func isUsedByAnother(_ watermark: UInt64) -> Bool {
        watermark > outbox.offered && !breaks(.foreignUseIsNoticed)
    }

    /// Leaves the session to whoever else uses it, and joins again as another peer: under the same ID it would be given the same
    /// session again. What it held is given to others once its lease has ended.
    mutating func abandonSession() {
        loseSession()
        configuration.peer = configuration.peer.successor(at: now)
        guard stage != .over else { return }
        enter(.introducing)
    }

    mutating func leave(_ history: History) {
        leftHistories.append(history)
        if leftHistories.count > 16 { leftHistories.removeFirst() }
    }

    mutating func noticeSpace() {
        guard hadNoSpace, hasSpaceForEvents() else { return }
        hadNoSpace = false
        actions.append(.hasSpace)
    }

    /// - Parameters:
    ///   - count: how many more entries the outbox is about to get.
    ///   - bytes: how many bytes those have.
    func hasSpaceForEvents(after count: Int = 0, bytes: Int = 0) -> Bool {
        breaks(.outboxesAreBounded)
            || outbox.count + count < configuration.outboxEntriesMax - configuration.outboxEntriesReserved
                && outbox.byteCount + bytes < configuration.outboxBytesMax
    }

    mutating func end(_ ending: HeardEnd) {
        guard self.ending == nil else { return }
        for effect in running.keys.sorted() { cancel(effect, upTo: .all) }
        self.ending = ending
        needsOutcomes = !outbox.isEmpty
        endIfEmpty()
    }

    /// A loop that has ended is left once every outcome is known, and its last state where somebody observes.
    mutating func endIfEmpty() {
        guard let ending, outbox.isEmpty, !awaitsLastState, stage != .over else { return }
        if session != .none { actions.append(.send(goodbye)) }
        actions.append(.loopEnded(exitCode: ending.exitCode, text: ending.text))
        stage = .over
    }

    /// The reducer has ended its loop and is gone: nobody can tell any more what became of the rest. What never left was not
    /// applied; what may have left may have been.
    mutating func endUnheard() {
        let (base, offered) = (outbox.base, breaks(.unheardIsNotRefused) ? 0 : outbox.offered)
        for (number, _) in outbox.unsettled {
            let reason = number > offered ? SendRefusal.Reason.ended : .historyChanged
            actions.append(.settled(number: base + number, .refused(reason)))
        }
        _ = outbox.settle(upTo: outbox.last, told: [])
        endIfEmpty()
    }
}

extension EntryOutcome {
    /// Whether the reducer has let go of the attempt whose entry met this outcome.
    fileprivate var endsTheAttempt: Bool {
        switch self {
        case .refused(.stale), .refused(.attempt), .refused(.ended): true
        case .refused, .applied: false
        }
    }
}

extension PeerID {
    /// An ID that neither this peer nor a copy of it has had: the moment makes the difference.
    fileprivate func successor(at now: MonotonicTime) -> PeerID {
        PeerID(high: Mix.finish(high ^ now.nanoseconds), low: Mix.finish(low &+ now.nanoseconds))
    }
}
