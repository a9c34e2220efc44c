import LoopCore
public import LoopWire

/// JoinRequest, claims, heartbeats and requests: what arrives over ROUTER. (Protocol, section 5.)
extension ReducerCore {
    /// A message that came over ROUTER, or from the peer of this process.
    public mutating func receive(_ message: ToReducer, from route: Route) {
        guard serves(message) else { return }
        if let (session, epoch) = message.speaker, epoch == core.epoch { members[session]?.route = route }
        switch message {
        case .hello(let name, let schema): introduce(to: name, schema: schema, route)
        case .join(let joinRequest): requestJoin(joinRequest, route)
        case .claim(let session, let epoch, let part): claim(session, epoch, part)
        case .heartbeat(let heartbeat): hear(heartbeat)
        case .assignmentsRequest(let session, let epoch):
            guard isCurrent(session, epoch), members[session]?.hasJoined == true else { return }
            sendAssignments(to: session)
        case .outcomesRequest(let session, let after): answerOutcomes(session, after: after)
        case .stateRequest(let transfer, let part, let form, let section, let deltas):
            answerState(transfer, part, form, of: section, deltas, route)
        case .transitionsRequest(let fingerprint, let after): answerTransitions(fingerprint, after: after, route)
        case .goodbye(let session, let peer, let history): hearGoodbye(of: session, peer, history, route)
        case .statusRequest: reply(.status(statusDocument()), to: route)
        case .administration(let request, let document): administer(document, request, route)
        }
    }

    /// A peer of another version of the protocol asked for something: it is told which version is spoken here.
    public mutating func refuse(protocolVersion version: UInt8, _ route: Route) {
        count(.joinRefused)
        reply(.refused(Refused(.protocolVersion, reducer: "\(Wire.version)", peer: "\(version)")), to: route)
    }

    /// A peer listens to its inbox, on a connection that is new. One that was here in an earlier epoch is told the present
    /// one, so that it asks to join at once and does not wait to notice a silence. One that has been admitted already is admitted again:
    /// the join acceptance may have left before it listened.
    public mutating func noticeSubscription(of peer: PeerID) {
        guard let session = core.sessionByPeer[peer] else { return }
        guard let member = members[session] else {
            messages.append(
                .inbox(
                    peer,
                    PeerFrame(
                        history: core.history, epoch: core.epoch, session: session, message: .serverHeartbeat(core.seq))
                ))
            return
        }
        let isBeingAdmitted = messages.contains {
            if case .inbox(peer, let frame) = $0, case .joinAccepted = frame.message { true } else { false }
        }
        if !member.hasJoined, !isBeingAdmitted { acceptJoin(of: session) }
    }

    private mutating func introduce(to name: String, schema: UInt64, _ route: Route) {
        if name != "" && name != core.loop.name {
            count(.joinRefused)
            reply(.refused(Refused(.loop, reducer: core.loop.name, peer: name)), to: route)
        } else {
            reply(
                .introduction(
                    Introduction(
                        name: core.loop.name, schema: core.loop.schema, fingerprint: fingerprint.value,
                        publisher: configuration.publisher, collector: configuration.collector,
                        eventBytesMax: UInt32(clamping: configuration.eventBytesMax))),
                to: route)
        }
    }

    private mutating func requestJoin(_ joinRequest: JoinRequest, _ route: Route) {
        if let refused = objection(to: joinRequest, route) {
            count(.joinRefused)
            reply(.refused(refused), to: route)
            return
        }
        if noticeLoss(joinRequest) {
            return reply(.busy(retryAfter: .seconds(1), reason: loss?.description ?? ""), to: route)
        }
        guard let session = session(for: joinRequest), let watermark = core.sessions[session]?.watermark else {
            count(.sessionsFull)
            return reply(.busy(retryAfter: .seconds(1), reason: sessionsAreFull), to: route)
        }
        let capacity = min(Int(joinRequest.capacity), configuration.capacityMax)
        let feedbacks = runnable(by: joinRequest)
        if members[session] == nil {
            members[session] = Member(
                peer: joinRequest.peer, name: joinRequest.name, route: route, groups: [], capacity: 0,
                leaseEnds: now.monotonic + configuration.silenceLimit,
                heardAt: now.monotonic, acknowledged: watermark)
        }
        let commandsBase = breaks(.commandsAreBounded) ? 1 << 32 : configuration.commandsBase
        members[session]?.commandsBase = commandsBase
        members[session]?.route = route
        members[session]?.name = joinRequest.name
        members[session]?.groups = Array(joinRequest.groups.prefix(64))
        members[session]?.capacity = capacity
        members[session]?.schema = joinRequest.schema
        members[session]?.feedbacks = feedbacks
        members[session]?.heardAt = now.monotonic
        members[session]?.claim = ClaimProgress()
        acceptJoin(of: session)
        announceEnd(to: session)
    }

    private mutating func acceptJoin(of session: SessionID) {
        guard let watermark = core.sessions[session]?.watermark else { return }
        send(
            .joinAccepted(
                watermark: watermark, silenceLimit: configuration.silenceLimit,
                tickInterval: configuration.tickInterval, feedbacks: core.table.names),
            to: session)
    }

