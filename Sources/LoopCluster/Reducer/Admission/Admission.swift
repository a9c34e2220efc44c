import LoopCore
import LoopWire

/// The admission of peers and the check that they are still there: join requests, claims, heartbeats. (Protocol, section 5.)
///
/// It decides, and the machine writes the records of sessions.
struct Admission: Sendable {
    var members = Members()
    /// When to look next for sessions whose peers were silent for long.
    var nextRetirement = MonotonicTime.zero
    var origins = SessionOrigins()
    /// When to look again for a session to give up, after none was found: by origin, or nil for all.
    var nextEviction: [SessionOrigins.Origin?: MonotonicTime] = [:]

    // MARK: In the order of a member's life

    /// Admits a peer, perhaps again, to a session of this epoch.
    /// - Parameters:
    ///   - watermark: the watermark of its session.
    ///   - feedbacks: the numbers of the feedbacks that it offers to run.
    mutating func requestJoin(
        _ joinRequest: JoinRequest, in session: SessionID, watermark: UInt64, feedbacks: Set<UInt32>, _ route: Route,
        _ context: TurnContext
    ) {
        let now = context.now.monotonic
        var member =
            members.removeValue(forKey: session)
            ?? Member(
                peer: joinRequest.peer, name: joinRequest.name, route: route, groups: [], capacity: 0,
                leaseEnds: now + context.configuration.silenceLimit, heardAt: now, acknowledged: watermark)
        member.commandsBase = context.breaks(.commandsAreBounded) ? 1 << 32 : context.configuration.commandsBase
        member.route = route
        member.name = joinRequest.name
        member.groups = Array(joinRequest.groups.prefix(64))
        member.capacity = min(Int(joinRequest.capacity), context.configuration.capacityMax)
        member.schema = joinRequest.schema
        member.feedbacks = feedbacks
        member.heardAt = now
        if !member.hasJoined { member.standing = .admitted(ClaimProgress()) }
        members[session] = member
    }

    /// The result of a part of a claim.
    enum ClaimVerdict: Equatable {
        /// The part is not the next one, or of no member, and is dropped.
        case outOfOrder
        /// The part's attempts are adopted. With the last part the member has joined.
        case counts
        /// The member had joined before.
        case repeats
    }

    /// Takes a part of a claim. Each part counts when it comes, so that no other session can claim its attempts. The session
    /// joins with the last part, if no part is missing.
    mutating func take(_ part: ClaimPart, of session: SessionID, _ context: TurnContext) -> ClaimVerdict {
        guard let index = members.index(forKey: session) else { return .outOfOrder }
        members[at: index].heardAt = context.now.monotonic
        guard case .admitted(var progress) = members[at: index].standing else { return .repeats }
        let isNext = progress.take(part)
        members[at: index].standing = .admitted(progress)
        guard isNext || context.breaks(.claimsNeedAllParts) else { return .outOfOrder }
        if part.isLast { members[at: index].standing = .joined }
        return .counts
    }

    mutating func hear(_ heartbeat: Heartbeat, _ context: TurnContext) {
        guard let index = members.index(forKey: heartbeat.session) else { return }
        let (now, configuration) = (context.now.monotonic, context.configuration)
        members[at: index].heardAt = now
        members[at: index].capacity = min(Int(heartbeat.capacity), configuration.capacityMax)
        members[at: index].hasApplied(heartbeat.applied)
        // This reducer makes the stamps, so it never sent one that is later than now.
        let echoed = MonotonicTime(nanoseconds: min(heartbeat.echo, now.nanoseconds))
        let heard = context.breaks(.leasesRunFromTheEcho) ? now : echoed
        members[at: index].leaseEnds = max(members[at: index].leaseEnds, heard + configuration.silenceLimit)
        members[at: index].settled = max(members[at: index].settled, heartbeat.settled)
    }

    /// Whether a member has sent something over its own connection within the silence limit. Batches come over another connection.
    func isHeard(_ session: SessionID, _ context: TurnContext) -> Bool {
        guard let member = members[session] else { return false }
        return context.now.monotonic - member.heardAt <= context.configuration.silenceLimit
    }

    /// Takes note of a member's batch.
    /// - Returns: whether it counts, because the member has claimed what it runs.
    mutating func hear(_ batch: Batch, at sender: Int, _ context: TurnContext) -> Bool {
        members[at: sender].hear(batch, beforeClaim: context.breaks(.claimComesBeforeBatches))
    }

    /// Whether to ask a member to send again. This happens only once in a while, because many batches after a gap show one gap.
    mutating func mayAskToResend(_ session: SessionID, at now: MonotonicTime) -> Bool {
        guard let index = members.index(forKey: session) else { return false }
        if let asked = members[at: index].resendAskedAt, now - asked < .milliseconds(20) { return false }
        members[at: index].resendAskedAt = now
        return true
    }

    /// Extends all leases by a time in which this reducer was suspended, because silence in that time does not count.
    mutating func forgive(_ gap: Duration, _ context: TurnContext) {
        let now = context.now.monotonic
        // A member that was admitted only now has lost nothing in that time.
        let latest = now + context.configuration.silenceLimit
        for (index, _) in members.places {
            members[at: index].leaseEnds = min(members[at: index].leaseEnds + gap, latest)
            members[at: index].heardAt = min(members[at: index].heardAt + gap, now)
        }
    }

    /// When the next lease of a member with effects ends, or nil if none does.
    func deadline(after now: MonotonicTime) -> MonotonicTime? {
        var next: MonotonicTime?
        for (place, _) in members.places where !members[at: place].holding.isEmpty {
            let ends = members[at: place].leaseEnds
            if ends > now { next = min(next ?? ends, ends) }
        }
        return next
    }

    /// Takes all effects from the members.
    mutating func releaseAll() {
        for (index, _) in members.places { members[at: index].holding = Holding() }
    }
}
