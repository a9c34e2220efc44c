/// The numbers that were received, their outcomes, and the counts of violations.
package struct LedgerState: Codable, Equatable, Sendable {
    /// An open booking: the request to the workers.
    package struct Booking: Codable, Equatable, Sendable {
        package var deposit: UInt64
        /// The folder of the deposit's page.
        package var folder: String
        package var work: Ledger.Work
    }

    /// The folder of the pages.
    package let folder: String
    /// The number of effects to hold.
    package private(set) var held = 0
    /// The numbers of all deposits and cancellations.
    package private(set) var received = NumberSet()
    /// The open bookings.
    package private(set) var open: [UInt64: Booking] = [:]
    /// The slips of the attempts that began for open bookings, the newest last.
    package private(set) var slips: [UInt64: [UInt64]] = [:]
    package private(set) var booked = NumberSet()
    package private(set) var cancelled = NumberSet()
    /// Cancellations that came after the booking.
    package private(set) var late = 0
    /// Attempts that began after an earlier one had begun.
    package private(set) var resumed = 0

    // Violations.

    /// Events that had been applied before.
    package private(set) var doubles = 0
    /// Events of effects whose deposit was cancelled or booked.
    package private(set) var stale = 0
    /// Bookings by another attempt than the one that began last, which means two attempts at once.
    package private(set) var torn = 0
    /// Events of deposits that were never received.
    package private(set) var missing = 0

    package init(folder: String) { self.folder = folder }

    /// Whether there were no violations.
    package var isSound: Bool { doubles == 0 && stale == 0 && torn == 0 && missing == 0 }

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

    /// Counts an effect's event whose deposit is not open.
    private mutating func judge(_ deposit: UInt64) {
        if booked.contains(deposit) || cancelled.contains(deposit) {
            stale += 1
        } else {
            missing += 1
        }
    }
}