    /// The session that the peer had in this history, or a new one; nil where there may be no more of them.
    private mutating func session(for joinRequest: JoinRequest) -> SessionID? {
        let isOfThisHistory = joinRequest.history == core.history || breaks(.batchesNameTheirHistory)
        if isOfThisHistory, core.sessions[joinRequest.session]?.peer == joinRequest.peer { return joinRequest.session }
        // A join request is repeated until its join acceptance arrives: all of them get the one session that the first one opened.
        // One that names another history may come from a peer that was here before and forgot its numbers: it gets a
        // session in which nothing was sent. That is one that was opened in this epoch and has not been joined: what was
        // sent in an earlier epoch may still be on its way.
        if let session = core.sessionByPeer[joinRequest.peer], let record = core.sessions[session] {
            let isUnused =
                members[session]?.hasJoined == false && record.watermark == 0 && record.idleSince == nil
            if isOfThisHistory || joinRequest.session == .none ? session > joinRequest.session : isUnused {
                return session
            }
        }
        guard joinRequest.peer == .local || hasSpaceForSession() else { return nil }
        let session = core.nextSession
        write(.sessionOpened(session, joinRequest.peer))
        return session
    }

    /// The parts of a claim count as they come: what was claimed once is no other's. The session joins with the last part, once
    /// it has all of them.
    private mutating func claim(_ session: SessionID, _ epoch: Epoch, _ part: ClaimPart) {
        guard isCurrent(session, epoch) else { return }
        members[session]?.heardAt = now.monotonic
        if members[session]?.hasJoined == false {
            let isNext = members[session]?.claim.take(part) ?? false
            guard isNext || breaks(.claimsNeedAllParts) else { return }
            for claim in part.attempts { adopt(claim, by: session) }
            guard part.isLast else { return }
            members[session]?.hasJoined = true
            awaited.remove(session)
        }
        if part.isLast { sendAssignments(to: session) }
    }

    /// An attempt that runs since before this epoch goes on where it runs.
    private mutating func adopt(_ claim: ClaimedAttempt, by session: SessionID) {
        guard unclaimed.contains(claim.effect), let place = core.effects.index(forKey: claim.effect),
            owners[place] == nil, core.effects[at: place].isOpen, claim.attempt > core.effects[at: place].floor,
            let holder = members.index(forKey: session)
        else { return }
        unclaimed.remove(claim.effect)
        owners.give(
            place, to: Ownership(session: session, attempt: claim.attempt), &members.values[holder].holding)
        scheduler.adopt(at: place, of: claim.effect.feedback, group: core.effects[at: place].group)
        watchTimeout(of: claim.effect, at: place, claim.attempt)
    }

    private mutating func hear(_ heartbeat: Heartbeat) {
        guard isCurrent(heartbeat.session, heartbeat.epoch), var member = members[heartbeat.session] else { return }
        members[heartbeat.session] = nil
        member.heardAt = now.monotonic
        member.capacity = min(Int(heartbeat.capacity), configuration.capacityMax)
        member.hasApplied(heartbeat.applied)
        // The stamp is ours: a later one than now was never sent by this reducer.
        let echoed = MonotonicTime(nanoseconds: min(heartbeat.echo, now.monotonic.nanoseconds))
        let heard = breaks(.leasesRunFromTheEcho) ? now.monotonic : echoed
        member.leaseEnds = max(member.leaseEnds, heard + configuration.silenceLimit)
        member.settled = max(member.settled, heartbeat.settled)
        members[heartbeat.session] = member
        core.forgetOutcomes(of: heartbeat.session, upTo: heartbeat.settled)
    }

    private mutating func answerOutcomes(_ session: SessionID, after: UInt64) {
        guard let member = members[session], let record = core.sessions[session] else { return }
        // Nothing is forgotten for it: it names no epoch, and may be meant for another history's session of this number.
        var base = after
        repeat {
            let part = record.acknowledgement(after: base, bytesMax: outcomesBytesMax)
            reply(.outcomes(part), to: member.route, session: session)
            base = part.watermark
        } while base < record.watermark
    }

    /// It is answered also where the session has ended already: the answer to the first goodbye was lost.
    private mutating func hearGoodbye(of session: SessionID, _ peer: PeerID, _ history: History, _ route: Route) {
        guard history == core.history, (peer == .local) == (route == .local) else { return }
        if let record = core.sessions[session] {
            guard record.peer == peer else { return }
            retire(session)
        }
        reply(.goodbyeHeard, to: route, session: session)
    }

    /// Whether a message is of an admitted session and of this epoch.
    private mutating func isCurrent(_ session: SessionID, _ epoch: Epoch) -> Bool {
        guard members[session] != nil else {
            count(.unknownSession)
            return false
        }
        guard epoch == core.epoch else {
            count(.olderEpoch)
            return false
        }
        return true
    }

    mutating func reply(_ message: ToPeer, to route: Route, session: SessionID = .none) {
        messages.append(
            .reply(
                route, PeerFrame(history: core.history, epoch: core.epoch, session: session, message: message)))
    }

    /// Through the peer's inbox topic.
    mutating func send(_ message: ToPeer, to session: SessionID) {
        guard let peer = members[session]?.peer else { return }
        messages.append(
            .inbox(
                peer, PeerFrame(history: core.history, epoch: core.epoch, session: session, message: message)))
    }
}

extension ToReducer {
    /// The session that speaks, and the epoch in which it was admitted: its answers go to where its newest message came
    /// from, for a connection that was lost comes back under another routing id.
    fileprivate var speaker: (session: SessionID, epoch: Epoch)? {
        switch self {
        case .claim(let session, let epoch, _), .assignmentsRequest(let session, let epoch): (session, epoch)
        case .heartbeat(let heartbeat): (heartbeat.session, heartbeat.epoch)
        case .hello, .join, .outcomesRequest, .goodbye, .stateRequest, .statusRequest, .administration,
            .transitionsRequest:
            nil
        }
    }
}

extension Moment {
    static func max(_ a: Moment, _ b: Moment) -> Moment { a.monotonic < b.monotonic ? b : a }
}
