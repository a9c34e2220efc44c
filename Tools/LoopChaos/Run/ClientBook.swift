import LoopCollections
import LoopCore

/// The outcomes of all events that the clients have sent, as far as they know them.
final class ClientBook: Sendable {
    private let outcomes = Locked<[UInt64: ClientOutcome]>([:])

    func sent(_ number: UInt64) { outcomes.withLock { $0[number] = .unknown } }

    func settled(_ number: UInt64, _ outcome: ClientOutcome) { outcomes.withLock { $0[number] = outcome } }

    var all: [UInt64: ClientOutcome] { outcomes.withLock { $0 } }
}

/// The outcome of one event, as its sender knows it.
enum ClientOutcome: Equatable, Sendable {
    /// The outcome is unknown.
    case unknown
    case applied(Seq)
    case refused(SendRefusal.Reason)
}
