import LoopCluster
import LoopCore
import LoopWire

/// Up to where each session's entries must be read after a turn: whatever was handed to the machine is consumed, or waits.
/// What was lost on its way is asked for again, so that nothing else would show an entry that the reducer drops by itself.
struct ReadAccount {
    private var expected: [SessionID: UInt64] = [:]

    /// A turn begins. Whatever waited after the last turn still waits.
    mutating func begin<Definition>(_ reducer: ReducerMachine<Definition>) {
        expected = [:]
        for session in reducer.waitingSessions { expected[session] = reducer.read(of: session) }
    }

    /// A batch of the present history is handed to the reducer. One after a gap is dropped, and comes again.
    /// - Parameter known: up to where the reducer has read the session.
    mutating func note(_ batch: Batch, after known: UInt64?) {
        guard let read = expected[batch.session] ?? known, batch.first <= read + 1 else { return }
        expected[batch.session] = max(read, batch.first + UInt64(batch.entries.count) - 1)
    }

    /// After a turn.
    /// - Parameter count: called for each session that is compared.
    func check<Definition>(_ reducer: ReducerMachine<Definition>, _ count: () -> Void) throws(Violation) {
        // Without room for all of it, it is as if it had been lost.
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
