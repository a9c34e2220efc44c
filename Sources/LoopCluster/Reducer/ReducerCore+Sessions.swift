import LoopCore
import LoopWire

/// How sessions end: with a goodbye, after a long silence, or because there are too many. (Protocol, section 5.)
extension ReducerCore {
    /// The session ends, and what its peer holds is granted to others.
    mutating func retire(_ session: SessionID) {
        if let member = members[session] {
            for effect in effects(heldBy: member, session) {
                end(effect, .released, retryIn: .zero, message: "", failed: false)
            }
        }
        members[session] = nil
        awaited.remove(session)
        write(.sessionRetired(session))
    }

    /// Ends sessions without effects whose peers were not heard of for long, also those that were never admitted in this epoch.
    mutating func retireSessions() {
        guard now.monotonic >= nextRetirement else { return }
        let retention = configuration.sessionRetention
        nextRetirement = now.monotonic + min(retention / 64, .seconds(60))
        // Peers that were there all the time have to be given the time to come back.
        guard now.monotonic - listensSince > min(retention, .seconds(60)) else { return }
        for session in core.sessions.keys.filter({ holdsNothing($0) && idleTime(of: $0) > retention }).sorted() {
            retire(session)
        }
    }

    /// Whether there may be one session more; where there are as many as there may be, the one that was idle the longest is
    /// given up.
    mutating func hasSpaceForSession() -> Bool {
        if sessionCount < configuration.sessionsMax || breaks(.sessionsAreBounded) { return true }
        // To look for one is to look at all of them. Where the reducer itself stood still nobody was heard, and what its peers
        // have said meanwhile may be behind this join request.
        let stoodStill = now.monotonic - advancedAt > configuration.silenceLimit / 2
        guard now.monotonic >= nextEviction, !stoodStill, !breaks(.idleSessionsAreEvicted) else { return false }
        let idle = core.sessions.filter { canBeGivenUp($0.key, $0.value) }.map { ($0.key, idleTime(of: $0.key)) }
        guard let longest = idle.max(by: { ($0.1, $1.0) < ($1.1, $0.0) })?.0 else {
            nextEviction = now.monotonic + configuration.tickInterval
            return false
        }
        count(.sessionEvicted)
        retire(longest)
        return true
    }

    /// For a peer that has to wait.
    var sessionsAreFull: String {
        "all \(configuration.sessionsMax) sessions are taken, and the peer of each is there, has effects or has to be told of"
            + " outcomes"
    }

    /// What people are told before it comes to that.
    var sessionsWarning: String? {
        let (count, max) = (sessionCount, configuration.sessionsMax)
        guard count >= max - max / 5 else { return nil }
        let idle = core.sessions.keys.count { members[$0].map { now.monotonic >= $0.leaseEnds } ?? true }
        return
            "\(count) OF \(max) SESSIONS ARE TAKEN, \(idle) of them by peers that are silent; at \(max) the longest idle"
            + " ones are given up, and peers are kept waiting where there are none; see --sessions-max"
    }

    /// Where the peer of this process goes on.
    var localStream: PeerStream? {
        guard let session = core.sessionByPeer[.local],
            let watermark = core.sessions[session]?.watermark
        else { return nil }
        var stream = PeerStream()
        (stream.history, stream.epoch, stream.session) = (core.history, core.epoch, session)
        (stream.settled, stream.offered) = (watermark, watermark)
        return stream
    }

    /// Not counting the one of this process.
    private var sessionCount: Int { core.sessions.count - (core.sessionByPeer[.local] == nil ? 0 : 1) }

    /// A session that has not claimed in this epoch may have an effect that is still to be claimed.
    private func holdsNothing(_ session: SessionID) -> Bool {
        guard let member = members[session], member.hasJoined else { return unclaimed.isEmpty }
        return member.holding.isEmpty
    }

    /// How long nothing was heard of a session's peer. In this epoch that is known by this process's steady clock, before it
    /// by the journaled time, so that setting the wall clock neither keeps a session nor ends it.
    private func idleTime(of session: SessionID) -> Duration {
        if let member = members[session] { return now.monotonic - member.heardAt }
        let inEpoch = now.monotonic - listensSince
        guard let since = core.sessions[session]?.idleSince else { return inEpoch }
        let (before, isTooLong) = beganTime.milliseconds.subtractingReportingOverflow(since.milliseconds)
        return isTooLong ? inEpoch : inEpoch + .milliseconds(max(0, before))
    }

    /// Whether the peer is silent and holds nothing, and either knows the outcomes of all its entries or needs none of them: the
    /// outcome of an effect's entry is of no use to a peer that has lost the effect.
    private func canBeGivenUp(_ session: SessionID, _ record: SessionRecord) -> Bool {
        guard record.peer != .local, holdsNothing(session) else { return false }
        let heardAt = members[session]?.heardAt ?? listensSince
        guard now.monotonic - heardAt > configuration.silenceLimit else { return false }
        if record.isOnlyOfEffects, !breaks(.effectSessionsAreEvicted) { return true }
        return members[session].map { $0.settled >= record.watermark } ?? record.notable.isEmpty
    }
}
