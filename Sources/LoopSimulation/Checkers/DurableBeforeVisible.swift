import LoopCluster
import LoopCore
import LoopWire

/// G7: everything that a frame says was in the journal when the frame left.
struct DurableBeforeVisible: Checker {
    static let promise = Promise.durableBeforeVisible
    private(set) var checkCount = 0
    private var history = History.none
    private var seq: UInt64 = 0
    private var epoch = Epoch.none
    private var watermarks: [SessionID: UInt64] = [:]
    /// The highest attempt of each effect in any frame, and the highest void one.
    private var granted: [EffectID: Attempt] = [:]
    private var floors: [EffectID: Attempt] = [:]
    /// The newest granted attempt of each effect in the journal.
    private var journaled: [EffectID: Attempt] = [:]
    /// The attempts that were sent to each peer in this epoch.
    private var told: [SessionID: ToldAttempts] = [:]
    /// How often each effect has failed.
    private var failures: [EffectID: UInt32] = [:]

    init(checkCount: Int = 0) { self.checkCount = checkCount }

    mutating func begin(_ history: History) {
        self = DurableBeforeVisible(checkCount: checkCount)
        self.history = history
    }

    mutating func follow(_ record: Record) {
        if let (session, number) = record.entry { watermarks[session] = number }
        switch record {
        case .event(let event): seq = event.seq.value
        case .historyBegun(let history, _):
            self.history = history
            watermarks = [:]
            granted = [:]
            journaled = [:]
        case .granted(let grants):
            for (index, effect) in grants.effects.enumerated() {
                let attempt = grants.attempt(at: index)
                journaled[effect] = attempt
                let earlier = Attempt(epoch: attempt.epoch, count: attempt.count - 1)
                floors[effect] = max(floors[effect] ?? .none, earlier)
            }
        case .epochBegun(let epoch, _):
            self.epoch = epoch
            told = [:]
        case .sessionOpened(let session, _): watermarks[session] = 0
        case .attemptEnded(let end):
            if end.cause == .failed || end.cause == .timedOut { failures[end.effect, default: 0] += 1 }
            floors[end.effect] = max(floors[end.effect] ?? .none, end.upTo)
        case .operatorAction(let action):
            if case .retryParked(let effect) = action.what { failures[effect] = nil }
        case .refused(let refusal):
            if let effect = refusal.effect { floors[effect] = max(floors[effect] ?? .none, refusal.attempt) }
        case .completed, .skipped, .sessionOwned, .sessionRetired, .definition, .stateHash, .stateMarked, .markHash,
            .quarantined, .scheduled:
            break
        }
    }

    /// A frame leaves the reducer.
    mutating func check<Work>(_ message: Outbound, _ model: LoopModel<Work>) throws(Violation) {
        switch message {
        case .inbox(_, let frame), .reply(_, let frame), .publish(_, let frame): try check(frame, model)
        }
    }

    private mutating func check<Work>(_ frame: PeerFrame, _ model: LoopModel<Work>) throws(Violation) {
        checkCount += 1
        if frame.history != history { throw visible("history \(frame.history)", "\(history)") }
        if frame.epoch != epoch { throw visible("epoch \(frame.epoch)", "\(epoch)") }
        switch frame.message {
        case .joinAccepted(let watermark, _, _, _): try check(watermark, of: frame.session)
        case .tick(let tick): try check(tick.watermark, of: frame.session)
        case .acknowledgement(let ack), .outcomes(let ack):
            try check(ack.watermark, of: frame.session)
            for item in ack.notable { if case .applied(let seq) = item.outcome { try check(seq) } }
        case .refusalDetails(let details):
            for detail in details { try check(detail.number, of: frame.session) }
        case .commands(let number, let commands):
            told[frame.session, default: ToldAttempts()].note(number, commands)
            for case .start(let grant) in commands {
                try check(grant)
                if journaled[grant.effect] != grant.attempt {
                    throw visible(
                        "attempt \(grant.attempt) of \(grant.effect)",
                        journaled[grant.effect].map { "a grant of \($0)" } ?? "no grant")
                }
                let failed = failures[grant.effect] ?? 0
                if grant.failures != failed {
                    throw visible("\(grant.failures) failures of \(grant.effect)", "\(failed)")
                }
            }
        case .assignments(let assignments):
            try check(assignments.watermark, of: frame.session)
            for grant in assignments.grants { try check(grant.effect.seq) }
            if let unnumbered = told[frame.session, default: ToldAttempts()].note(assignments) {
                throw Violation(
                    .progress,
                    "\(unnumbered) is new in an assignment that has number \(assignments.number), which was used before:"
                        + " no peer would notice its loss")
            }
        case .update(let seq, _), .serverHeartbeat(let seq), .stateHash(let seq, _): try check(seq)
        case .delta(let delta): try check(delta.seq)
        case .unchanged(let seqs): try check(seqs.upperBound)
        case .statePart(let part): try check(part.seq)
        case .transitions(let notes): for note in notes { try check(note.seq) }
        case .ended(let seq, let exitCode, let text): try check(seq, model.seq, exitCode, text, model.outcome)
        case .introduction, .busy, .status, .refused, .answer, .goodbyeHeard, .redirect, .noLeader: break
        }
    }

