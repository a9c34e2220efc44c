import LoopCollections
import LoopCore
import LoopWire

/// The effects of silent members, and when other members get them. (Protocol, section 6.)
extension Dispatch {
    /// The effects of silent members.
    struct SilentHoldings: Equatable {
        /// An attempt whose effect another member can run.
        struct Taken: Equatable {
            let session: SessionID
            let effect: EffectID
            let attempt: Attempt
        }

        /// The attempts to be taken away, in the order of sessions and effects.
        var taken: [Taken] = []
        /// The feedbacks whose effects no other member can run.
        var stranded: [UInt32] = []
    }

    /// The effects of members whose leases have expired. An attempt becomes void with its record. If no other member can run
    /// the effect, the old attempt stays valid.
    /// - Returns: the effects, or nil if nothing has changed since the last look.
    func silentHoldings(_ members: Members, _ journaled: JournaledState, at time: MonotonicTime) -> SilentHoldings? {
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

    /// How many effects silent members have, by the number of their feedback.
    func heldInSilence(_ members: Members, _ journaled: JournaledState, at time: MonotonicTime) -> [UInt32: Int] {
        var counts: [UInt32: Int] = [:]
        for (place, _) in owners.places(ofAny: members.silent(at: time)) {
            if let effect = journaled.effects.keyIfTaken(at: place) { counts[effect.feedback, default: 0] += 1 }
        }
        return counts
    }

    /// Notes which effects stay with silent members after the others were taken away, so that the next search waits for a change.
    mutating func noteStranded(_ holdings: SilentHoldings, _ members: Members, at time: MonotonicTime) {
        stranded = Stranded()
        for (session, member) in members where member.isSilent(at: time) {
            stranded.holders[session] = member.holding.givenCount
        }
        stranded.feedbacks = holdings.stranded
    }

    /// Whether the silent members differ from those of the last look, or another member can run what remains with them.
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

/// The effects of silent members that no other member can run. A search for them scans the table of owners. It happens only
/// when a member falls silent or returns, or when one that can run some of them comes.
struct Stranded: Sendable {
    /// The silent members, with the number of effects that each was ever given.
    var holders: [SessionID: UInt64] = [:]
    /// The feedbacks of the effects that remain with them.
    var feedbacks: [UInt32] = []
}
