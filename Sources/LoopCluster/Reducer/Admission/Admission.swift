import LoopCore
import LoopWire

/// Which peers are let in, and which are still there: join requests, claims, heartbeats. (Protocol, section 5.)
///
/// It decides; the sessions themselves are journaled.
struct Admission: Sendable {
    var members = Members()
    /// When sessions are next looked at whose peers were silent for long.
    var nextRetirement = MonotonicTime.zero
    var origins = SessionOrigins()
    /// When a session to give up is next looked for, where none could be found: of those from an origin, or of all.
    var nextEviction: [SessionOrigins.Origin?: MonotonicTime] = [:]

    // MARK: In the order of a member's life

    /// A peer has been admitted, maybe again, in a session of this epoch.
    /// - Parameters:
    ///   - watermark: of its session.
    ///   - feedbacks: the numbers of those that it offers to run.
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

    /// What a part of a claim means.
    enum ClaimVerdict: Equatable {
        /// It is not the next part, or of no member: nothing of it counts.
        case outOfOrder
        /// Its attempts are adopted. With the last part the member has joined.
        case counts
        /// The member had joined before.
        case repeats
    }

    /// The parts of a claim count as they come: what was claimed once is no other's. The session joins with the last part, once
    /// it has all of them.
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
        // The stamp is ours: a later one than now was never sent by this reducer.
        let echoed = MonotonicTime(nanoseconds: min(heartbeat.echo, now.nanoseconds))
        let heard = context.breaks(.leasesRunFromTheEcho) ? now : echoed
        members[at: index].leaseEnds = max(members[at: index].leaseEnds, heard + configuration.silenceLimit)
        members[at: index].settled = max(members[at: index].settled, heartbeat.settled)
    }

    /// Whether a member has said something over its own connection within the silence limit. A batch comes over another connection.
    func isHeard(_ session: SessionID, _ context: TurnContext) -> Bool {
        guard let member = members[session] else { return false }
        return context.now.monotonic - member.heardAt <= context.configuration.silenceLimit
    }

    /// A batch of a member has arrived.
    /// - Returns: whether it counts: the member has claimed what it runs.
    mutating func hear(_ batch: Batch, at sender: Int, _ context: TurnContext) -> Bool {
        members[at: sender].hear(batch, beforeClaim: context.breaks(.claimComesBeforeBatches))
    }

    /// Whether a member is to be asked to send again: once in a while, for many batches after one gap are one gap.
    mutating func mayAskToResend(_ session: SessionID, at now: MonotonicTime) -> Bool {
        guard let index = members.index(forKey: session) else { return false }
        if let asked = members[at: index].resendAskedAt, now - asked < .milliseconds(20) { return false }
        members[at: index].resendAskedAt = now
        return true
    }

    /// The reducer stood still itself: silence in that time does not count.
    mutating func forgive(_ gap: Duration, _ context: TurnContext) {
        let now = context.now.monotonic
        // One that has been admitted only now has lost nothing by it.
        let latest = now + context.configuration.silenceLimit
        for (index, _) in members.places {
            members[at: index].leaseEnds = min(members[at: index].leaseEnds + gap, latest)
            members[at: index].heardAt = min(members[at: index].heardAt + gap, now)
        }
    }

    /// When the next lease of a member that holds effects ends; nil: none does.
    func deadline(after now: MonotonicTime) -> MonotonicTime? {
        var next: MonotonicTime?
        for (place, _) in members.places where !members[at: place].holding.isEmpty {
            let ends = members[at: place].leaseEnds
            if ends > now { next = min(next ?? ends, ends) }
        }
        return next
    }

    /// The members hold no effects any more.
    mutating func releaseAll() {
        for (index, _) in members.places { members[at: index].holding = Holding() }
    }
}
