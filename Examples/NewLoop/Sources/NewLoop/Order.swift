/// What a customer wants. It is also the request of the effects, which workers get as it is here.
public struct Order: Codable, Equatable, Sendable {
    /// Chosen by whoever places the order, and used once.
    public var number: String
    public var customer: String
    public var cents: Int

    public init(number: String, customer: String, cents: Int) {
        self.number = number
        self.customer = customer
        self.cents = cents
    }
}

/// How an order has ended.
public enum Ending: Codable, Equatable, Sendable {
    case shipped(parcel: String)
    case declined(reason: String)
    case cancelled
}
