import LoopCore
import LoopWire

/// The choice of a peer's session, and the end of sessions: with a goodbye, after a long silence, or because there are too
/// many. (Protocol, section 5.)
extension Admission {
    /// The session of a peer that asks to join.
    enum SessionChoice: Equatable {
        /// The session that the peer had.
        case existing(SessionID)
        case new
        /// A new session, instead of one that is given up.
        case inPlace(of: SessionID)
        /// All sessions, or those of an origin, are taken, and none of them can be given up.
        case full(SessionOrigins.Origin?)
    }

    /// Chooses the session that the peer had in this history, or a new one.
    /// - Parameters:
    ///   - origins: the origins of the join request.
    ///   - isGrace: whether effects wait to be claimed.
    mutating func chooseSession(
        for joinRequest: JoinRequest, from origins: [SessionOrigins.Origin], _ journaled: JournaledState, isGrace: Bool,
        _ context: TurnContext
    ) -> SessionChoice {
        let isOfThisHistory = joinRequest.history == journaled.history || context.breaks(.batchesNameTheirHistory)
        if isOfThisHistory, journaled.sessions[joinRequest.session]?.peer == joinRequest.peer {
            return .existing(joinRequest.session)
        }
        // A join request is repeated until its acceptance arrives. All repetitions get the one session that the first one
        // opened. A request that names another history may come from a peer that was here before and forgot its numbers. It
        // gets a session in which nothing was sent: one of this epoch that has not been joined, because what was sent in an
        // earlier epoch may still arrive.
        if let session = journaled.sessionByPeer[joinRequest.peer], let record = journaled.sessions[session] {
            let isUnused =
                members[session]?.hasJoined == false && record.watermark == 0 && record.idleSince == nil
            if isOfThisHistory || joinRequest.session == .none ? session > joinRequest.session : isUnused {
                return .existing(session)
            }
        }
        return joinRequest.peer == .local ? .new : chooseNewSession(from: origins, journaled, isGrace: isGrace, context)
    }

    /// Chooses a new session. If all are taken, it gives up the one that was idle the longest: of those of the same origin if
    /// that has its share, else of all.
    private mutating func chooseNewSession(
        from origins: [SessionOrigins.Origin], _ journaled: JournaledState, isGrace: Bool, _ context: TurnContext
    ) -> SessionChoice {
        let configuration = context.configuration
        if context.breaks(.sessionsAreBounded) { return .new }
        let full = origins.first { self.origins[$0].count >= configuration.sessionsMax(of: $0) }
        guard full != nil || journaled.remoteSessionCount >= configuration.sessionsMax else { return .new }
        // A search may look at all sessions. If the reducer itself was suspended, it received no peer's messages, and what its
        // peers sent meanwhile may come after this join request.
        let now = context.now.monotonic
        guard now >= nextEviction[full] ?? .zero, !context.clock.stoodStill(silenceLimit: configuration.silenceLimit),
            !context.breaks(.idleSessionsAreEvicted)
        else { return .full(full) }
        let candidates = full.map { Array(self.origins[$0]) } ?? Array(journaled.sessions.keys)
        let idle =
            candidates.filter { id in
                journaled.sessions[id].map { canBeGivenUp(id, $0, isGrace: isGrace, context) } ?? false
            }
            .map { ($0, idleTime(of: $0, journaled, context.clock)) }
        guard let longest = idle.max(by: { ($0.1, $1.0) < ($1.1, $0.0) })?.0 else {
            nextEviction = nextEviction.filter { $0.value > now }
            nextEviction[full] = now + configuration.tickInterval
            return .full(full)
        }
        return .inPlace(of: longest)
    }

    /// The sessions without effects whose peers were silent for long, including those that were never admitted in this epoch.
    mutating func sessionsToRetire(
        _ journaled: JournaledState, isGrace: Bool, _ context: TurnContext
    ) -> [SessionID] {
        let now = context.now.monotonic
        guard now >= nextRetirement else { return [] }
        let retention = context.configuration.sessionRetention
        nextRetirement = now + min(retention / 64, .seconds(60))
        // Peers of the last epoch need time to come back.
        guard now - context.clock.listensSince > min(retention, .seconds(60)) else { return [] }
        return journaled.sessions.keys.filter {
            holdsNothing($0, isGrace: isGrace) && idleTime(of: $0, journaled, context.clock) > retention
        }.sorted()
    }

