import LoopCollections
import LoopCore
import LoopWire

/// The outcomes of entries, of a session, and of the loop. (Protocol, sections 2 and 7.)
extension PeerMachine {
    /// Takes outcomes of entries.
    /// - Parameter isAnswer: whether they were requested.
    mutating func take(_ outcomes: Acknowledgement, isAnswer: Bool) {
        if delivery.isForeign(outcomes.watermark, brokenRules) { return abandonSession() }
        guard isAnswer ? delivery.takesAnswer(outcomes) : delivery.takes(outcomes, brokenRules) else { return }
        settle(upTo: outcomes.watermark, outcomes.notable, outcomes.answers)
    }

    mutating func settle(upTo watermark: UInt64, _ notable: [NotableOutcome], _ answers: [NumberedAnswer] = []) {
        guard watermark > outbox.settled else { return }
        let base = outbox.base
        let told = notable.sorted { $0.number < $1.number }
        var answers = answers.sorted { $0.number < $1.number }[...]
        for (number, entry, outcome) in delivery.settle(upTo: watermark, told: told, at: now) {
            attempts.settle(entry, outcome, &actions)
            guard entry.wantsAnswer, case .applied(let seq) = outcome else {
                tell(base + number, outcome, wantsSeq: entry.wantsSeq, details.text(of: number))
                continue
            }
            answers = answers.drop { $0.number < number }
            let answer = answers.first?.number == number ? answers.first?.answer : nil
            actions.append(.answered(number: base + number, seq, answer))
        }
        details.forget(upTo: outbox.settled)
        finishSettling()
    }

    private mutating func tell(_ number: UInt64, _ outcome: EntryOutcome, wantsSeq: Bool, _ detail: String) {
        switch outcome {
        case .refused: actions.append(.settled(number: number, outcome, detail: detail))
        case .applied where wantsSeq: actions.append(.settled(number: number, outcome))
        case .applied: break
        }
    }

    /// Continues after entries have left the outbox.
    private mutating func finishSettling() {
        if delivery.noticesSpace(brokenRules) { actions.append(.hasSpace) }
        endIfEmpty()
        finishIfEmpty()
    }

    /// Drops the session, which is gone with its history or by its own end, with its entries and attempts.
    mutating func loseSession() {
        for number in delivery.loseSession() { actions.append(.settled(number: number, .refused(.historyChanged))) }
        attempts.loseSession(&actions)
        membership.loseSession()
        details = HeardDetails()
        finishSettling()
    }

    /// Leaves the session to the process that also uses it, and joins again as another peer. With the old ID it would get the
    /// same session again. The session's attempts go to other workers once its lease has ended.
    mutating func abandonSession() {
        loseSession()
        configuration.peer = configuration.peer.successor(at: now)
        if !isOver { phase = .introducing(next: now) }
    }

    mutating func end(_ ending: HeardEnd) {
        guard self.ending == nil else { return }
        attempts.cancelAll(&actions)
        self.ending = ending
        delivery.end()
        endIfEmpty()
    }

    /// Leaves a loop that has ended, once every outcome is known and an observer has its last state.
    mutating func endIfEmpty() {
        guard let ending, outbox.isEmpty, !awaitsLastState, !isOver else { return }
        if session != .none { actions.append(.send(goodbye)) }
        actions.append(.loopEnded(exitCode: ending.exitCode, text: ending.text))
        phase = .over
    }

    /// Gives up the outcomes that are not known, because the reducer has ended its loop and is gone.
    mutating func endUnheard() {
        for (number, reason) in delivery.giveUp(brokenRules) {
            actions.append(.settled(number: number, .refused(reason)))
        }
        endIfEmpty()
    }
}

extension PeerID {
    /// An ID that neither this peer nor a copy of it has had, because it depends on the time.
    fileprivate func successor(at now: MonotonicTime) -> PeerID {
        PeerID(high: Mix.finish(high ^ now.nanoseconds), low: Mix.finish(low &+ now.nanoseconds))
    }
}
