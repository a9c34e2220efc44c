import LoopCollections
import LoopCore
import LoopExamples
import LoopNode

/// The outcomes of all events that the clients have sent, as far as they know them.
final class ClientBook: Sendable {
    private let outcomes = Locked<[UInt64: ClientOutcome]>([:])

    /// Sends an event, and notes its outcome.
    /// - Returns: whether it was applied.
    @discardableResult
    func send(_ event: Ledger.Event, _ number: UInt64, by loop: RemoteLoop<Ledger>) async -> Bool {
        settle(number, .unknown)
        do throws(SendRefusal) {
            settle(number, .applied(try await loop.sendAndConfirm(event).seq))
            return true
        } catch {
            // A closed handle does not know the outcome. Every other refusal comes from the reducer.
            settle(number, error.reason == .ended ? .unknown : .refused(error.reason))
            return false
        }
    }

    private func settle(_ number: UInt64, _ outcome: ClientOutcome) { outcomes.withLock { $0[number] = outcome } }

    var all: [UInt64: ClientOutcome] { outcomes.withLock { $0 } }
}

/// The outcome of one event, as its sender knows it.
enum ClientOutcome: Equatable, Sendable {
    /// The outcome is unknown.
    case unknown
    case applied(Seq)
    case refused(SendRefusal.Reason)
}
