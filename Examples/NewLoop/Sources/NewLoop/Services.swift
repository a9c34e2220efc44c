public import LoopCore

/// The actions of the effects in the outside world. An effect may run more than once for one order, so the world must
/// recognise it: by the number of the order, or by the effect's idempotency key.
public struct Services: Sendable {
    /// Takes the money for an order, once for each number.
    public var charge: @Sendable (Order) async throws -> Void
    /// Sends the goods of an order, once for each key, and returns the number of the parcel.
    public var ship: @Sendable (Order, _ key: String) async throws -> String
    /// Refunds the money that was taken for an order, if any was.
    public var refund: @Sendable (Order) async throws -> Void

    public init(
        charge: @escaping @Sendable (Order) async throws -> Void,
        ship: @escaping @Sendable (Order, _ key: String) async throws -> String,
        refund: @escaping @Sendable (Order) async throws -> Void
    ) {
        self.charge = charge
        self.ship = ship
        self.refund = refund
    }

    /// Neither takes money nor sends goods. Call your payment provider and your warehouse here instead.
    public static let pretended = Services(
        charge: { order in
            try await Task.sleep(for: .milliseconds(100))
            if order.cents > 100_000 { throw CardDeclined() }
        },
        ship: { order, key in
            try await Task.sleep(for: .milliseconds(100))
            return "parcel-\(order.number)"
        },
        refund: { _ in try await Task.sleep(for: .milliseconds(100)) }
    )
}

/// An error that is final at once, because no retry can charge this card.
public struct CardDeclined: RetryAdvice, CustomStringConvertible {
    public let isTransient = false
    public let retryAfter: Duration? = nil

    public init() {}

    public var description: String { "the card was declined" }
}
