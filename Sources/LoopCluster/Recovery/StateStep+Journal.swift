package import LoopCore
package import LoopWire
internal import CBOR

extension StateStep {
    /// Replays one transition, and compares the states before and after it.
    /// - Parameters:
    ///   - seq: the seq of the transition.
    ///   - journal: the journal to replay.
    ///   - definition: the loop whose states are compared. It must be able to show them.
    ///   - coder: the coder of the definition's values.
    /// - Throws: `RecoveryError` if the states cannot be rebuilt, or `JournalError`.
    package init(
        of seq: Seq, in journal: any Journal, _ definition: some LoopDefinition, coder: any ValueCoder
    ) throws {
        var journaled = try Recovery(showing: Seq(seq.value - 1), of: journal, definition, coder: coder).journaled
        var step: StateStep?
        try journal.forEachRecord(after: journaled.position) { record in
            guard case .event = record else {
                try journaled.apply(record)
                return true
            }
            step = try StateStep(applying: record, to: &journaled, definition)
            return false
        }
        guard let step, journaled.seq == seq else { throw RecoveryError.endsBefore(seq, at: journaled.seq) }
        self = step
    }

    /// Applies an event, and compares the states before and after it.
    /// - Parameters:
    ///   - record: the record of the event.
    ///   - journaled: the state before it, which becomes that after it.
    ///   - definition: the loop whose states are compared. It must be able to show them.
    /// - Throws: what applying the record throws.
    package init(
        applying record: Record, to journaled: inout JournaledState, _ definition: some LoopDefinition
    ) throws {
        let (old, live) = (try ShownState.encode(journaled.state(of: definition)), journaled.effects)
        let changes = try journaled.apply(record)
        let new = try ShownState.encode(journaled.state(of: definition))
        let (differences, isCut) = try CBOR.differences(from: old, to: new, max: Self.countMax)
        let effects = changes.prefix(Self.countMax).map { change in
            let effect = (change.kind == .cancelled ? live : journaled.effects)[change.effect]
            return Effect(
                effect: "\(change.effect)", feedback: journaled.feedbackName(of: change.effect),
                kind: Effect.Kind(change.kind), request: effect?.request ?? [])
        }
        self.init(
            changes: differences.map { Change(path: $0.path, old: $0.old, new: $0.new) }, areChangesCut: isCut,
            effects: effects, effectsLeftOut: max(0, changes.count - Self.countMax))
    }
}

extension StateStep.Effect.Kind {
    fileprivate init(_ kind: LiveChange.Kind) {
        switch kind {
        case .started: self = .started
        case .updated: self = .updated
        case .cancelled: self = .cancelled
        }
    }
}
