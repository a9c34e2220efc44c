package import LoopCollections
package import LoopCore
package import LoopWire

/// Everything the journal determines, and nothing else: the state, the evaluator, the live effects, the sessions.
///
/// The reducer machine changes it only through records, live and at replay alike; so a replay ends where it was (G8).
/// It begins empty, or with a snapshot; the first definition record asks the queries for the initial state.
///
/// A copy is a value of its own: one can be encoded on another thread while this one goes on.
package struct JournaledCore: Sendable {
    package let loop: LoopFacts
    /// Which events that another definition applied are applied with this one, instead of being refused.
    package var reinterprets = Reinterpretation.never
    /// Whether that was done: only a snapshot lets the next start do without it.
    package internal(set) var hasReinterpreted = false
    /// Takes the journal's initial state for the definition's: for tools, which are not told the arguments of the run.
    package var ignoresArguments = false
    /// Where each step is noted, should it be the last one; nil in a state that is only looked at.
    package var note: CrashNote?
    package var brokenRules = BrokenRules()

    package internal(set) var history: History
    /// The newest epochs, the present one last; at most `epochsMax`.
    package internal(set) var epochs: [Epoch] = []
    /// The state, and what its queries remember.
    var fold: any ErasedFold
    package internal(set) var seq = Seq.initial
    package internal(set) var time = WallTime(milliseconds: 0)
    package internal(set) var effects = HashTable<EffectID, LiveEffect>()
    package internal(set) var sessions = HashTable<SessionID, SessionRecord>()
    /// The session that each peer was given last, while that lives.
    package internal(set) var sessionByPeer: [PeerID: SessionID] = [:]
    /// The sessions of a peer that were followed by a newer one and live on, the newest last: those of peers that have been at
    /// another history, and have forgotten their numbers.
    var olderSessions: [PeerID: [SessionID]] = [:]
    package internal(set) var nextSession = SessionID(1)
    /// How much all sessions keep of answers, and how much that may be.
    package internal(set) var answersBytes = 0
    package var answersBytesMax = KeptAnswers.totalBytesMax
    /// Entries that were set aside, by their number.
    package internal(set) var quarantine: [UInt64: QuarantineRecord] = [:]
    package internal(set) var quarantinedCount: UInt64 = 0
    /// Where schedules stand, by the numbers of their feedbacks.
    package internal(set) var schedules: [UInt32: ScheduleStanding] = [:]
    /// The position of the last record applied.
    package internal(set) var position: UInt64 = 0
    /// The feedbacks under the journal's numbers.
    package internal(set) var table: FeedbackTable
    /// The newest definition record; nil: there was none yet.
    package internal(set) var journaledDefinition: DefinitionRecord?

    /// What another definition's queries remember, until this one takes over; nil: this one has.
    var foreign: [UInt32: QueryMemory]?
    /// How many effects have started at this seq, so that those of a definition upgrade get indices of their own.
    var startsCount: UInt32 = 0
    /// What everything hashed to at the newest mark, while its journaled hash is still to come. At replay alone.
    var mark: (seq: Seq, hash: UInt64)?
    /// How large that is which is hashed, in bytes, when it was last known; 0: it never was.
    var digestedBytes = 0
    var changes: [EffectChange] = []
    /// What they last came to.
    var live: [LiveChange] = []

    /// How many epochs are remembered.
    static var epochsMax: Int { 64 }

    /// - Parameter fold: of the initial state.
    init(_ loop: LoopFacts, _ fold: any ErasedFold, history: History) {
        self.loop = loop
        self.fold = fold
        self.history = history
        table = FeedbackTable(names: [], declared: loop.feedbacks)
        self.fold.beginQueries(table.numbers)
        foreign = [:]
    }

    package var epoch: Epoch { epochs.last ?? .none }

    /// Whether an epoch that a peer has seen is one of this journal's, as far as it remembers. False shows that the journal
    /// was copied, or restored from a backup, and has gone on in two ways.
    package func knows(_ seen: Epoch) -> Bool {
        if seen.number > epoch.number { return false }
        guard let own = epochs.first(where: { $0.number == seen.number }) else { return true }
        return own == seen
    }

    /// The feedback that an effect belongs to; nil where the definition has it no longer.
    package func feedback(of effect: EffectID) -> FeedbackFacts? { table[effect.feedback] }

    /// The priority of the effect at a place, by its request.
    func priority(of effect: EffectID, at place: Int) -> Int32 {
        guard let feedback = table[effect.feedback], feedback.hasPriority else { return 0 }
        return feedback.priority(of: effects[at: place].request)
    }

    /// The name of the feedback that an effect belongs to, also of one that the definition has no longer.
    package func feedbackName(of effect: EffectID) -> String {
        effect.feedback < table.names.count ? table.names[Int(effect.feedback)] : "\(effect.feedback)"
    }

    /// What this definition writes into the journal when it takes over.
    package var ownDefinition: DefinitionRecord {
        DefinitionRecord(
            fingerprint: loop.fingerprint.value, schema: loop.schema, initial: loop.initialHash,
            initialState: journaledDefinition == nil ? (try? fold.encodedState()) ?? [] : [], feedbacks: table.names)
    }

    /// Forgets outcomes that their sender knows. Not journaled: after a replay there are more of them, never fewer.
    package mutating func forgetOutcomes(of session: SessionID, upTo settled: UInt64) {
        if brokenRules.contains(.settledOutcomesAreForgotten) { return }
        guard let index = sessions.index(forKey: session) else { return }
        let before = sessions[at: index].answers.byteCount
        sessions[at: index].forget(upTo: settled)
        if before > 0 { answersBytes += sessions[at: index].answers.byteCount - before }
    }
}

extension JournaledCore {
    /// The newest session of a peer that lives; nil: it has none.
    func session(of peer: PeerID) -> SessionID? { sessionByPeer[peer] ?? olderSessions[peer]?.last }
}
