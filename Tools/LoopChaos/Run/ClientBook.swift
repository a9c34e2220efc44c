import LoopCore
import LoopLock

/// What the clients know of every event that they sent.
final class ClientBook: Sendable {
    private let outcomes = Locked<[UInt64: ClientOutcome]>([:])

    func sent(_ number: UInt64) { outcomes.withLock { $0[number] = .unknown } }

    func settled(_ number: UInt64, _ outcome: ClientOutcome) { outcomes.withLock { $0[number] = outcome } }

    var all: [UInt64: ClientOutcome] { outcomes.withLock { $0 } }
}

/// What became of one event, as its sender was told.
enum ClientOutcome: Equatable, Sendable {
    /// Not told.
    case unknown
    case applied(Seq)
    case refused(SendRefusal.Reason)
}
