import LoopCluster
import LoopWire

/// The number up to which each session's entries must be read after a turn: everything that the machine received is consumed, or
/// waits. The reducer requests lost entries again, so nothing else would show an entry that it drops itself.
struct ReadAccount {
    private var expected: [SessionID: UInt64] = [:]

    /// A turn begins. Everything that waited after the last turn still waits.
    mutating func begin(_ reducer: ReducerMachine) {
        expected = [:]
        for session in reducer.waitingSessions { expected[session] = reducer.read(of: session) }
    }

    /// A batch of the present history is passed to the reducer. A batch after a gap is dropped, and comes again.
    /// - Parameter known: the number up to which the reducer has read the session.
    mutating func note(_ batch: Batch, after known: UInt64?) {
        guard let read = expected[batch.session] ?? known, batch.first <= read + 1 else { return }
        expected[batch.session] = max(read, batch.first + UInt64(batch.entries.count) - 1)
    }

    /// Compares after a turn.
    /// - Parameter count: called for each session that is compared.
    func check(_ reducer: ReducerMachine, _ count: () -> Void) throws(Violation) {
        // A batch that was dropped for lack of space counts as lost.
        if expected.isEmpty || reducer.counters[.deferredDropped] ?? 0 > 0 { return }
        for (session, expected) in expected {
            count()
            guard let read = reducer.read(of: session), read < expected else { continue }
            throw Violation(
                .nothingLost,
                "entry \(read + 1) of session \(session) was read, and is neither consumed nor does it wait")
        }
    }
}
