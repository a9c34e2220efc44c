import LoopCore
import LoopWire

/// The news for people. Nothing here decides anything.
extension ReducerMachine {
    /// The peer of a session, or nil for the peer of this process, of which there is no news.
    func news(of session: SessionID) -> NewsOfPeer? {
        let member = admission.members[session]
        guard let peer = member?.peer ?? journaled.sessions[session]?.peer, peer != .local else { return nil }
        return NewsOfPeer(
            peer: peer, session: session, name: member?.name ?? "", isWorker: member?.groups.isEmpty == false)
    }

    mutating func tellJoined(_ session: SessionID) {
        if let news = news(of: session) { turn.news.append(.joined(news)) }
    }

    /// Reports that a peer leaves. Called before its session is removed.
    mutating func tellLeft(_ session: SessionID, _ parting: ReducerNews.Parting) {
        if let news = news(of: session) { turn.news.append(.left(news, parting)) }
    }

    /// Reports changes of members' silence, by their leases. Called at each tick, and before silent members lose their effects.
    mutating func tellSilence() {
        let now = context.now.monotonic
        for (place, session) in admission.members.places {
            let isSilent = admission.members[at: place].leaseEnds <= now
            let lostAt = admission.members[at: place].lostAt
            guard isSilent != (lostAt != nil), admission.members[at: place].hasJoined else { continue }
            admission.members[at: place].lostAt = isSilent ? now : nil
            guard let news = news(of: session) else { continue }
            if let lostAt {
                turn.news.append(.returned(news, after: now - lostAt))
            } else {
                turn.news.append(.lost(news, effects: admission.members[at: place].holding.count))
            }
        }
    }

    /// Reports the end of an attempt, if it failed or timed out.
    mutating func tellEnd(of effect: EffectID, _ attempt: Attempt, _ outcome: AttemptOutcome) {
        guard outcome.cause == .failed || outcome.cause == .timedOut else { return }
        let failure = NewsOfFailure(
            effect: effect, feedback: journaled.feedbackName(of: effect), attempt: attempt,
            failures: journaled.effects[effect]?.failures ?? 0, reason: outcome.message)
        turn.news.append(outcome.retryIn.map { .effectFailed(failure, retryIn: $0) } ?? .parked(failure))
    }

    /// Reports a live effect that does not run anywhere, because its request cannot be sent.
    mutating func tellUnsendable(_ effect: EffectID) {
        turn.news.append(
            .parked(
                NewsOfFailure(
                    effect: effect, feedback: journaled.feedbackName(of: effect), attempt: .none, failures: 0,
                    reason: LiveEffect.unsendable)))
    }
}
