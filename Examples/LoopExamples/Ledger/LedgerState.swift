/// Which numbers came in, what became of them, and how often something happened that must not.
public struct LedgerState: Codable, Equatable, Sendable {
    /// What has to be booked: the request to the workers.
    public struct Booking: Codable, Equatable, Sendable {
        public var deposit: UInt64
        /// Where the deposit's page is.
        public var folder: String
        public var work: Ledger.Work
    }

    /// Where the pages are.
    public let folder: String
    /// How many effects are to be held.
    public private(set) var held = 0
    /// The numbers of all deposits and cancellations.
    public private(set) var received = NumberSet()
    /// What is to be booked.
    public private(set) var open: [UInt64: Booking] = [:]
    /// Of what is open: the slips of the attempts that began, the newest last.
    public private(set) var slips: [UInt64: [UInt64]] = [:]
    public private(set) var booked = NumberSet()
    public private(set) var cancelled = NumberSet()
    /// Cancellations that came after the booking.
    public private(set) var late = 0
    /// Attempts that began where an earlier one had.
    public private(set) var resumed = 0

    // What must never happen.

    /// Events that were applied before.
    public private(set) var doubles = 0
    /// Events of effects whose deposit was cancelled or booked.
    public private(set) var stale = 0
    /// Bookings by another attempt than the one that began last: two attempts at once.
    public private(set) var torn = 0
    /// Events of deposits that never came in.
    public private(set) var missing = 0

    public init(folder: String) { self.folder = folder }

    /// Whether nothing happened that must never happen.
    public var isSound: Bool { doubles == 0 && stale == 0 && torn == 0 && missing == 0 }

    mutating func apply(_ event: Ledger.Event) {
        switch event {
        case .deposit(let number, let work):
            guard received.insert(number) else { return double() }
            open[number] = Booking(deposit: number, folder: folder, work: work)
        case .cancel(let number, let deposit):
            guard received.insert(number) else { return double() }
            cancel(deposit)
        case .begun(let deposit, let slip):
            guard open[deposit] != nil else { return judge(deposit) }
            let earlier = slips[deposit] ?? []
            guard !earlier.contains(slip) else { return double() }
            if !earlier.isEmpty { resumed += 1 }
            slips[deposit] = earlier + [slip]
        case .booked(let deposit, let slip):
            guard open[deposit] != nil else { return judge(deposit) }
            if slips[deposit]?.last != slip { torn += 1 }
            close(deposit)
            booked.insert(deposit)
        case .hold(let count):
            held = min(max(count, 0), Ledger.heldMax)
        }
    }

    private mutating func double() { doubles += 1 }

    private mutating func cancel(_ deposit: UInt64) {
        if open[deposit] != nil {
            close(deposit)
            cancelled.insert(deposit)
        } else if booked.contains(deposit) {
            late += 1
        } else if cancelled.contains(deposit) {
            doubles += 1
        } else {
            missing += 1
        }
    }

    private mutating func close(_ deposit: UInt64) {
        open[deposit] = nil
        slips[deposit] = nil
    }

    /// An effect's event came although its deposit is not open.
    private mutating func judge(_ deposit: UInt64) {
        if booked.contains(deposit) || cancelled.contains(deposit) {
            stale += 1
        } else {
            missing += 1
        }
    }
}
