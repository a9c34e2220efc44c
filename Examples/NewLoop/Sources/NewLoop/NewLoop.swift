public import LoopCollections
public import LoopCore

/// Charges and ships what customers order.
///
/// Each order is in one of the dictionaries of the state, and each of these has a feedback. The dictionary of an order says
/// what to do with it, and `reduce` moves the order to the next one.
public struct NewLoop: LoopDefinition {
    public static let name = "newloop"
    public let initial = State()
    private let services: Services

    /// - Parameter services: the outside world, as the effects see it. Only workers use it.
    public init(services: Services = .pretended) { self.services = services }

    public struct State: Codable, Equatable, Sendable {
        /// Orders that are being charged.
        public var unpaid: TrackedDictionary<String, Order> = [:]
        /// Orders that are being shipped.
        public var paid: TrackedDictionary<String, Order> = [:]
        /// Cancelled orders whose money, if any was taken, is being given back.
        public var refunds: TrackedDictionary<String, Order> = [:]
        /// How each order has ended.
        public var closed: TrackedDictionary<String, Ending> = [:]

        /// Whether an order of this number was placed before.
        public func knows(_ number: String) -> Bool {
            unpaid.contains(number) || paid.contains(number) || refunds.contains(number) || closed.contains(number)
        }
    }

    public enum Event: Codable, Equatable, Sendable {
        /// A customer has ordered something.
        case place(Order)
        /// A customer cancels an order. Without effect once it is shipped.
        case cancel(number: String)
        case charged(number: String)
        case declined(number: String, reason: String)
        case shipped(number: String, parcel: String)
        case refunded(number: String)
    }

    /// One event of each kind, for `loopctl schema` and for errors about events that cannot be decoded.
    public static let examples: [Event] = [
        .place(Order(number: "1", customer: "Ada", cents: 2500)), .cancel(number: "1"), .charged(number: "1"),
        .declined(number: "1", reason: "the card was declined"), .shipped(number: "1", parcel: "parcel-1"),
        .refunded(number: "1"),
    ]

    public func reduce(into state: inout State, _ event: Event, _ transition: Transition) {
        switch event {
        case .place(let order):
            // A number is used once: an order that is placed twice is one order.
            if !state.knows(order.number) { state.unpaid[order.number] = order }
        case .cancel(let number):
            // The charge may have happened already, although its event has not arrived: the money is given back in any case.
            let unpaid = state.unpaid.removeValue(forKey: number)
            if let order = unpaid ?? state.paid.removeValue(forKey: number) { state.refunds[number] = order }
        case .charged(let number):
            if let order = state.unpaid.removeValue(forKey: number) { state.paid[number] = order }
        case .declined(let number, let reason):
            if state.unpaid.removeValue(forKey: number) != nil { state.closed[number] = .declined(reason: reason) }
        case .shipped(let number, let parcel):
            if state.paid.removeValue(forKey: number) != nil { state.closed[number] = .shipped(parcel: parcel) }
        case .refunded(let number):
            if state.refunds.removeValue(forKey: number) != nil { state.closed[number] = .cancelled }
        }
    }

    /// One effect for each entry of a dictionary. A query of a stored `TrackedDictionary` costs what an event has changed.
    public var feedbacks: [Feedback<State, Event>] {
        [
            .react("charge", requests: \.unpaid) { [services] (order: Order) in
                .task {
                    try await services.charge(order)
                    return .charged(number: order.number)
                }
            }
            .on(.workers)
            .retry(.exponential(max: 5))
            .failing { (order: Order, failure) in .declined(number: order.number, reason: "\(failure)") },
            .react("ship", requests: \.paid) { [services] (order: Order, context: EffectContext) in
                .task {
                    let parcel = try await services.ship(order, context.idempotencyKey)
                    return .shipped(number: order.number, parcel: parcel)
                }
            }
            .on(.workers)
            .retry(.exponential(max: 10))
            .limited(to: 4),
            .react("refund", requests: \.refunds) { [services] (order: Order) in
                .task {
                    try await services.refund(order)
                    return .refunded(number: order.number)
                }
            }
            .on(.workers)
            .retry(.exponential(max: 10)),
        ]
    }
}
