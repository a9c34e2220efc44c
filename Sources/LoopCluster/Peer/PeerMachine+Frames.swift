package import LoopCore
package import LoopWire

/// The reducer's messages: introductions, join acceptances, commands, assignments, ticks. (Protocol, section 5.)
extension PeerMachine {
    /// Takes a frame that came through the inbox topic.
    package mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        self.now = max(self.now, now)
        // A dropped frame is no sign of life. While the reducer receives a joined peer's messages, it sends ticks, and after
        // the loop's end that end instead.
        let isSign =
            switch frame.message {
            case .tick, .ended: true
            default: !phase.isJoined
            }
        if isSign, !membership.left.contains(frame.history) { heardAt = self.now }
        receive(frame)
    }

    /// Takes a frame that came over DEALER.
    package mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        self.now = max(self.now, now)
        askedAt = nil
        receive(frame)
    }

    private mutating func receive(_ frame: PeerFrame) {
        switch phase {
        case .over: return
        case .leaving:
            if frame.message == .goodbyeHeard, frame.session == session, !membership.left.contains(frame.history) {
                finish()
            }
            return
        case .introducing, .joining, .claiming, .joined: break
        }
        if case .introduction(let introduction) = frame.message { return connect(introduction, of: frame.history) }
        if membership.left.contains(frame.history) {
            droppedCount += 1
            return
        }
        switch frame.message {
        case .refused(let refused, let question):
            if !question.isOfAnObserver, !question.isOfATool { refuse(refused) }
        case .busy(let question, let retryAfter, let reason): wait(retryAfter, because: reason, question)
        case .joinAccepted(let watermark, let silenceLimit, let tickInterval, let feedbacks):
            let terms = ReducerTerms(silenceLimit: silenceLimit, tickInterval: tickInterval, feedbacks: feedbacks)
            joinAccepted(frame, watermark, terms)
        case .tick(let tick): if isCurrent(frame) { hear(tick) }
        case .acknowledgement(let acknowledgement): if isCurrent(frame) { take(acknowledgement, isAnswer: false) }
        case .outcomes(let outcomes): if isCurrent(frame) { take(outcomes, isAnswer: true) }
        case .refusalDetails(let details): if isCurrent(frame) { self.details.hear(details, above: outbox.settled) }
        case .commands(let number, let commands): if isCurrent(frame) { apply(number, commands) }
        case .assignments(let part):
            if isCurrent(frame), let whole = phase.add(part) { apply(whole) }
        case .ended(let seq, let exitCode, let text):
            if isCurrent(frame) { end(HeardEnd(frame, at: seq, exitCode: exitCode, text: text)) }
        case .statePart, .status, .update, .transitions, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash:
            // The frame is not for this machine, but it may be the first one of a newer epoch.
            _ = isCurrent(frame)
        case .redirect(let address): redirect(to: address, frame)
        case .noLeader(let retryAfter): waitForLeader(retryAfter)
        case .introduction, .goodbyeHeard: break
        }
    }

    /// Whether a frame is of this session, history and epoch. A later frame makes the peer join again.
    private mutating func isCurrent(_ frame: PeerFrame) -> Bool {
        let origin = membership.origin(of: frame, brokenRules)
        if origin == .current { return true }
        droppedCount += 1
        if origin == .later {
            lose(.newEpoch)
            phase.rejoin(at: now)
        }
        return false
    }

    // MARK: Joining

    private mutating func connect(_ introduction: Introduction, of history: History) {
        guard case .introducing = phase else { return }
        // A reducer that answers a hello exists. If its history was left because of a late frame of another one, that was wrong.
        membership.left.remove(history)
        loop = LoopID(name: introduction.name)
        eventBytesMax = Int(introduction.eventBytesMax)
        actions.append(.connect(introduction))
        heardAt = now
        phase = .joining(next: now)
    }

    private mutating func wait(_ duration: Duration, because reason: String, _ question: Question) {
        let time = now + ReducerTerms.pause(duration)
        switch (phase, question) {
        // This reducer waits for its journal. The peer does not leave it for that, and greets it again.
        case (.introducing, .hello):
            search.greet(from: time)
            phase = .introducing(next: time)
            redialsAt = time + redialInterval
        case (.joining, .join): phase.next = time
        default: return
        }
        guard !reason.isEmpty, reason != busyReason else { return }
        busyReason = reason
        actions.append(.keptWaiting(reason: reason))
    }

    private mutating func refuse(_ refused: Refused) {
        switch phase {
        case .introducing, .joining:
            actions.append(.refused(refused))
            phase = .over
        case .claiming, .joined, .leaving:
            guard refused.what.isOfKeys else { return }
            actions.append(.refused(refused))
            phase = .over
        case .over: break
        }
    }

    private mutating func joinAccepted(_ frame: PeerFrame, _ watermark: UInt64, _ terms: ReducerTerms) {
        switch membership.verdict(on: frame, brokenRules) {
        case .late:
            droppedCount += 1
            return
        case .repeats: if phase.isAdmitted { return }
        case .continues: break
        case .replaces:
            if frame.history != history { membership.left.insert(history) }
            loseSession()
            if isOver { return }
        }
        if membership.admit(by: frame) {
            inbox = PeerInbox()
            // The reducer reports the end again if the loop has ended.
            ending = nil
        }
        self.terms = terms
        busyReason = nil
        search.found()
        if delivery.isForeign(watermark, brokenRules) { return abandonSession() }
        lose(.newEpoch)
        delivery.admit(watermark, at: now)
        progress.begin()
        askedAt = nil
        phase = .claiming(next: now, AssignmentParts())
    }

    // MARK: The inbox

    private mutating func apply(_ number: UInt64, _ commands: CommandRun) {
        guard number > inbox.applied else { return }
        let isNext = number == inbox.applied + 1 && !phase.needsAssignments
        guard phase.isJoined, isNext || breaks(.inboxGapsAreRepaired) else { return noticeGap() }
        inbox.apply(upTo: number)
        attempts.apply(commands, start, brokenRules, &actions)
    }

    private mutating func noticeGap() { phase.inJoined { $0.needsAssignments = true } }

    private mutating func apply(_ assignments: Assignments) {
        // An assignment that is older than what this peer already knows must not undo it.
        let isOlder = assignments.number < inbox.applied && !breaks(.assignmentsAreNotOlder)
        let isUnaware = assignments.watermark < outbox.settled && !breaks(.assignmentsKnowTheWatermark)
        if isOlder || isUnaware {
            noticeGap()
            // An acknowledgement that came after the join request names records that the journal may have lost. Only a join
            // request, not a claim, shows them to the reducer.
            if isUnaware, !phase.isJoined { phase = .joining(next: now) }
            return
        }
        inbox.apply(upTo: assignments.number)
        attempts.apply(assignments.grants, isFirst: !phase.isJoined, start, brokenRules, &actions)
        phase.assign(at: now)
    }

    /// What to do with a new attempt.
    private var start: HeldAttempts.Start { ending != nil ? .ignore : isStopping ? .handBack : .run }

    private mutating func hear(_ tick: Tick) {
        if delivery.isForeign(tick.watermark, brokenRules) { return abandonSession() }
        inbox.hear(tick)
        if tick.number > inbox.applied { noticeGap() }
        if breaks(.acknowledgementsHaveABase) { settle(upTo: tick.watermark, []) }
        delivery.hear(tick, at: now, every: terms.tickInterval, brokenRules)
    }
}
