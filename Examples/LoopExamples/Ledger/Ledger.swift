public import LoopCore

/// A ledger that can be audited: every event has a number of its own, and the state remembers which ones it has seen.
///
/// A client deposits a number, and may cancel it later. While a deposit is open, an effect on some worker writes to the
/// deposit's page, a file, and then books it. Whatever a cluster may do wrong shows: an event that is applied twice, one
/// that comes after its deposit was cancelled, two attempts of one booking at once, a number that was lost. All of that is
/// counted in the state (``LedgerState/isSound``), and the pages tell the same story from the outside world's side: an
/// effect runs at least once, under the same idempotency key each time.
///
/// It can also request many effects that only wait until they are cancelled.
///
/// It is what `loop-chaos` runs while it breaks everything around it.
public struct Ledger: LoopDefinition {
    public typealias State = LedgerState

    /// What has happened.
    public enum Event: Codable, Equatable, Sendable {
        /// A client wants this number booked.
        case deposit(number: UInt64, work: Work)
        /// A client has changed its mind. The cancellation has a number of its own.
        case cancel(number: UInt64, deposit: UInt64)
        /// An attempt has begun; the slip is a random number that it drew.
        case begun(deposit: UInt64, slip: UInt64)
        /// The attempt has written the deposit's page.
        case booked(deposit: UInt64, slip: UInt64)
        /// The number of effects to hold from now on.
        case hold(count: Int)
    }

    public static let examples: [Event] = [
        .deposit(number: 1, work: Work(milliseconds: 10)), .cancel(number: 2, deposit: 1), .begun(deposit: 1, slip: 7),
        .booked(deposit: 1, slip: 7), .hold(count: 0),
    ]

    /// How long a booking takes, and how often it fails.
    public struct Work: Codable, Equatable, Sendable {
        /// How long an attempt takes.
        public var milliseconds: Int
        /// How many attempts fail before one succeeds.
        public var failures: Int

        public init(milliseconds: Int = 0, failures: Int = 0) {
            self.milliseconds = milliseconds
            self.failures = failures
        }
    }

    /// The answer to a deposit.
    public struct Receipt: Codable, Equatable, Sendable {
        /// The deposit's number.
        public let number: UInt64
        /// How many deposits are open, with this one.
        public let open: Int
    }

    public static let name = "ledger"
    public static let abstract = "Book numbered deposits, one file each; every event that is lost or doubled shows."

    /// Where the pages are; the workers learn it from their requests.
    public let folder: String

    public init(folder: String = "") { self.folder = folder }

    public var initial: LedgerState { LedgerState(folder: folder) }

    public func reduce(_ state: inout LedgerState, _ event: Event) { state.apply(event) }

    public func answer(to event: Event, in state: LedgerState) -> (any Codable & Sendable)? {
        guard case .deposit(let number, _) = event else { return nil }
        return Receipt(number: number, open: state.open.count)
    }

    /// What is open is being booked, on some worker. A failed attempt is tried again, for as long as it takes.
    public var feedbacks: [Feedback<LedgerState, Event>] {
        let held = HeldRequests()
        return [
            .each("book", requests: { $0.open }, on: .workers, retry: Self.retry, effect: Self.book),
            .each("hold", requests: { held.all(of: $0) }, on: .workers(Self.holders), effect: Self.hold),
        ]
    }

    private static let retry = Retry.exponential(max: 1000, first: .milliseconds(50), longest: .seconds(1))

    @Sendable private static func book(_ booking: LedgerState.Booking, _ context: EffectContext) -> Effect<Event> {
        .run { send in try await LedgerClerk(booking, context).book(send) }
    }

    /// The largest number of effects to hold.
    public static let heldMax = 100_000
    /// The group of the workers that hold effects and do nothing else.
    public static let holders = "holders"

    @Sendable private static func hold(_ request: HeldRequests.Request, _ context: EffectContext) -> Effect<Event> {
        .run { _ in
            try HolderPage.ofThisProcess(in: request.folder).append(request.number)
            // Requests never change: this ends when the effect is cancelled.
            for await _ in context.updates(of: HeldRequests.Request.self) {}
        }
    }

    public func progress(of state: LedgerState) -> Progress? {
        let closed = state.booked.count + state.cancelled.count
        return Progress(
            done: closed, found: closed + state.open.count, unit: "deposits",
            note: state.isSound
                ? nil
                : "\(state.doubles) doubled, \(state.stale) stale, \(state.torn) torn, \(state.missing) missing")
    }
}
