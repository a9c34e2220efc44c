package import LoopCore
package import LoopWire

/// A loop as it was after a transition of its journal, to which events are applied that have not happened.
///
/// Nothing is written, and no effect runs. All events come at the time of that transition.
package struct Sandbox<Definition: LoopDefinition> {
    private var journaled: JournaledState
    private let definition: Definition
    private let coder: any ValueCoder

    /// Replays a journal.
    /// - Parameters:
    ///   - seq: the last transition to replay, or nil for all.
    ///   - journal: the journal, which is only read.
    ///   - definition: the loop.
    ///   - coder: the coder of the definition's values.
    /// - Throws: `RecoveryError` if the state cannot be rebuilt, or `JournalError`.
    package init(
        after seq: Seq?, in journal: any Journal, _ definition: Definition, coder: any ValueCoder
    ) throws {
        journaled = try Recovery(showing: seq, of: journal, definition, coder: coder).journaled
        self.definition = definition
        self.coder = coder
    }

    /// The seq of the newest transition.
    package var seq: Seq { journaled.seq }
    /// The time of all events.
    package var time: WallTime { journaled.time }
    /// The seed of random numbers.
    package var seed: UInt64 { journaled.history.value }
    /// The loop's outcome, or nil while it runs on. Events that follow it would be refused.
    package var outcome: Outcome? { definition.outcome(of: journaled.state(of: definition)) }
    /// The encoded state, as the coder reads it.
    package func encodedState() throws -> [UInt8] { try coder.encode(journaled.state(of: definition)) }

    /// How many effects of a feedback the state asks for.
    package func effectsCount(of feedback: String) -> Int {
        journaled.effects.count { journaled.feedbackName(of: $0.key) == feedback }
    }

    /// Applies an event.
    /// - Throws: what decoding throws; then nothing has changed.
    package mutating func apply(_ event: [UInt8]) throws -> StateStep {
        let record = EventRecord(
            seq: seq.next, time: time, session: .none, number: 0, effect: nil, attempt: .none, wantsSeq: false,
            bytes: event[...])
        return try StateStep(applying: .event(record), to: &journaled, definition)
    }
}
