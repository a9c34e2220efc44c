import LoopCluster
public import LoopCore
import LoopCollections

/// The fate of an event that an earlier process of the same sender accepted and did not see settled.
public struct RecoveredEvent: Equatable, Sendable {
    /// The outcome as far as it is known.
    public enum Outcome: Equatable, Sendable {
        /// It was applied, at this seq if its sender had asked for that.
        case applied(Seq?)
        /// It was refused, for this reason. `historyChanged` means that it may have been applied in a history that has gone.
        case refused(SendRefusal)
    }

    /// The event's number in the outbox, which counts over all its processes.
    public let number: UInt64
    /// The encoded event.
    public let event: [UInt8]
    /// Whether the reducer applied or refused it.
    public let outcome: Outcome
}

/// Follows the recovered entries until all of them are settled.
final class RecoveredEvents: Sendable {
    private struct State {
        var open: [UInt64: [UInt8]]
        var settled: [RecoveredEvent] = []
        var failure: NodeError?
    }

    private let state: Locked<State>
    /// Set when all outcomes are known, or no more will come.
    private let end = AwaitedValue<Void>()

    init(_ stream: PeerStream) {
        var open: [UInt64: [UInt8]] = [:]
        for (offset, entry) in stream.entries.enumerated() where entry.kind == .event {
            open[stream.base + stream.settled + UInt64(offset) + 1] = Array(entry.payload)
        }
        state = Locked(State(open: open))
        if open.isEmpty { end.set(()) }
    }

    /// Notes the outcome of one entry.
    func settle(_ number: UInt64, _ outcome: RecoveredEvent.Outcome) {
        note { state in
            guard let event = state.open.removeValue(forKey: number) else { return }
            state.settled.append(RecoveredEvent(number: number, event: event, outcome: outcome))
        }
    }

    /// Settles all entries up to a number. Those without an outcome of their own were applied.
    func settle(upTo number: UInt64) {
        note { state in
            guard !state.open.isEmpty else { return }
            for (own, event) in state.open.filter({ $0.key <= number }).sorted(by: { $0.key < $1.key }) {
                state.open[own] = nil
                state.settled.append(RecoveredEvent(number: own, event: event, outcome: .applied(nil)))
            }
        }
    }

    /// Ends the wait with an error, because no more outcomes will come.
    func fail(_ failure: NodeError) { note { $0.failure = $0.failure ?? failure } }

    private func note(_ change: (inout State) -> Void) {
        let isOver = state.withLock { state in
            change(&state)
            return state.open.isEmpty || state.failure != nil
        }
        if isOver { end.set(()) }
    }

    /// Waits until every outcome is known.
    func all() async throws(NodeError) -> [RecoveredEvent] {
        await end.get()
        let (settled, failure) = state.withLock { ($0.settled, $0.open.isEmpty ? nil : $0.failure) }
        if let failure { throw failure }
        return settled.sorted { $0.number < $1.number }
    }
}