    private func check(_ watermark: UInt64, of session: SessionID) throws(Violation) {
        let durable = watermarks[session] ?? 0
        if watermark > durable { throw visible("watermark \(watermark) of session \(session)", "\(durable)") }
    }

    private func check(_ seq: Seq) throws(Violation) {
        if seq.value > self.seq { throw visible("seq \(seq)", "\(self.seq)") }
    }

    /// Checks that an end leaves only after the journal has it, and with the outcome that the events make.
    private func check(
        _ seq: Seq, _ last: Seq, _ exitCode: Int32, _ text: String, _ outcome: Outcome?
    ) throws(Violation) {
        guard let outcome else { throw visible("the loop's end at \(seq)", "no end") }
        if seq != last || exitCode != outcome.exitCode || text != String(outcome.text.prefix(4096)) {
            throw visible("the end \"\(text)\" (\(exitCode)) at \(seq)", "\(outcome) at \(last)")
        }
    }

    /// Checks that the end of the first grant of an effect is durable before a second grant leaves.
    private mutating func check(_ grant: Grant) throws(Violation) {
        try check(grant.effect.seq)
        if let earlier = granted[grant.effect], earlier < grant.attempt, floors[grant.effect] ?? .none < earlier {
            throw visible(
                "attempt \(grant.attempt) of \(grant.effect) after \(earlier)", "the end of none of them")
        }
        granted[grant.effect] = max(granted[grant.effect] ?? .none, grant.attempt)
    }

    private func visible(_ what: String, _ durable: String) -> Violation {
        Violation(.durableBeforeVisible, "\(what) left the reducer, the journal has \(durable)")
    }
}

/// The attempts that one peer was sent in one epoch, by numbered messages. A new attempt must have an unused number.
struct ToldAttempts: Sendable {
    /// The version of the newest request of each attempt.
    private var attempts: [Attempt: Seq] = [:]
    private var number: UInt64 = 0
    /// The assignment whose parts are being sent.
    private var assignment: UInt64?

    mutating func note(_ number: UInt64, _ commands: CommandRun) {
        self.number = max(self.number, number)
        for command in commands {
            switch command {
            case .start(let grant): attempts[grant.attempt] = grant.version
            case .update(_, let attempt, let version, _): attempts[attempt] = version
            case .cancel: break
            }
        }
    }

    /// - Returns: an attempt that is new in the part, or has a newer request, although its number was used before.
    mutating func note(_ part: Assignments) -> Attempt? {
        // The first assignment answers the claim, and contains what the peer itself has named.
        let mayBringMore = assignment == nil || part.number > number || part.part > 0 && part.number == assignment
        let new = part.grants.filter { grant in attempts[grant.attempt].map { $0 < grant.version } ?? true }
        for grant in part.grants { attempts[grant.attempt] = grant.version }
        number = max(number, part.number)
        assignment = part.number
        return mayBringMore ? nil : new.first?.attempt
    }
}
