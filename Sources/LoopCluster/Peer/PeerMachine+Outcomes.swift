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
        lose(.sessionTaken)
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

/// The loop's end, as a reducer has reported it. (Protocol, section 6.)
///
/// It is valid within its epoch. The journal may lose the end with its last records. A reducer that reaches the end again
/// reports it again.
struct HeardEnd: Equatable, Sendable {
    let history: History
    let epoch: Epoch
    /// The seq of the last state.
    let seq: Seq
    let exitCode: Int32
    let text: String

    init(_ frame: PeerFrame, at seq: Seq, exitCode: Int32, text: String) {
        (history, epoch) = (frame.history, frame.epoch)
        (self.seq, self.exitCode, self.text) = (seq, exitCode, text)
    }
}

/// The details of refusals, which the reducer sends before the refusals themselves.
struct HeardDetails: Equatable, Sendable {
    private var texts: [UInt64: String] = [:]

    /// More details than a reducer sends at a time.
    private static var countMax: Int { 64 }

    mutating func hear(_ details: [RefusalDetail], above settled: UInt64) {
        for detail in details where detail.number > settled && texts.count < Self.countMax {
            texts[detail.number] = detail.text
        }
    }

    /// The detail of an entry's refusal; empty if there is none.
    func text(of number: UInt64) -> String { texts.isEmpty ? "" : texts[number] ?? "" }

    mutating func forget(upTo settled: UInt64) {
        if !texts.isEmpty { texts = texts.filter { $0.key > settled } }
    }
}
