internal import LoopCore
internal import LoopNode

/// The effect: it reports its beginning, does the work, writes the deposit's page, and books the deposit.
struct LedgerClerk: Sendable {
    private let booking: LedgerState.Booking
    private let context: EffectContext
    private let slip = SystemRandom.uint64()

    init(_ booking: LedgerState.Booking, _ context: EffectContext) {
        self.booking = booking
        self.context = context
    }

    /// - Throws: errors that a retry may overcome; a refusal, which is also written to the page.
    func book(_ send: Send<Ledger.Event>) async throws {
        let page = LedgerPage(folder: booking.folder, deposit: booking.deposit)
        func note(_ what: LedgerPage.Note) throws {
            try page.append(LedgerPage.Line(key: context.idempotencyKey, slip: slip, note: what))
        }
        do {
            try note(.begun(failures: context.failures))
            try await send(.begun(deposit: booking.deposit, slip: slip))
            // The work only takes time.
            try await Task.sleep(for: .milliseconds(min(max(booking.work.milliseconds, 0), 600_000)))
            if context.failures < booking.work.failures { throw Trouble() }
            try note(.written)
            let seq = try await send.sendAndConfirm(.booked(deposit: booking.deposit, slip: slip))
            try note(.booked(seq))
        } catch let refusal as SendRefusal {
            try note(.refused("\(refusal.reason)"))
            throw refusal
        }
    }

    /// The failure that the deposit requested.
    private struct Trouble: Error {}
}
