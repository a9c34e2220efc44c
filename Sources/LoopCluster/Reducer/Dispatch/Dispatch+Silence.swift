import LoopCollections
import LoopCore
import LoopWire

/// What silent members hold, and who gets it. (Protocol, section 6.)
extension Dispatch {
    /// What silent members hold.
    struct SilentHoldings: Equatable {
        /// An attempt that others can take over.
        struct Taken: Equatable {
            let session: SessionID
            let effect: EffectID
            let attempt: Attempt
        }

        /// What is to be taken away, in the order of the sessions and the effects.
        var taken: [Taken] = []
        /// The feedbacks of what no other member can run.
        var stranded: [UInt32] = []
    }

    /// An expired lease may be taken away; it is void from its record on. Where no other member can run the effect, the old
    /// attempt stays valid.
    /// - Returns: nil: nothing has changed since the last look.
    func silentHoldings(_ members: Members, _ journaled: JournaledCore, at time: MonotonicTime) -> SilentHoldings? {
        guard hasSilenceChanged(members, journaled.table, at: time) else { return nil }
        let silent = members.silent(at: time)
        var canBeHeld: [UInt32: Bool] = [:]
        var holdings = SilentHoldings()
        for (place, session) in owners.places(ofAny: silent) {
            guard let effect = journaled.effects.keyIfTaken(at: place), let owner = owners[place] else { continue }
            let can = canBeHeld[effect.feedback] ?? members.canHold(effect.feedback, journaled.table, at: time)
            canBeHeld[effect.feedback] = can
            if can { holdings.taken.append(.init(session: session, effect: effect, attempt: owner.attempt)) }
        }
        holdings.taken.sort { ($0.session, $0.effect) < ($1.session, $1.effect) }
        holdings.stranded = canBeHeld.filter { !$0.value }.map(\.key)
        return holdings
    }

    /// How many effects of each feedback silent members hold, by the feedback's number.
    func heldInSilence(_ members: Members, _ journaled: JournaledCore, at time: MonotonicTime) -> [UInt32: Int] {
        var counts: [UInt32: Int] = [:]
        for (place, _) in owners.places(ofAny: members.silent(at: time)) {
            if let effect = journaled.effects.keyIfTaken(at: place) { counts[effect.feedback, default: 0] += 1 }
        }
        return counts
    }

    /// What could be taken away was: the rest is looked at again when something changes.
    mutating func noteStranded(_ holdings: SilentHoldings, _ members: Members, at time: MonotonicTime) {
        stranded = Stranded()
        for (session, member) in members where member.isSilent(at: time) {
            stranded.holders[session] = member.holding.givenCount
        }
        stranded.feedbacks = holdings.stranded
    }

    /// Whether others are silent than at the last look, or a member has come that can run what was left with them.
    private func hasSilenceChanged(_ members: Members, _ table: FeedbackTable, at time: MonotonicTime) -> Bool {
        var silentCount = 0
        for (session, member) in members where member.isSilent(at: time) {
            if stranded.holders[session] != member.holding.givenCount { return true }
            silentCount += 1
        }
        return silentCount != stranded.holders.count
            || stranded.feedbacks.contains { members.canHold($0, table, at: time) }
    }
}

/// What silent members hold and no other member can run. To look for it is to go through the table of owners: that is done when
/// a member falls silent or is heard again, and when one comes that can run some of it, and not in every turn between.
struct Stranded: Sendable {
    /// The members that were silent, and how many effects each had ever been given.
    var holders: [SessionID: UInt64] = [:]
    /// Of what was left with them.
    var feedbacks: [UInt32] = []
}
