import LoopCore
import LoopWire

/// Which session a peer gets, and how sessions end: with a goodbye, after a long silence, or because there are too many.
/// (Protocol, section 5.)
extension Admission {
    /// Which session a peer gets that asks to join.
    enum SessionChoice: Equatable {
        /// The one that it had.
        case existing(SessionID)
        case new
        /// A new one, in place of one that is given up.
        case inPlace(of: SessionID)
        /// There are as many as there may be, of all or from an origin, and none of them can be given up.
        case full(SessionOrigins.Origin?)
    }

    /// The session that the peer had in this history, or a new one.
    /// - Parameters:
    ///   - from: where the join request comes from.
    ///   - isGrace: whether effects wait to be claimed.
    mutating func chooseSession(
        for joinRequest: JoinRequest, from origins: [SessionOrigins.Origin], _ journaled: JournaledCore, isGrace: Bool,
        _ context: TurnContext
    ) -> SessionChoice {
        let isOfThisHistory = joinRequest.history == journaled.history || context.breaks(.batchesNameTheirHistory)
        if isOfThisHistory, journaled.sessions[joinRequest.session]?.peer == joinRequest.peer {
            return .existing(joinRequest.session)
        }
        // A join request is repeated until its join acceptance arrives: all of them get the one session that the first one opened.
        // One that names another history may come from a peer that was here before and forgot its numbers: it gets a
        // session in which nothing was sent. That is one that was opened in this epoch and has not been joined: what was
        // sent in an earlier epoch may still be on its way.
        if let session = journaled.sessionByPeer[joinRequest.peer], let record = journaled.sessions[session] {
            let isUnused =
                members[session]?.hasJoined == false && record.watermark == 0 && record.idleSince == nil
            if isOfThisHistory || joinRequest.session == .none ? session > joinRequest.session : isUnused {
                return .existing(session)
            }
        }
        return joinRequest.peer == .local ? .new : chooseNewSession(from: origins, journaled, isGrace: isGrace, context)
    }

    /// Where there are as many sessions as there may be, the one that was idle the longest is given up: of those from the same
    /// origin if that has its share, else of all.
    private mutating func chooseNewSession(
        from origins: [SessionOrigins.Origin], _ journaled: JournaledCore, isGrace: Bool, _ context: TurnContext
    ) -> SessionChoice {
        let configuration = context.configuration
        if context.breaks(.sessionsAreBounded) { return .new }
        let full = origins.first { self.origins[$0].count >= configuration.sessionsMax(of: $0) }
        guard full != nil || journaled.remoteSessionCount >= configuration.sessionsMax else { return .new }
        // To look for one may be to look at all of them. Where the reducer itself stood still no peer was heard, and what its
        // peers have said meanwhile may come after this join request.
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

    /// Sessions without effects whose peers were not heard of for long, also those that were never admitted in this epoch.
    mutating func sessionsToRetire(
        _ journaled: JournaledCore, isGrace: Bool, _ context: TurnContext
    ) -> [SessionID] {
        let now = context.now.monotonic
        guard now >= nextRetirement else { return [] }
        let retention = context.configuration.sessionRetention
        nextRetirement = now + min(retention / 64, .seconds(60))
        // Peers that were there all the time have to be given the time to come back.
        guard now - context.clock.listensSince > min(retention, .seconds(60)) else { return [] }
        return journaled.sessions.keys.filter {
            holdsNothing($0, isGrace: isGrace) && idleTime(of: $0, journaled, context.clock) > retention
        }.sorted()
    }

    /// A session that has not claimed in this epoch may have an effect that is still to be claimed.
    private func holdsNothing(_ session: SessionID, isGrace: Bool) -> Bool {
        guard let member = members[session], member.hasJoined else { return !isGrace }
        return member.holding.isEmpty
    }

    /// How long nothing was heard of a session's peer. In this epoch that is known by this process's steady clock, before it
    /// by the journaled time, so that setting the wall clock neither keeps a session nor ends it.
    private func idleTime(of session: SessionID, _ journaled: JournaledCore, _ clock: ReducerClock) -> Duration {
        if let member = members[session] { return clock.now.monotonic - member.heardAt }
        let inEpoch = clock.now.monotonic - clock.listensSince
        guard let since = journaled.sessions[session]?.idleSince else { return inEpoch }
        let (before, isTooLong) = clock.epochTime.milliseconds.subtractingReportingOverflow(since.milliseconds)
        return isTooLong ? inEpoch : inEpoch + .milliseconds(max(0, before))
    }

    /// Whether the peer is silent and holds nothing, and either knows the outcomes of all its entries or needs none of them: the
    /// outcome of an effect's entry is of no use to a peer that has lost the effect.
    private func canBeGivenUp(
        _ session: SessionID, _ record: SessionRecord, isGrace: Bool, _ context: TurnContext
    ) -> Bool {
        guard record.peer != .local, holdsNothing(session, isGrace: isGrace) else { return false }
        let heardAt = members[session]?.heardAt ?? context.clock.listensSince
        guard context.now.monotonic - heardAt > context.configuration.silenceLimit else { return false }
        if record.isOnlyOfEffects, !context.breaks(.effectSessionsAreEvicted) { return true }
        return members[session].map { $0.settled >= record.watermark } ?? record.notable.isEmpty
    }

    /// For a peer that has to wait.
    /// - Parameter origin: has its share of the sessions; nil: there are as many as there may be.
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

    /// A warning for operators, before it comes to that.
    func sessionsWarning(_ journaled: JournaledCore, _ context: TurnContext) -> String? {
        let (count, max) = (journaled.remoteSessionCount, context.configuration.sessionsMax)
        guard count >= max - max / 5 else { return nil }
        let now = context.now.monotonic
        let idle = journaled.sessions.keys.count { members[$0].map { now >= $0.leaseEnds } ?? true }
        return
            "\(count) OF \(max) SESSIONS ARE TAKEN, \(idle) of them by peers that are silent; at \(max) the longest idle"
            + " ones are given up, and peers are kept waiting where there are none; see --sessions-max"
    }
}

extension JournaledCore {
    /// How many sessions there are, not counting the one of this process.
    fileprivate var remoteSessionCount: Int { sessions.count - (sessionByPeer[.local] == nil ? 0 : 1) }

    /// Where the peer of this process goes on.
    var localStream: PeerStream? {
        guard let session = sessionByPeer[.local], let watermark = sessions[session]?.watermark else { return nil }
        var stream = PeerStream()
        (stream.history, stream.epoch, stream.session) = (history, epoch, session)
        (stream.settled, stream.offered) = (watermark, watermark)
        return stream
    }
}
