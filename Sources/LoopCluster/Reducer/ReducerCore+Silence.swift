import LoopCore
import LoopWire

/// What silent members hold, and who gets it. (Protocol, section 6.)
extension ReducerCore {
    /// An expired lease may be taken away; it is void from its record on. Where nobody else can run the effect, the
    /// old attempt stays valid.
    mutating func takeFromTheSilent() {
        let time = now.monotonic
        guard maySomeBeTaken(at: time) else { return }
        let silent = Set(members.lazy.filter { $0.value.isSilent(at: time) }.map(\.key))
        var canBeHeld: [UInt32: Bool] = [:]
        var taken: [(session: SessionID, effect: EffectID)] = []
        for (place, session) in owners.places(ofAny: silent) {
            guard let effect = core.effects.keyIfTaken(at: place) else { continue }
            let can = canBeHeld[effect.feedback] ?? canSomebodyHold(effect.feedback, at: time)
            canBeHeld[effect.feedback] = can
            if can { taken.append((session, effect)) }
        }
        taken.sort { ($0.session, $0.effect) < ($1.session, $1.effect) }
        for (session, effect) in taken {
            guard let attempt = core.effects.index(forKey: effect).flatMap({ owners[$0] })?.attempt else { continue }
            count(.leaseExpired)
            end(effect, .unresponsive, retryIn: .zero, message: "", failed: false)
            command(.cancel(effect, attempt), to: session)
        }
        stranded = Stranded()
        for (session, member) in members where member.isSilent(at: time) {
            stranded.holders[session] = member.holding.givenCount
        }
        stranded.feedbacks = canBeHeld.filter { !$0.value }.map(\.key)
    }

    /// Whether others are silent than when it was looked at, or somebody can run what was left with them.
    private func maySomeBeTaken(at time: MonotonicTime) -> Bool {
        var silentCount = 0
        for (session, member) in members where member.isSilent(at: time) {
            if stranded.holders[session] != member.holding.givenCount { return true }
            silentCount += 1
        }
        return silentCount != stranded.holders.count
            || stranded.feedbacks.contains { canSomebodyHold($0, at: time) }
    }

    /// Of those that are heard.
    private func canSomebodyHold(_ feedback: UInt32, at time: MonotonicTime) -> Bool {
        let group = core.table.group(feedback)
        return members.values.contains { $0.canHold(feedback, in: group, at: time) }
    }

    /// The reducer stood still itself: nobody was heard meanwhile, and nobody's silence counts. The whole machine may have been
    /// suspended for days.
    mutating func forgive(_ gap: Duration) {
        // One that has been admitted only now has lost nothing by it.
        let latest = now.monotonic + configuration.silenceLimit
        for session in members.keys {
            guard let member = members[session] else { continue }
            members[session]?.leaseEnds = min(member.leaseEnds + gap, latest)
            members[session]?.heardAt = min(member.heardAt + gap, now.monotonic)
        }
        listensSince = min(listensSince + gap, now.monotonic)
        if !unclaimed.isEmpty { graceEnds = graceEnds + gap }
    }
}

/// What silent members hold and nobody else can run. To look for it is to go through the table of owners: that is done when
/// somebody falls silent or is heard again, and when somebody comes who can run some of it, and not in every turn between.
struct Stranded: Sendable {
    /// The members that were silent, and how many effects each had ever been given.
    var holders: [SessionID: UInt64] = [:]
    /// Of what was left with them.
    var feedbacks: [UInt32] = []
}

extension Member {
    /// Whether it has effects, and its lease on them has expired.
    fileprivate func isSilent(at now: MonotonicTime) -> Bool { !holding.isEmpty && leaseEnds <= now }
}
