import LoopCore
import LoopKeys
package import LoopWire

/// Messages over ROUTER, subscriptions, and results of other threads, each passed to the part that it concerns. (Protocol,
/// section 5.)
extension ReducerMachine {
    /// Takes a message that came over ROUTER, or from the peer of this process.
    /// - Parameters:
    ///   - message: the message.
    ///   - route: the route of the answers.
    ///   - principal: the sender, as the connection proves it.
    package mutating func receive(_ message: ToReducer, from route: Route, by principal: Principal) {
        if phase.isLost, !message.isAnsweredWithoutRecords { return }
        if let violation = violation(of: message, by: principal) { return refuse(violation, route, message.question) }
        if let (session, epoch) = message.speaker, epoch == journaled.epoch {
            admission.members[session]?.route = route
        }
        switch message {
        case .hello(let name, let schema): introduce(to: name, schema: schema, route)
        case .join(let joinRequest): requestJoin(joinRequest, route, principal)
        case .claim(let session, let epoch, let part): claim(session, epoch, part)
        case .heartbeat(let heartbeat): hear(heartbeat)
        case .assignmentsRequest(let session, let epoch):
            guard isCurrent(session, epoch), admission.members[session]?.hasJoined == true else { return }
            sendAssignments(to: session)
        case .outcomesRequest(let session, let after):
            answerOutcomes(after: after, of: session)
        case .stateRequest(let transfer, let part, let form, let section, let deltas):
            let request = StateRequest(
                transfer: transfer, part: part, form: form, name: section, interval: deltas, route: route)
            updates.answer(request, journaled, &turn, context)
        case .goodbye(let session, let peer, let history): hearGoodbye(of: session, peer, history, route)
        case .statusRequest: turn.statusDue.append(route)
        case .administration(let request, let document): administer(document, request, route, principal)
        case .progress(let session, let epoch, let reports):
            guard isCurrent(session, epoch) else { return }
            for report in reports { dispatch.note(report, of: session, journaled.effects) }
        }
    }

    /// Answers a peer of another protocol version with the version of this reducer.
    package mutating func refuse(protocolVersion version: UInt8, _ route: Route) {
        refuse(Refused(.protocolVersion, reducer: "\(Wire.version)", peer: "\(version)"), route, .none)
    }

    /// Takes note that a peer subscribes to its inbox on a new connection. A peer of an earlier epoch gets a frame of the
    /// present one, so that it joins at once and does not wait for silence. A peer that is already admitted is admitted again,
    /// because the join acceptance may have left before the subscription.
    package mutating func noticeSubscription(of peer: PeerID) {
        guard let session = journaled.sessionByPeer[peer] else { return }
        guard let member = admission.members[session] else {
            return turn.send(.serverHeartbeat(journaled.seq), to: peer, session: session)
        }
        let isBeingAdmitted = turn.messages.contains {
            if case .inbox(peer, let frame) = $0, case .joinAccepted = frame.message { true } else { false }
        }
        if !member.hasJoined, !isBeingAdmitted { acceptJoin(of: session) }
    }

    /// Takes the subscriptions to streams, as of this turn.
    package mutating func follow(_ new: Subscriptions) { updates.follow(new, journaled, &turn, context) }

    /// Publishes the state in this turn, so that a new subscriber to a stream of whole states does not wait for a change.
    package mutating func publishAgain(_ stream: UpdateStream) { updates.publishAgain(stream) }

    /// Takes the result of a background job. A result for an earlier machine is ignored.
    package mutating func receive(_ result: BackgroundJob.Result) {
        guard result.epoch == journaled.epoch else { return }
        switch result.outcome {
        case .digest(let hash, let bytes): hashing.finish(result.number, hash, bytes, &journaled, &turn)
        case .encoding(let chunks): updates.continueTransfer(result.number, chunks, &turn, context)
        }
    }

    // MARK: Join requests

    private mutating func introduce(to name: String, schema: UInt64, _ route: Route) {
        let loop = journaled.loop
        if name != "" && name != loop.name {
            return refuse(Refused(.loop, reducer: loop.name, peer: name), route, .hello)
        }
        turn.reply(
            .introduction(
                Introduction(
                    name: loop.name, schema: loop.schema, fingerprint: loop.fingerprint.value,
                    publisher: setting.publisher, collector: setting.collector,
                    eventBytesMax: UInt32(clamping: context.configuration.eventBytesMax))),
            to: route)
    }

    private mutating func requestJoin(_ joinRequest: JoinRequest, _ route: Route, _ principal: Principal) {
        if let refused = Admission.objection(to: joinRequest, route, journaled.loop) {
            return refuse(refused, route, .join)
        }
        let owner = access.owner(principal)
        if let violation = violation(ofPeerIn: joinRequest, by: principal) { return refuse(violation, route, .join) }
        if let violation = noticeLoss(joinRequest, principal) { return refuse(violation, route, .join) }
        if let loss = phase.loss {
            return turn.reply(.busy(to: .join, retryAfter: .seconds(1), reason: loss.description), to: route)
        }
        noticeOtherHistory(joinRequest)
        let origins = SessionOrigins.origins(of: principal, owner: owner, route)
        guard let session = session(for: joinRequest, of: owner, from: origins, route),
            let watermark = journaled.sessions[session]?.watermark
        else { return }
        if let violation = take(session, by: owner, principal) { return refuse(violation, route, .join) }
        admission.origins.note(session, from: origins)
        admission.requestJoin(
            joinRequest, in: session, watermark: watermark, feedbacks: journaled.runnable(by: joinRequest), route,
            context)
        acceptJoin(of: session)
        announceEnd(to: session)
    }

