import LoopCore
import LoopWire

/// Journals that have lost acknowledged records, and new histories. (Protocol, section 7.)
extension ReducerCore {
    /// Notices what a join request shows to be missing; then no peer is served any more. A reducer with keys believes it only
    /// of the key that the session is of, as the journal shows.
    /// - Returns: why it is not believed.
    mutating func noticeLoss(_ joinRequest: JoinRequest, _ principal: Principal) -> Violation? {
        guard !phase.isLost, let missing = journaled.missing(for: joinRequest, context.brokenRules) else { return nil }
        if let key = access.key(principal), !breaks(.lossIsReportedByOwners),
            journaled.sessions[joinRequest.session]?.owner != key.publicKey
        {
            turn.count(.lossNotBelieved)
            disbelievedLoss = (loss(missing, joinRequest), context.now)
            return .loss(key, joinRequest.session)
        }
        turn.count(.historyLost)
        phase.lose(loss(missing, joinRequest))
        return nil
    }

    private func loss(_ missing: HistoryLost.Missing, _ joinRequest: JoinRequest) -> HistoryLost {
        HistoryLost(missing: missing, peer: joinRequest.peer, name: String(joinRequest.name.prefix(256)))
    }

    /// Notices a peer that has a session here and comes from another history. Reducers of one list of addresses with two journals
    /// both lead, and peers move between them.
    mutating func noticeOtherHistory(_ joinRequest: JoinRequest) {
        guard joinRequest.history != .none, joinRequest.history != journaled.history,
            let session = journaled.sessionByPeer[joinRequest.peer],
            // A join request is repeated until it is answered, so only a peer that has taken part here has come back.
            admission.members[session]?.hasJoined ?? false || journaled.sessions[session]?.watermark ?? 0 > 0
        else { return }
        otherHistory = (joinRequest.history, joinRequest.peer, context.now)
        turn.count(.otherHistory)
    }

    /// What was found before a reducer leads may be the leader before it. So long what is found may be of that time.
    private static var leadersAgeMax: Duration { .seconds(30) }

    /// Takes notice of which reducers of the same addresses lead.
    public mutating func notice(leaders: [LeaderFound]) {
        let others = leaders.filter {
            if $0.history != journaled.history { return true }
            return $0.epoch != .none && $0.epoch.nonce != journaled.epoch.nonce
                && context.now.monotonic - began >= Self.leadersAgeMax
        }
        guard others != otherLeaders else { return }
        otherLeaders = others
        if let other = others.first, let text = otherLeadersText { turn.news.append(.otherLeader(other, text)) }
    }

    /// That there are two leaders. Neither can know which one is right.
    var otherLeadersText: String? {
        guard !otherLeaders.isEmpty else { return nil }
        let own = context.configuration.advertised.map { " (\($0))" } ?? ""
        let foreign = otherLeaders.filter { $0.history != journaled.history }
        guard foreign.isEmpty else {
            let others = foreign.map { "\($0.address) leads in history \($0.history)" }.joined(separator: ", ")
            return
                "TWO LEADERS WITH DIFFERENT HISTORIES: this reducer\(own) leads in history \(journaled.history), and \(others);"
                + " stop one of them, and give all reducers of the loop the same --journal"
        }
        let others = otherLeaders.map { "\($0.address) leads in epoch \($0.epoch)" }.joined(separator: ", ")
        return
            "TWO LEADERS OF ONE HISTORY: this reducer\(own) leads in epoch \(journaled.epoch), and \(others), with another start; if"
            + " that lasts, they keep copies of one journal: stop one of them, and give all reducers of the loop the same --journal"
    }

    /// Only what says something about the reducer itself leaves a journal that has lost records.
    mutating func withholdMessages() {
        turn.removeMessages { message in
            guard case .reply(_, let frame) = message else { return true }
            switch frame.message {
            case .introduction, .status, .answer, .busy, .refused: return false
            case .joinAccepted, .commands, .acknowledgement, .tick, .assignments, .outcomes, .statePart, .ended,
                .update,
                .transitions, .serverHeartbeat, .delta, .unchanged, .stateHash, .goodbyeHeard, .refusalDetails,
                .redirect, .noLeader:
                return true
            }
        }
    }

    /// Goes on under another history, with the state as it is: every session ends, every attempt is void, and everything
    /// that is wanted is granted again. Peers end what they run when they are admitted into it.
    mutating func beginHistory(_ history: History, at now: Moment) {
        context.clock.pass(to: now)
        let peers = admission.members.keys.sorted().compactMap { admission.members[$0]?.peer }
        write(.historyBegun(history, context.now.wall))
        // Grants of the new history must be above the floors that this has set.
        write(.epochBegun(Epoch(number: journaled.epoch.number + 1, nonce: history.value), context.now.wall))
        turn.beginEpoch(journaled.epoch, of: history)
        turn.forgetAcknowledgements()
        phase.beginHistory()
        admission.members.removeAll()
        (disbelievedLoss, otherHistory, otherLeaders) = (nil, nil, [])
        admission.origins = SessionOrigins()
        dispatch.beginHistory(journaled.effects)
        poison.review(journaled)
        _ = poison.takeDeferred()
        updates.beginHistory()
        hashing.forgetJob()
        if !phase.hasEnded {
            for effect in journaled.effects.keys.sorted() { schedule(effect) }
        }
        // A peer that hears a word of another history asks to join.
        for peer in peers { turn.send(.serverHeartbeat(journaled.seq), to: peer) }
    }
}
