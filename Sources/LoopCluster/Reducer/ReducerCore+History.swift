import LoopCollections
import LoopCore
import LoopWire

/// Journals that have lost acknowledged records. (Protocol, section 7.)
extension ReducerCore {
    /// Whether a message is still answered. Once records are known to be missing nothing is served but questions about
    /// the reducer itself.
    func serves(_ message: ToReducer) -> Bool {
        guard loss != nil else { return true }
        switch message {
        case .hello, .join, .statusRequest, .administration: return true
        default: return false
        }
    }

    /// What a join request shows to be missing, or nil. A peer says only what it was told, and it is told only what is
    /// durable (G7).
    func missing(for joinRequest: JoinRequest) -> HistoryLost.Missing? {
        guard joinRequest.history == core.history, !breaks(.batchesNameTheirHistory), !breaks(.lostHistoryIsNoticed)
        else {
            return nil
        }
        let isKnown =
            breaks(.epochsHaveANonce) ? joinRequest.epoch.number <= core.epoch.number : core.knows(joinRequest.epoch)
        if !isKnown { return .epoch(joinRequest.epoch, newest: core.epoch) }
        if joinRequest.session >= core.nextSession { return .session(joinRequest.session, next: core.nextSession) }
        guard let record = core.sessions[joinRequest.session] else { return nil }
        // No number is given twice: it was this peer's in records that are gone, and was given to another one since.
        if record.peer != joinRequest.peer { return .otherSession(joinRequest.session, of: record.peer) }
        if joinRequest.watermark > record.watermark {
            return .entries(joinRequest.session, acknowledged: joinRequest.watermark, watermark: record.watermark)
        }
        return nil
    }

    /// - Returns: whether acknowledged records are missing; then nothing is served any more.
    mutating func noticeLoss(_ joinRequest: JoinRequest) -> Bool {
        if loss == nil, let missing = missing(for: joinRequest) {
            count(.historyLost)
            loss = HistoryLost(missing: missing, peer: joinRequest.peer, name: String(joinRequest.name.prefix(256)))
        }
        return loss != nil
    }

    /// Only what says something about the reducer itself leaves a journal that has lost records.
    mutating func withholdMessages() {
        messages.removeAll { message in
            guard case .reply(_, let frame) = message else { return true }
            switch frame.message {
            case .introduction, .status, .answer, .busy, .refused: return false
            default: return true
            }
        }
    }

    /// Goes on under another history, with the state as it is: every session ends, every attempt is void, and everything
    /// that is wanted is granted anew. Peers end what they run when they are admitted into it.
    mutating func beginHistory(_ history: History, at now: Moment) {
        self.now = Moment.max(self.now, now)
        let peers = members.keys.sorted().compactMap { members[$0]?.peer }
        write(.historyBegun(history, self.now.wall))
        // Grants of the new history must be above the floors that this has set.
        write(.epochBegun(Epoch(number: core.epoch.number + 1, nonce: history.value), self.now.wall))
        for (place, _) in core.effects.places { scheduler.remove(at: place) }
        members.removeAll()
        owners.removeAll()
        unclaimed.removeAll()
        awaited.removeAll()
        toAcknowledge.removeAll()
        timeouts = BinaryHeap()
        grantsCount = 0
        loss = nil
        reviewSuspects()
        _ = poison.deferred.takeAll()
        updates.ring.removeAll()
        // What background jobs of the epoch before come to is not taken.
        hashing.job = nil
        transfers.removeAll { !$0.isComplete }
        if outcome == nil {
            for effect in core.effects.keys.sorted() { schedule(effect) }
        }
        // Whoever hears a word of another history asks to join.
        for peer in peers {
            messages.append(
                .inbox(
                    peer,
                    PeerFrame(history: history, epoch: core.epoch, session: .none, message: .serverHeartbeat(core.seq)))
            )
        }
    }
}
