public import LoopCore
public import LoopWire

/// What the reducer says: introductions, join acceptances, ticks. (Protocol, section 5.)
extension PeerMachine {
    /// A frame that came through the inbox topic.
    public mutating func receivePublished(_ frame: PeerFrame, at now: MonotonicTime) {
        self.now = max(self.now, now)
        // A word that is not listened to is no sign of life.
        if !leftHistories.contains(frame.history) { heardAt = self.now }
        receive(frame)
    }

    /// A frame that came over DEALER.
    public mutating func receiveReply(_ frame: PeerFrame, at now: MonotonicTime) {
        self.now = max(self.now, now)
        receive(frame)
    }

    private mutating func receive(_ frame: PeerFrame) {
        if stage == .over { return }
        if stage == .leaving, frame.message != .goodbyeHeard { return }
        // Who answers a hello is there: if its history was left for a late word of one that is gone, that was a mistake.
        if case .introduction(let introduction) = frame.message {
            if stage == .introducing { leftHistories.removeAll { $0 == frame.history } }
            return connect(introduction)
        }
        if leftHistories.contains(frame.history) {
            droppedCount += 1
            return
        }
        switch frame.message {
        case .refused(let refused): return refuse(refused)
        case .busy(let retryAfter, let reason):
            if stage == .joining { wait(retryAfter, because: reason) }
            return
        case .goodbyeHeard:
            if stage == .leaving, frame.session == session { finish() }
            return
        case .joinAccepted(let watermark, let silenceLimit, let tickInterval, let feedbacks):
            return joinAccepted(frame, watermark, silenceLimit, tickInterval, feedbacks)
        case .introduction, .commands, .acknowledgement, .tick, .assignments, .outcomes, .statePart, .status, .ended,
            .update, .transitions, .serverHeartbeat, .answer, .delta, .unchanged, .stateHash:
            break
        }
        guard isCurrent(frame) else { return }
        switch frame.message {
        case .tick(let tick): hear(tick)
        case .acknowledgement(let acknowledgement): acknowledge(acknowledgement)
        case .outcomes(let outcomes):
            if isUsedByAnother(outcomes.watermark) { return abandonSession() }
            guard outcomes.base <= outbox.settled else { return }
            needsOutcomes = false
            settle(upTo: outcomes.watermark, outcomes.notable)
        case .commands(let number, let commands): apply(number, commands)
        case .assignments(let part): assemble(part)
        case .ended(let seq, let exitCode, let text): end(HeardEnd(frame, at: seq, exitCode: exitCode, text: text))
        case .introduction, .refused, .joinAccepted, .busy, .statePart, .status, .update, .transitions,
            .serverHeartbeat, .answer, .delta, .unchanged, .stateHash, .goodbyeHeard:
            break
        }
    }

    /// Whether a frame is of this history, epoch and session. One of a newer epoch or another history says that the
    /// reducer was restarted, one of a later session that it has opened another: ask to join it.
    private mutating func isCurrent(_ frame: PeerFrame) -> Bool {
        if frame.history == history && frame.epoch.number < epoch.number && !breaks(.olderEpochsAreDropped) {
            droppedCount += 1
            return false
        }
        // An epoch of the same number and another nonce is one of a journal that has lost this one.
        if frame.history != history || frame.epoch.number > epoch.number || isOtherEpoch(frame.epoch) {
            if stage == .joined || stage == .claiming { enter(.joining) }
            return false
        }
        if frame.session != session && !breaks(.framesNameTheirSession) {
            droppedCount += 1
            // Numbers of sessions only grow: the join acceptance to this one was lost, and one to the session before came late.
            if frame.session > session, stage == .joined || stage == .claiming { enter(.joining) }
            return false
        }
        return true
    }

    private func isOtherEpoch(_ other: Epoch) -> Bool { other.number == epoch.number && other.nonce != epoch.nonce }

    private mutating func connect(_ introduction: Introduction) {
        guard stage == .introducing else { return }
        loop = LoopID(name: introduction.name)
        eventBytesMax = Int(introduction.eventBytesMax)
        actions.append(.connect(introduction))
        heardAt = now
        enter(.joining)
    }

    private mutating func wait(_ duration: Duration, because reason: String) {
        nextStep = now + duration
        guard !reason.isEmpty, reason != busyReason else { return }
        busyReason = reason
        actions.append(.keptWaiting(reason: reason))
    }

    private mutating func refuse(_ refused: Refused) {
        guard stage == .introducing || stage == .joining else { return }
        actions.append(.refused(refused))
        stage = .over
    }

    private mutating func joinAccepted(
        _ frame: PeerFrame, _ watermark: UInt64, _ silenceLimit: Duration, _ tickInterval: Duration,
        _ feedbacks: [String]
    ) {
        if frame.history == history && frame.epoch.number < epoch.number && !breaks(.olderEpochsAreDropped) {
            droppedCount += 1
            return
        }
        // A join request that was repeated is answered again.
        let isKnown = frame.history == history && frame.epoch == epoch && frame.session == session
        if isKnown, stage == .claiming || stage == .joined { return }
        if session != .none && (frame.history != history || frame.session != session) {
            // An older session of the same history is a late word to an earlier self.
            if frame.history == history && frame.session < session { return }
            if frame.history != history { leave(history) }
            loseSession()
        }
        history = frame.history
        session = frame.session
        busyReason = nil
        self.silenceLimit = silenceLimit
        self.tickInterval = tickInterval
        self.feedbacks = feedbacks
        if frame.epoch != epoch {
            epoch = frame.epoch
            applied = 0
            reportedApplied = 0
            echo = 0
            // It says so again where the loop has ended.
            ending = nil
        }
        assembling = nil
        standing = ReadStanding()
        if isUsedByAnother(watermark) { return abandonSession() }
        outbox.goBack(to: outbox.settled)
        progressAt = now
        if watermark > outbox.settled { needsOutcomes = true }
        enter(.claiming)
    }

    private mutating func hear(_ tick: Tick) {
        if isUsedByAnother(tick.watermark) { return abandonSession() }
        echo = max(echo, tick.stamp)
        if tick.number > applied { needsAssignments = true }
        if tick.watermark > outbox.settled {
            if breaks(.acknowledgementsHaveABase) {
                settle(upTo: tick.watermark, [])
            } else {
                needsOutcomes = true
            }
        }
        let isMissing =
            standing.note(tick, sent: outbox.sent, over: tickInterval * 2) || breaks(.slownessIsNotLoss)
        if tick.received < outbox.sent, tick.resend || isMissing && now - max(progressAt, resentAt) > tickInterval {
            outbox.goBack(to: tick.received)
            standing = ReadStanding()
            resentAt = now
        }
    }
}
