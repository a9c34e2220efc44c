package import LoopCore
package import LoopWire

/// News for people about a turn of the reducer. The shell writes it into its log once its turn is durable. Nothing else depends
/// on it.
package enum ReducerNews: Equatable, Sendable {
    /// A peer has claimed what it runs, and takes part from here on.
    case joined(NewsOfPeer)
    /// A peer's session has ended.
    case left(NewsOfPeer, Parting)
    /// Nothing came from a peer for the silence limit. It had this many effects, which other workers get if they can run them.
    case lost(NewsOfPeer, effects: Int)
    /// A lost peer has sent something again, this long after its loss was noticed.
    case returned(NewsOfPeer, after: Duration)
    /// A worker names groups that have no feedbacks, or serves no feedback, for this reason.
    case idle(NewsOfPeer, String)
    /// Effects of a feedback have waited for some seconds, but no worker serves it.
    case unserved(NewsOfUnserved)
    /// After this wait, a worker serves the feedback again, or none of its effects waits any more.
    case served(NewsOfUnserved, after: Duration)
    /// Another reducer of the same addresses leads too. The text is a warning.
    case otherLeader(LeaderFound, String)
    /// A program that reads the journal for very long makes its log grow. The values are the size of the log in bytes, and the
    /// warning.
    case logHeld(Int, String)
    /// The clock is behind the times in the journal by this duration. Timers and schedules do not run until a time that the
    /// warning names.
    case clockBehind(Duration, String)
    /// The clock has caught up with the times in the journal.
    case clockCaughtUp
    /// An operator has accepted the clock, which is behind the times in the journal by this duration.
    case clockAccepted(Duration)
    /// An attempt has failed or timed out, and the effect is tried again.
    case effectFailed(NewsOfFailure, retryIn: Duration)
    /// An effect has failed for good.
    case parked(NewsOfFailure)
    /// An entry was set aside, because the process ended in it.
    case quarantined(QuarantineRecord, feedback: String?)
    /// An entry was refused because its bytes are no event of this loop. The text is the reason.
    case undecodable(EntryNumber, String)
    /// A peer has tried something that it may not do. The line names its key and the action.
    case notAllowed(String)
    /// The event of this transition gave two results when it was applied twice to the same state. The text describes them.
    case impure(Seq, String)
    /// The event of a schedule's run cannot be encoded, or is too large.
    case runLeftOut(schedule: String)
    /// This definition continues the journal of another one.
    case definitionUpgrade(NewsOfUpgrade)

    /// Why a session ended.
    package enum Parting: String, Equatable, Sendable {
        /// Its peer has said goodbye.
        case goodbye
        /// Its peer was silent for too long.
        case idle
        /// All sessions were taken, and its peer was silent.
        case evicted
        /// The key that owned it is not admitted any more, or may do less than before.
        case revoked
    }
}

/// A reducer that claims to lead.
package struct LeaderFound: Hashable, Sendable {
    /// The address at which it answered.
    package var address: String
    /// The history in which it leads.
    package var history: History
    /// The epoch in which it leads, or `Epoch.none` if that is not known.
    package var epoch: Epoch

    /// Creates it from its parts.
    package init(address: String, history: History, epoch: Epoch = .none) {
        self.address = address
        self.history = history
        self.epoch = epoch
    }
}

/// The peer that news is about.
package struct NewsOfPeer: Equatable, Sendable {
    /// The peer.
    package var peer: PeerID
    /// Its session.
    package var session: SessionID
    /// Its name for people; empty if it has none, or was not here in this epoch.
    package var name: String
    /// Whether it serves groups of effects.
    package var isWorker: Bool
}

/// A feedback whose effects wait for a worker.
package struct NewsOfUnserved: Equatable, Sendable {
    /// The name of the feedback.
    package var feedback: String
    /// The group of workers in which its effects are placed.
    package var group: String
    /// How many of its effects wait, or belong to silent workers.
    package var effects: Int
    /// How many present workers of the group do not list the feedback.
    package var others = 0

    /// The fact and the remedy in one line, for people.
    package var text: String {
        let who = effects == 1 ? "1 effect of \"\(feedback)\" waits" : "\(effects) effects of \"\(feedback)\" wait"
        let fact = "\(who), and no worker serves it"
        if others == 0 { return "\(fact); start one of the group \"\(group)\" (--group)" }
        return
            "\(fact); the workers of the group \"\(group)\" that are here do not list it: start one whose program has this feedback"
    }
}

/// An attempt that has failed.
package struct NewsOfFailure: Equatable, Sendable {
    /// The effect.
    package var effect: EffectID
    /// The name of its feedback.
    package var feedback: String
    /// The attempt, or `.none` if the effect was never granted.
    package var attempt: Attempt
    /// How often the effect has failed, including this time.
    package var failures: UInt32
    /// The message of the effect's body or of the reducer.
    package var reason: String
}

/// News of a definition that has taken over from another one.
package struct NewsOfUpgrade: Equatable, Sendable {
    /// The fingerprint of the definition before.
    package var fingerprintBefore: UInt64
    /// The schema of the definition before.
    package var schemaBefore: UInt64
    /// The fingerprint of the present definition.
    package var fingerprint: UInt64
    /// The schema of the present definition.
    package var schema: UInt64
    /// How many effects are not wanted any more.
    package var cancelled: Int
    /// How many effects are new.
    package var started: Int
    /// How many effects continue with another request.
    package var updated: Int

    init(from before: DefinitionRecord, to now: DefinitionRecord, _ changes: [LiveChange]) {
        fingerprintBefore = before.fingerprint
        schemaBefore = before.schema
        fingerprint = now.fingerprint
        schema = now.schema
        cancelled = changes.count { $0.kind == .cancelled }
        started = changes.count { $0.kind == .started }
        updated = changes.count { $0.kind == .updated }
    }
}