    mutating func refuse(_ refused: Refused, _ route: Route, _ question: Question) {
        turn.count(.joinRefused)
        turn.reply(.refused(refused, to: question), to: route)
    }

    private mutating func acceptJoin(of session: SessionID) {
        guard let watermark = journaled.sessions[session]?.watermark else { return }
        send(
            .joinAccepted(
                watermark: watermark, silenceLimit: context.configuration.silenceLimit,
                tickInterval: context.configuration.tickInterval, feedbacks: journaled.table.names),
            to: session)
    }

    /// The session that the peer had in this history, or a new one. It is nil if all are taken; the peer then gets the reason.
    private mutating func session(
        for joinRequest: JoinRequest, of owner: PublicKey?, from origins: [SessionOrigins.Origin], _ route: Route
    ) -> SessionID? {
        let choice = admission.chooseSession(
            for: joinRequest, from: origins, journaled, isGrace: phase.grace != nil, context)
        switch choice {
        case .existing(let session): return session
        case .full(let origin):
            turn.count(origin == nil ? .sessionsFull : .sessionShareFull)
            let reason = Admission.sessionsAreFull(from: origin, context.configuration)
            turn.reply(.busy(to: .join, retryAfter: .seconds(1), reason: reason), to: route)
            return nil
        case .inPlace(let idle):
            turn.count(.sessionEvicted)
            retire(idle, .evicted)
        case .new: break
        }
        let session = journaled.nextSession
        write(.sessionOpened(session, joinRequest.peer))
        if let owner { write(.sessionOwned(session, owner)) }
        return session
    }

    /// Gives a session that was begun without keys to the first key that joins in it.
    /// - Returns: why the principal may not have the session, or nil.
    private mutating func take(
        _ session: SessionID, by owner: PublicKey?, _ principal: Principal
    ) -> Violation? {
        if let owner, journaled.sessions[session]?.owner == nil { write(.sessionOwned(session, owner)) }
        return access.violation(of: session, by: principal, journaled, context)
    }

    // MARK: Members

    private mutating func claim(_ session: SessionID, _ epoch: Epoch, _ part: ClaimPart) {
        guard isCurrent(session, epoch) else { return }
        switch admission.take(part, of: session, context) {
        case .outOfOrder: return
        case .counts:
            for claim in part.attempts { adopt(claim, by: session) }
            if part.isLast {
                phase.inGrace { $0.stopAwaiting(session) }
                tellJoined(session)
                tellIdle(session)
            }
        case .repeats: break
        }
        if part.isLast { sendAssignments(to: session) }
    }

    /// Adopts an attempt of an earlier epoch, which continues on its worker.
    private mutating func adopt(_ claim: ClaimedAttempt, by session: SessionID) {
        guard phase.grants, dispatch.adopt(claim, by: session, &admission.members, journaled, context) else { return }
        phase.inGrace { $0.settle(claim.effect) }
    }

    private mutating func hear(_ heartbeat: Heartbeat) {
        guard isCurrent(heartbeat.session, heartbeat.epoch) else { return }
        admission.hear(heartbeat, context)
        journaled.forgetOutcomes(of: heartbeat.session, upTo: heartbeat.settled)
    }

    /// Answers a goodbye, even if the session has already ended, because the answer to the first one may be lost.
    private mutating func hearGoodbye(of session: SessionID, _ peer: PeerID, _ history: History, _ route: Route) {
        guard history == journaled.history, (peer == .local) == (route == .local) else { return }
        if let record = journaled.sessions[session] {
            guard record.peer == peer else { return }
            retire(session, .goodbye)
        }
        turn.reply(.goodbyeHeard, to: route, session: session)
    }

    /// Whether a message is of an admitted session and of this epoch.
    private mutating func isCurrent(_ session: SessionID, _ epoch: Epoch) -> Bool {
        guard admission.members[session] != nil else {
            turn.count(.unknownSession)
            return false
        }
        guard epoch == journaled.epoch else {
            turn.count(.olderEpoch)
            return false
        }
        return true
    }
}

extension ToReducer {
    /// The session that sends the message, and the epoch in which it was admitted. Answers go by the route of its newest
    /// message, because a connection that was lost comes back under another routing ID.
    fileprivate var speaker: (session: SessionID, epoch: Epoch)? {
        switch self {
        case .claim(let session, let epoch, _), .assignmentsRequest(let session, let epoch),
            .progress(let session, let epoch, _):
            (session, epoch)
        case .heartbeat(let heartbeat): (heartbeat.session, heartbeat.epoch)
        case .hello, .join, .outcomesRequest, .goodbye, .stateRequest, .statusRequest, .administration:
            nil
        }
    }

    /// Whether it is answered although records are missing, because it concerns the reducer itself.
    fileprivate var isAnsweredWithoutRecords: Bool {
        switch self {
        case .hello, .join, .statusRequest, .administration: true
        case .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .stateRequest, .goodbye, .progress:
            false
        }
    }
}
