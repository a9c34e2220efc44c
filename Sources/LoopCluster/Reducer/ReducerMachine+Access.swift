package import LoopKeys
package import LoopWire

/// The rights of principals, and the refusal of what they may not do. (Protocol, section 12.)
extension ReducerMachine {
    /// Replaces the admitted keys. Sessions of other keys end, and their peers' effects are granted again.
    package mutating func admit(_ keys: AllowedKeys) {
        access.admit(keys)
        guard !breaks(.revokedKeysLoseTheirSessions) else { return }
        for session in journaled.sessions.keys.sorted() {
            let groups = admission.members[session]?.groups ?? []
            guard let record = journaled.sessions[session], !access.mayGoOn(record.owner, groups: groups) else {
                continue
            }
            turn.count(.sessionRevoked)
            retire(session, .revoked)
        }
    }

    /// Whether a principal may subscribe to a topic. An inbox is for its peer alone. If the principal may not, the attempt is
    /// counted, and the peer gets a refusal over ROUTER.
    /// - Parameters:
    ///   - topic: the topic of the subscription.
    ///   - principal: the principal, as the connection proves it.
    ///   - peer: the peer whose inbox the connection already subscribes to, or nil if there is none.
    package mutating func mayFollow(_ topic: Topic, _ principal: Principal, of peer: PeerID? = nil) -> Bool {
        guard let violation = violation(of: topic, by: principal) else { return true }
        if let session = peer.flatMap({ journaled.session(of: $0) }), let route = admission.members[session]?.route,
            access.violation(of: session, by: principal, journaled, context) == nil
        {
            refuse(violation, route, .none)
        } else {
            note(violation)
        }
        return false
    }

    private func violation(of topic: Topic, by principal: Principal) -> Violation? {
        if let violation = access.violation(of: topic.verb, by: principal, context) { return violation }
        guard case .inbox(_, let peer) = topic, let session = journaled.session(of: peer), owner(of: peer) != nil,
            !breaks(.inboxesAreOfTheirOwners)
        else { return nil }
        return access.violation(of: session, by: principal, journaled, context)
    }

    /// The key whose owner has opened a peer's session, or nil if there is none.
    package func owner(of peer: PeerID) -> PublicKey? {
        journaled.session(of: peer).flatMap { journaled.sessions[$0]?.owner }
    }

    /// Counts a violation, and writes it into the log once.
    mutating func note(_ violation: Violation) {
        turn.count(.notAllowed)
        if let line = access.lineToWrite(violation) { turn.news.append(.notAllowed(line)) }
    }

    /// Refuses a question because of a violation.
    mutating func refuse(_ violation: Violation, _ route: Route, _ question: Question) {
        note(violation)
        turn.reply(.refused(violation.refused, to: question), to: route)
    }

    /// Why a message may not come from a principal, or nil if it may. An operator's request is judged again once it has been read.
    func violation(of message: ToReducer, by principal: Principal) -> Violation? {
        switch message {
        case .hello, .statusRequest, .administration: access.violation(of: .readStatus, by: principal, context)
        case .join(let joinRequest): access.violation(of: joinRequest, by: principal, context)
        case .claim(let session, let epoch, _), .assignmentsRequest(let session, let epoch),
            .progress(let session, let epoch, _):
            violation(of: session, by: principal, isPresent: epoch == journaled.epoch)
        case .heartbeat(let heartbeat):
            violation(of: heartbeat.session, by: principal, isPresent: heartbeat.epoch == journaled.epoch)
        case .goodbye(let session, _, let history):
            violation(of: session, by: principal, isPresent: history == journaled.history)
        case .outcomesRequest(let session, _): violation(of: session, by: principal, isPresent: true)
        case .stateRequest: access.violation(of: .fetchStates, by: principal, context)
        }
    }

    /// - Parameter isPresent: whether the message is of this epoch or history. In another one, the session may have been this
    ///   principal's. The message is then only ignored.
    private func violation(of session: SessionID, by principal: Principal, isPresent: Bool) -> Violation? {
        isPresent
            ? access.violation(of: session, by: principal, journaled, context)
            : access.violation(of: .readStatus, by: principal, context)
    }

    /// Why a principal may not join as a peer, or nil if it may. It may not if the peer's session, and so its inbox, belongs to
    /// another key, whatever session and history it names.
    func violation(ofPeerIn joinRequest: JoinRequest, by principal: Principal) -> Violation? {
        guard let session = journaled.session(of: joinRequest.peer), journaled.sessions[session]?.owner != nil else {
            return nil
        }
        return access.violation(of: session, by: principal, journaled, context)
    }

    /// Whether a batch is refused, because it may not come from its principal. If the session is the principal's own, the
    /// refusal goes to the route of the session.
    mutating func refuses(_ batch: Batch, by principal: Principal) -> Bool {
        if !breaks(.batchesAreOfTheirOwners),
            let violation = access.violation(of: batch.session, by: principal, journaled, context)
        {
            note(violation)
            return true
        }
        guard let violation = access.violation(of: batch, by: principal, context) else { return false }
        if let route = admission.members[batch.session]?.route {
            refuse(violation, route, .none)
        } else {
            note(violation)
        }
        return true
    }
}

extension Topic {
    /// The verb that is needed to subscribe to the topic. Only its own peer may subscribe to an inbox.
    package var verb: Verb {
        switch self {
        case .updates: .followUpdates
        case .transitions: .followTransitions
        case .tick: .readStatus
        case .inbox: .join
        }
    }
}
