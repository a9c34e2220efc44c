package import LoopCore
package import LoopWire

/// Lost records of a journal, and new histories. (Protocol, section 7.)
extension ReducerMachine {
    /// Notices the missing records that a join request shows. From then on no peer is served. A reducer with keys believes only
    /// the key that owns the session, as the journal shows.
    /// - Returns: why the report is not believed, or nil.
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

    /// Notices a peer that has a session here and comes from another history. If two reducers of one list of addresses have
    /// different journals, both lead, and peers move between them.
    mutating func noticeOtherHistory(_ joinRequest: JoinRequest) {
        guard joinRequest.history != .none, joinRequest.history != journaled.history,
            let session = journaled.sessionByPeer[joinRequest.peer],
            // A join request is repeated until it is answered, so only a peer that has taken part here has come back.
            admission.members[session]?.hasJoined ?? false || journaled.sessions[session]?.watermark ?? 0 > 0
        else { return }
        otherHistory = (joinRequest.history, joinRequest.peer, context.now)
        turn.count(.otherHistory)
    }

    /// How old findings may be. Another leader that was found before this reducer leads may be its predecessor.
    private static var leadersAgeMax: Duration { .seconds(30) }

    /// Takes note of the leaders that were found at the same addresses.
    package mutating func notice(leaders: [LeaderFound]) {
        let others = leaders.filter {
            if $0.history != journaled.history { return true }
            return $0.epoch != .none && $0.epoch.nonce != journaled.epoch.nonce
                && context.now.monotonic - began >= Self.leadersAgeMax
        }
        guard others != otherLeaders else { return }
        otherLeaders = others
        if let other = others.first, let text = otherLeadersText { turn.news.append(.otherLeader(other, text)) }
    }

    /// The warning that there are two leaders, or nil. Neither can know which one is right.
    var otherLeadersText: String? {
        guard !otherLeaders.isEmpty else { return nil }
        let own = setting.advertised.map { " (\($0))" } ?? ""
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

    /// Removes all messages except those about the reducer itself, because the journal has lost records.
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

    /// Continues in another history with the present state. Every session ends, every attempt is void, and every live effect is
    /// granted again. Peers end their attempts when they are admitted to the new history. Call it between two turns.
    package mutating func beginHistory(_ history: History, at now: Moment) {
        context.clock.pass(to: now)
        let peers = admission.members.keys.sorted().compactMap { admission.members[$0]?.peer }
        write(.historyBegun(history, context.now.wall))
        // Grants of the new history must be above the floors that the record has set.
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
        // A peer that receives a frame of another history asks to join.
        for peer in peers { turn.send(.serverHeartbeat(journaled.seq), to: peer) }
    }
}

/// The report that a peer knows more of this history than the journal has, so that acknowledged records are missing. The disk
/// lost them, or the journal is an older copy.
package struct HistoryLost: Error, Equatable, Sendable, CustomStringConvertible {
    /// The records that the journal does not have, as the peer's join request shows.
    package enum Missing: Equatable, Sendable {
        /// The peer was admitted in an epoch that the journal does not have.
        case epoch(Epoch, newest: Epoch)
        /// The peer was granted a session that the journal does not have.
        case session(SessionID, next: SessionID)
        /// The peer was granted a session that is another peer's in the journal.
        case otherSession(SessionID, of: PeerID)
        /// Entries of the peer's session were acknowledged, but the journal does not have them.
        case entries(SessionID, acknowledged: UInt64, watermark: UInt64)
    }

    /// The records that are missing.
    package var missing: Missing
    /// The peer that knows of the missing records.
    package var peer: PeerID
    /// The name that the peer gives itself, for people; at most 256 characters.
    package var name: String

    /// What a person can do about missing acknowledged records. All errors about lost history end with this text.
    /// - Parameters:
    ///   - loop: the name of the loop.
    ///   - seq: the last event that can be kept, or 0 if none can.
    ///   - place: the journal, as the command line names it.
    package static func remedy(loop: String, seq: UInt64, place: String) -> String {
        let kept = seq == 0 ? "keep no event" : "keep events 1 to \(seq)"
        return "put the copy that has them in its place, or \(kept) and begin a new history: "
            + "loop-reducer \(loop) trim --after \(seq) \(place)"
    }

    /// One line for people: which records are missing, and which peer knows of them.
    package var description: String {
        let what =
            switch missing {
            case .epoch(let epoch, let newest) where epoch.number > newest.number:
                "epoch \(epoch), and the journal's newest is \(newest)"
            case .epoch(let epoch, _): "another epoch \(epoch) than the journal's, so that one of the two is a copy"
            case .session(let session, let next): "its session \(session), and the journal's next is \(next)"
            case .otherSession(let session, let owner): "its session \(session), which is \(owner)'s in the journal"
            case .entries(let session, let acknowledged, let watermark):
                "entry \(acknowledged) of session \(session) as acknowledged, and the journal ends at \(watermark)"
            }
        return "acknowledged records are missing: the peer \"\(name)\" (\(peer)) knows of \(what)"
    }
}
