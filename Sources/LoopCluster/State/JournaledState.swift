package import LoopCollections
package import LoopCore
package import LoopWire

/// A `JournaledCore` with the type of its state, to create one or to read the state.
package struct JournaledState<Definition: LoopDefinition>: Sendable {
    /// Everything, without the definition's types.
    package var core: JournaledCore

    private typealias TypedFold = Fold<Definition, Definition.State, Definition.Event>

    /// - Parameter core: a core that began with a definition of this type.
    init(_ core: JournaledCore) { self.core = core }

    /// Creates an empty one.
    package init(definition: Definition, coder: any ValueCoder, history: History) {
        core = JournaledCore(
            LoopFacts(definition, coder: coder), TypedFold(definition, coder: coder), history: history)
    }

    /// Continues from a snapshot. If another definition of this loop made it, that one's effects stay as they are until this
    /// one takes over, by its definition record.
    /// - Parameter ignoresArguments: whether the snapshot may be of a run with other arguments.
    /// - Throws: `SnapshotError` if the bytes are not what was written, or are of another loop or run, or of a schema that
    ///   cannot be migrated. It never traps, whatever the bytes are.
    package init(
        restoring document: [UInt8], definition: Definition, coder: any ValueCoder, ignoresArguments: Bool = false
    ) throws(SnapshotError) {
        core = try JournaledCore(
            restoring: document, LoopFacts(definition, coder: coder), TypedFold(definition, coder: coder),
            ignoresArguments: ignoresArguments)
    }

    private var fold: TypedFold {
        guard let fold = core.fold as? TypedFold else {
            preconditionFailure("the state is a \(type(of: core.fold)) and was taken for a \(TypedFold.self)")
        }
        return fold
    }

    package var state: Definition.State { fold.state }
    package var definition: Definition { fold.definition }

    /// Applies one record. See `JournaledCore.apply`.
    @discardableResult
    package mutating func apply(_ record: Record) throws -> [LiveChange] { try core.apply(record) }

    /// The names of the parts in which two states of one loop differ. See `JournaledCore.differences`.
    package func differences(from other: JournaledState) throws -> [String] {
        try core.differences(from: other.core)
    }
}

/// What does not depend on the definition's types.
extension JournaledState {
    package var reinterprets: Reinterpretation {
        get { core.reinterprets }
        set { core.reinterprets = newValue }
    }
    package var ignoresArguments: Bool {
        get { core.ignoresArguments }
        set { core.ignoresArguments = newValue }
    }
    package var note: CrashNote? {
        get { core.note }
        set { core.note = newValue }
    }

    package var coder: any ValueCoder { core.loop.coder }
    package var fingerprint: DefinitionFingerprint { core.loop.fingerprint }
    package var feedbacks: [FeedbackFacts] { core.loop.feedbacks }
    package var initialHash: UInt64 { core.loop.initialHash }
    package var hasReinterpreted: Bool { core.hasReinterpreted }
    package var history: History { core.history }
    package var epoch: Epoch { core.epoch }
    package var epochs: [Epoch] { core.epochs }
    package var seq: Seq { core.seq }
    package var time: WallTime { core.time }
    package var effects: HashTable<EffectID, LiveEffect> { core.effects }
    package var sessions: HashTable<SessionID, SessionRecord> { core.sessions }
    package var sessionByPeer: [PeerID: SessionID] { core.sessionByPeer }
    package var nextSession: SessionID { core.nextSession }
    package var quarantine: [UInt64: QuarantineRecord] { core.quarantine }
    package var quarantinedCount: UInt64 { core.quarantinedCount }
    package var position: UInt64 { core.position }
    package var schedules: [UInt32: ScheduleStanding] { core.schedules }
    package var table: FeedbackTable { core.table }
    package var journaledDefinition: DefinitionRecord? { core.journaledDefinition }
    package var ownDefinition: DefinitionRecord { core.ownDefinition }

    package func knows(_ seen: Epoch) -> Bool { core.knows(seen) }
    package func feedback(number: UInt32) -> FeedbackFacts? { core.table[number] }
    package func feedback(of effect: EffectID) -> FeedbackFacts? { core.table[effect.feedback] }
    package func feedbackName(of effect: EffectID) -> String { core.feedbackName(of: effect) }
    package func digest() -> (hash: UInt64, bytes: Int) { core.digest() }
    package func snapshot() throws(SnapshotError) -> [UInt8] { try core.snapshot() }
    package mutating func forget(what rules: BrokenRules) { core.forget(what: rules) }
    package mutating func forgetOutcomes(of session: SessionID, upTo settled: UInt64) {
        core.forgetOutcomes(of: session, upTo: settled)
    }
}
