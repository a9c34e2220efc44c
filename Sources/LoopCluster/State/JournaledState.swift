package import LoopCollections
package import LoopCore
package import LoopWire

/// Everything the journal determines, and nothing else: the state, its queries, the live effects, the sessions.
///
/// The reducer's machine changes it only through records, live and at replay alike, so that a replay gives the same result
/// (G8). It begins empty, or with a snapshot. The first definition record runs the queries on the initial state.
///
/// A copy is an independent value. Another thread can encode a copy while this one continues.
package struct JournaledState: Sendable {
    package let loop: LoopFacts
    /// Which events of another definition are applied with this one, instead of being refused.
    package var reinterprets = Reinterpretation.never
    /// Whether such events were applied. Only a snapshot makes that unnecessary at the next start.
    package internal(set) var hasReinterpreted = false
    /// Whether to use the journal's initial state instead of the definition's. For tools that do not know the arguments of the run.
    package var ignoresArguments = false
    /// The note in which each step is written, in case the process ends in it, or nil in a state that is only shown.
    package var note: CrashNote?
    package var brokenRules = BrokenRules()

    package internal(set) var history: History
    /// The newest epochs, the present one last; at most `epochsMax`.
    package internal(set) var epochs: [Epoch] = []
    /// The state, and the memory of its queries.
    var loopState: any LoopState
    package internal(set) var seq = Seq.initial
    package internal(set) var time = WallTime(milliseconds: 0)
    package internal(set) var effects = HashTable<EffectID, LiveEffect>()
    /// The places in traces of the transitions that have asked for live effects, of those that are in a trace. No hash has them.
    package internal(set) var traces: [EffectID: TraceContext] = [:]
    package internal(set) var sessions = HashTable<SessionID, SessionRecord>()
    /// The newest session of each peer, while it exists.
    package internal(set) var sessionByPeer: [PeerID: SessionID] = [:]
    /// The sessions of a peer that were followed by a newer one and still exist, the newest last. Such a peer has been at
    /// another history, and has forgotten its numbers.
    var olderSessions: [PeerID: [SessionID]] = [:]
    package internal(set) var nextSession = SessionID(1)
    /// The bytes of answers that all sessions keep.
    package internal(set) var answersBytes = 0
    package var answersBytesMax = KeptAnswers.totalBytesMax
    /// The entries that were set aside, by their number in the quarantine.
    package internal(set) var quarantine: [UInt64: QuarantineRecord] = [:]
    package internal(set) var quarantinedCount: UInt64 = 0
    /// The schedules' next times and status, by the numbers of their feedbacks.
    package internal(set) var schedules: [UInt32: ScheduleStanding] = [:]
    /// The position of the last record applied.
    package internal(set) var position: UInt64 = 0
    /// The feedbacks by the journal's numbers.
    package internal(set) var table: FeedbackTable
    /// The newest definition record, or nil if there was none yet.
    package internal(set) var journaledDefinition: DefinitionRecord?

    /// The memory of another definition's queries until this one takes over, or nil if it has.
    var foreign: [UInt32: QueryMemory]?
    /// How many effects have started at this seq, so that those of a definition upgrade get new indices.
    var startsCount: UInt32 = 0
    /// The digest at the newest mark, until its journaled hash comes. Only at replay.
    var mark: (seq: Seq, hash: UInt64)?
    /// The last known size of what is hashed, in bytes, or 0 if it was never known.
    var digestedBytes = 0
    var changes: [EffectChange] = []
    /// The result of the last changes, whose memory is used again.
    var live: [LiveChange] = []

    /// How many epochs are remembered.
    static var epochsMax: Int { 64 }

    /// Creates an empty one.
    package init(definition: some LoopDefinition, coder: any ValueCoder, history: History) {
        loop = LoopFacts(definition, coder: coder)
        loopState = DefinedState(definition, coder: coder)
        self.history = history
        table = FeedbackTable(names: [], declared: loop.feedbacks)
        loopState.beginQueries(table.numbers)
        foreign = [:]
    }

    package var epoch: Epoch { epochs.last ?? .none }

    /// The definition's state.
    /// - Parameter definition: a definition of the type with which this began. Another one is a programming error.
    package func state<Definition: LoopDefinition>(of definition: Definition) -> Definition.State {
        let state = loopState.boxedState
        guard let state = state as? Definition.State else {
            preconditionFailure("a state of \(type(of: definition)) was asked for, and it is a \(type(of: state))")
        }
        return state
    }

    /// Whether an epoch that a peer has seen is one of this journal's, as far as the journal remembers. If not, the journal was
    /// copied, or restored from a backup, and was continued in two ways.
    package func knows(_ seen: Epoch) -> Bool {
        if seen.number > epoch.number { return false }
        guard let own = epochs.first(where: { $0.number == seen.number }) else { return true }
        return own == seen
    }

    /// The feedback of an effect, or nil if the definition no longer has it.
    package func feedback(of effect: EffectID) -> FeedbackFacts? { table[effect.feedback] }

    /// The priority of the effect at a place, by its request.
    func priority(of effect: EffectID, at place: Int) -> Int32 {
        guard let feedback = table[effect.feedback], feedback.hasPriority else { return 0 }
        return feedback.priority(of: effects[at: place].request)
    }

    /// The name of an effect's feedback, even if the definition no longer has it.
    package func feedbackName(of effect: EffectID) -> String {
        effect.feedback < table.names.count ? table.names[Int(effect.feedback)] : "\(effect.feedback)"
    }

    /// The effects that failed for good, by ID, with their messages.
    var parked: [(id: EffectID, effect: LiveEffect, message: String)] {
        effects.compactMap { id, effect in
            if case .parked(let message) = effect.status { (id, effect, message) } else { nil }
        }.sorted { $0.id < $1.id }
    }

    /// The record that this definition writes into the journal when it takes over.
    package var ownDefinition: DefinitionRecord {
        DefinitionRecord(
            fingerprint: loop.fingerprint.value, schema: loop.schema, initial: loop.initialHash,
            initialState: journaledDefinition == nil ? (try? loopState.encodedState()) ?? [] : [],
            feedbacks: table.names)
    }

    /// Forgets outcomes that their sender knows. This is not journaled: a replay brings back more of them, never fewer.
    package mutating func forgetOutcomes(of session: SessionID, upTo settled: UInt64) {
        if brokenRules.contains(.settledOutcomesAreForgotten) { return }
        guard let index = sessions.index(forKey: session) else { return }
        let before = sessions[at: index].answers.byteCount
        sessions[at: index].forget(upTo: settled)
        if before > 0 { answersBytes += sessions[at: index].answers.byteCount - before }
    }
}

extension JournaledState {
    /// The newest existing session of a peer, or nil if it has none.
    func session(of peer: PeerID) -> SessionID? { sessionByPeer[peer] ?? olderSessions[peer]?.last }
}

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
