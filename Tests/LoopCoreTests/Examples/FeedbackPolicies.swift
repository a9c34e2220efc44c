import LoopCore

/// Parcels that are charged and shipped.
struct Parcel: Codable, Equatable, Sendable {
    var number: Int
    var customer: String
    var cents: Int
    /// The greater, the sooner it is shipped.
    var urgency = 0
}

struct Parcels: Codable, Equatable, Sendable {
    /// Each is charged.
    var unpaid: TrackedDictionary<Int, Parcel> = [:]
    /// Each is shipped.
    var paid: TrackedDictionary<Int, Parcel> = [:]
}

enum ParcelEvent: Codable, Equatable, Sendable {
    case charged(Int)
    case declined(Int, because: String)
    case shipped(Int)
}

/// Trying again cannot help: the failure is final at once.
struct CardDeclined: RetryAdvice {
    let isTransient = false
    let retryAfter: Duration? = nil
}

/// The provider has named the earliest time of the next try.
struct TooManyRequests: RetryAdvice {
    let isTransient = true
    let retryAfter: Duration?
}

func parcelFeedbacks(
    charge: @escaping @Sendable (Parcel, _ key: String) async throws -> Void,
    ship: @escaping @Sendable (Parcel, _ key: String) async throws -> Void
) -> [Feedback<Parcels, ParcelEvent>] {
    [
        .react("charge", requests: \.unpaid) { parcel, context in
            .task {
                try await charge(parcel, context.idempotencyKey)
                return .charged(parcel.number)
            }
        }
        .on(.workers(group: "payments"))
        .retry(.exponential(max: 5, first: .seconds(1), longest: .seconds(60)))
        .timeout(.seconds(30))
        .limited(to: 20, perGroup: 2) { (parcel: Parcel) in parcel.customer }
        .failing { (parcel: Parcel, failure) in .declined(parcel.number, because: "\(failure)") },
        .react("ship", requests: \.paid) { parcel, context in
            .task {
                try await ship(parcel, context.idempotencyKey)
                return .shipped(parcel.number)
            }
        }
        .on(.workers(group: "warehouse"))
        .retry(.exponential(max: 10))
        .rated(RateLimit(perSecond: 5, burst: 10))
        .fair(by: \Parcel.customer)
        .priority(\Parcel.urgency, step: .seconds(60)),
    ]
}
