/// A customer's order. It is also the request of the effects, which workers get unchanged.
public struct Order: Codable, Equatable, Sendable {
    /// A number that the client chooses and uses once.
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
