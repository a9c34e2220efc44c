package import LoopCore
package import LoopWire

/// Changes by machines that break a rule. No real node calls them.
extension JournaledState {
    /// Marks an attempt as void without a record.
    package mutating func voidWithoutRecord(_ effect: EffectID, upTo attempt: Attempt) { void(effect, upTo: attempt) }

    /// Consumes an entry without a record.
    package mutating func consumeWithoutRecord(_ session: SessionID, _ number: UInt64, _ outcome: EntryOutcome) {
        consume(session, number, ofEffect: false, notable: outcome)
    }

    /// Loses what a snapshot lacks if these rules are broken.
    package mutating func forget(what rules: BrokenRules) {
        if rules.contains(.snapshotsHoldSessions) {
            for (place, _) in sessions.places { sessions[at: place] = SessionRecord(peer: sessions[at: place].peer) }
        }
        if rules.contains(.snapshotsHoldAnswers) {
            for (place, _) in sessions.places { sessions[at: place].answers = KeptAnswers() }
            answersBytes = 0
        }
        if rules.contains(.snapshotsHoldFloors) {
            for effect in effects.keys { effects[effect]?.floor = .none }
        }
        if rules.contains(.snapshotsHoldStatus) {
            for effect in effects.keys { effects[effect]?.status = .open }
        }
        if rules.contains(.sessionNumbersGrow) { nextSession = SessionID(UInt64(sessions.count) + 1) }
    }
}