    /// Whether a session has no effects. One that has not claimed in this epoch may have an effect that is still to be claimed.
    private func holdsNothing(_ session: SessionID, isGrace: Bool) -> Bool {
        guard let member = members[session], member.hasJoined else { return !isGrace }
        return member.holding.isEmpty
    }

    /// How long a session's peer was silent. This process's steady clock measures the time in this epoch, and the journaled
    /// times the time before. A change of the wall clock therefore neither keeps a session nor ends it.
    private func idleTime(of session: SessionID, _ journaled: JournaledState, _ clock: ReducerClock) -> Duration {
        if let member = members[session] { return clock.now.monotonic - member.heardAt }
        let inEpoch = clock.now.monotonic - clock.listensSince
        guard let since = journaled.sessions[session]?.idleSince else { return inEpoch }
        let (before, isTooLong) = clock.epochTime.milliseconds.subtractingReportingOverflow(since.milliseconds)
        return isTooLong ? inEpoch : inEpoch + .milliseconds(max(0, before))
    }

    /// Whether a session can be given up: its peer is silent and has no effects, and knows the outcomes of all its entries or
    /// needs none of them. A peer that has lost an effect does not need the outcomes of the effect's entries.
    private func canBeGivenUp(
        _ session: SessionID, _ record: SessionRecord, isGrace: Bool, _ context: TurnContext
    ) -> Bool {
        guard record.peer != .local, holdsNothing(session, isGrace: isGrace) else { return false }
        let heardAt = members[session]?.heardAt ?? context.clock.listensSince
        guard context.now.monotonic - heardAt > context.configuration.silenceLimit else { return false }
        if record.isOnlyOfEffects, !context.breaks(.effectSessionsAreEvicted) { return true }
        return members[session].map { $0.settled >= record.watermark } ?? record.notable.isEmpty
    }

    /// The reason for a peer that has to wait.
    /// - Parameter origin: the origin that has its share of the sessions, or nil if all sessions are taken.
    static func sessionsAreFull(from origin: SessionOrigins.Origin?, _ configuration: ReducerConfiguration) -> String {
        let count = origin.map { configuration.sessionsMax(of: $0) } ?? configuration.sessionsMax
        let whose =
            switch origin {
            case nil: "all \(count) sessions"
            case .connection: "all \(count) sessions that one connection may have"
            case .key: "all \(count) sessions that one key may have"
            case .address(let address): "all \(count) sessions that one machine without a key may have (\(address))"
            }
        return whose + " are taken, and the peer of each is there, has effects or has to be told of outcomes"
    }

    /// A warning for operators, before all sessions are taken.
    func sessionsWarning(_ journaled: JournaledState, _ context: TurnContext) -> String? {
        let (count, max) = (journaled.remoteSessionCount, context.configuration.sessionsMax)
        guard count >= max - max / 5 else { return nil }
        let now = context.now.monotonic
        let idle = journaled.sessions.keys.count { members[$0].map { now >= $0.leaseEnds } ?? true }
        return
            "\(count) OF \(max) SESSIONS ARE TAKEN, \(idle) of them by peers that are silent; at \(max) the longest idle"
            + " ones are given up; if none is idle, new peers wait; see --sessions-max"
    }
}

extension JournaledState {
    /// How many sessions there are, without the one of this process.
    fileprivate var remoteSessionCount: Int { sessions.count - (sessionByPeer[.local] == nil ? 0 : 1) }

    /// The stream with which the peer of this process continues.
    var localStream: PeerStream? {
        guard let session = sessionByPeer[.local], let watermark = sessions[session]?.watermark else { return nil }
        var stream = PeerStream()
        (stream.history, stream.epoch, stream.session) = (history, epoch, session)
        (stream.settled, stream.offered) = (watermark, watermark)
        return stream
    }
}
