public import LoopCore

extension Recovery {
    /// Rebuilds the state after a seq, to show it.
    ///
    /// Events of other definitions with the same schema are applied with this definition. Their queries may differ, but effects
    /// are not shown.
    /// - Parameters:
    ///   - seq: the last seq to replay, or nil for all.
    ///   - journal: the journal to replay.
    ///   - definition: the loop to recover.
    ///   - coder: the coder of the definition's values.
    /// - Throws: `RecoveryError`, or the journal's `JournalError`.
    public init(
        showing seq: Seq?, of journal: any Journal, _ definition: some LoopDefinition, coder: any ValueCoder
    ) throws {
        do {
            try self.init(
                definition, from: journal, coder: coder, through: seq, reinterprets: .sameSchema, ignoresArguments: true
            )
        } catch RecoveryError.definition(let mismatch) {
            throw try Self.ofAnotherSchema(mismatch, journal, definition)
        }
        if let seq, journaled.seq != seq { throw RecoveryError.endsBefore(seq, at: journaled.seq) }
    }

    private static func ofAnotherSchema(
        _ mismatch: DefinitionMismatch, _ journal: any Journal, _ definition: some LoopDefinition
    ) throws(JournalError) -> RecoveryError {
        let own = DefinitionFingerprint(of: definition).value
        let first = try journal.snapshots().last { $0.fingerprint == own && $0.seq >= mismatch.seq }
        return .ofAnotherSchema(
            mismatch.seq, schema: mismatch.journal.schema, own: mismatch.binary.schema, first: first?.seq)
    }
}
