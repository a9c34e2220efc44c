package import LoopCore

/// A ledger that can be audited: every event has a number of its own, and the state has the set of numbers it has seen.
///
/// A client deposits a number, and may cancel it later. While a deposit is open, an effect on some worker writes to the
/// deposit's page, a file, and then books it. Every error of a cluster shows: an event that is applied twice, an event
/// after its deposit was cancelled, two simultaneous attempts of one booking, a lost number. The state counts all of these
/// (``LedgerState/isSound``). The pages show the same from outside: an effect runs at least once, with one idempotency key.
///
/// It can also request many effects that only wait until they are cancelled.
///
/// `loop-chaos` runs it while it breaks everything around it.
package struct Ledger: LoopDefinition {
    package typealias State = LedgerState

    /// The events of the ledger.
    package enum Event: Codable, Equatable, Sendable {
        /// A client deposits this number.
        case deposit(number: UInt64, work: Work)
        /// A client cancels a deposit. The cancellation has a number of its own.
        case cancel(number: UInt64, deposit: UInt64)
        /// An attempt has begun. The slip is a random number that it drew.
        case begun(deposit: UInt64, slip: UInt64)
        /// The attempt has written the deposit's page.
        case booked(deposit: UInt64, slip: UInt64)
        /// The number of effects to hold from now on.
        case hold(count: Int)

        /// They are listed for workers in other languages, which see all cases in the schema.
        private enum CodingKeys: CodingKey, CaseIterable { case deposit, cancel, begun, booked, hold }
    }

    package static let examples: [Event] = [
        .deposit(number: 1, work: Work(milliseconds: 10)), .cancel(number: 2, deposit: 1), .begun(deposit: 1, slip: 7),
        .booked(deposit: 1, slip: 7), .hold(count: 0),
    ]

    /// How long a booking takes, and how often it fails.
    package struct Work: Codable, Equatable, Sendable {
        /// How long an attempt takes.
        package var milliseconds: Int
        /// How many attempts fail before one succeeds.
        package var failures: Int

        package init(milliseconds: Int = 0, failures: Int = 0) {
            self.milliseconds = milliseconds
            self.failures = failures
        }
    }

    /// The answer to a deposit.
    package struct Receipt: Codable, Equatable, Sendable {
        /// The deposit's number.
        package let number: UInt64
        /// How many deposits are open, with this one.
        package let open: Int
    }

    package static let name = "ledger"
    package static let abstract = "Book numbered deposits, one file each; every event that is lost or doubled shows."

    /// The folder of the pages. Workers get it with their requests.
    package let folder: String

    package init(folder: String = "") { self.folder = folder }

    package var initial: LedgerState { LedgerState(folder: folder) }

    package func reduce(into state: inout LedgerState, _ event: Event, _: Transition) { state.apply(event) }

    package func answer(to event: Event, in state: LedgerState) -> Receipt? {
        guard case .deposit(let number, _) = event else { return nil }
        return Receipt(number: number, open: state.open.count)
    }

    /// Each open deposit has an effect on a worker, which is retried until it succeeds.
    package var feedbacks: [Feedback<LedgerState, Event>] {
        let held = HeldRequests()
        return [
            .react("book", requests: \.open, effect: Self.book).on(.workers).retry(Self.retry),
            .react("hold", requests: { held.all(of: $0) }, effect: Self.hold).on(.workers(group: Self.holders)),
        ]
    }

    private static let retry = Retry.exponential(max: 1000, first: .milliseconds(50), longest: .seconds(1))

    @Sendable private static func book(_ booking: LedgerState.Booking, _ context: EffectContext) -> Effect<Event> {
        .run { send in try await LedgerClerk(booking, context).book(send) }
    }

    /// The largest number of effects to hold.
    package static let heldMax = 100_000
    /// The group of workers that only hold effects.
    package static let holders = "holders"

    @Sendable private static func hold(_ request: HeldRequests.Request, _ context: EffectContext) -> Effect<Event> {
        .run { _ in
            try HolderPage.ofThisProcess(in: request.folder).append(request.number)
            // Requests never change, so this ends when the effect is cancelled.
            for await _ in context.updates(of: HeldRequests.Request.self) {}
        }
    }

    package func progress(of state: LedgerState) -> Progress? {
        let closed = state.booked.count + state.cancelled.count
        return Progress(
            done: closed, found: closed + state.open.count, unit: "deposits",
            note: state.isSound
                ? nil
                : "\(state.doubles) doubled, \(state.stale) stale, \(state.torn) torn, \(state.missing) missing")
    }
}
