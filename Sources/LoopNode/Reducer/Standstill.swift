import CBOR
import Glibc
import Linux
import LoopCluster
import LoopCore
import LoopKeys
import LoopCollections
import LoopWire

/// Waits for the journal, and answers status requests meanwhile, so that an operator learns what the reducer waits for. All other
/// messages are kept for the next turn.
struct Standstill {
    /// A report with what is known of the loop while no turn is taken.
    var report: StatusReport
    private let limit: Duration
    private let obstacle: JournalObstacle
    /// The admitted keys, or nil if the reducer has no keys.
    var keys: AllowedKeys?
    /// What the database says that the journal waits for, or nil if it was not asked.
    private var inquiry: Locked<JournalError?>?

    /// How long one wait for the journal's connection takes, in milliseconds.
    private static var waitMilliseconds: Int32 { 20 }
    /// How long the journal waits before the database is asked for the reason.
    private static var inquiresAfter: Duration { .seconds(1) }
    /// How many messages are kept for the next turn.
    private static var lettersMax: Int { 4096 }

    /// - Parameter limit: how long an append may wait for its receipt before status requests are answered here.
    init(_ report: StatusReport, limit: Duration, obstacle: JournalObstacle, keys: AllowedKeys?) {
        self.report = report
        self.limit = limit
        self.obstacle = obstacle
        self.keys = keys
    }

    /// Waits for the next receipt.
    /// - Parameters:
    ///   - begunAt: when the oldest append was sent.
    ///   - letters: receives the messages that come meanwhile.
    mutating func receipt(
        of journal: inout any Journal, begunAt: MonotonicTime, _ sockets: inout ReducerSockets,
        _ letters: inout [Letter]
    ) throws -> JournalReceipt? {
        // After an error the obstacle stays noted, because it lasts.
        defer { inquiry = nil }
        while let descriptor = journal.receiptDescriptor {
            if let receipt = try journal.takeReceipt(waits: false) { return resumed(by: receipt) }
            var items = [Poll.item(descriptor, POLLIN)]
            Poll.wait(&items, milliseconds: Self.waitMilliseconds)
            let waited = SystemClock.monotonic - begunAt
            guard waited >= limit, letters.count < Self.lettersMax else { continue }
            inquire(of: journal, waited)
            try answer(
                "an append has waited for its receipt for \(waited.text)", since: begunAt, &sockets, &letters)
        }
        return try journal.takeReceipt(waits: true).map { resumed(by: $0) }
    }

    /// Waits until the journal's connection is free, before a turn that needs it. Another thread has it for long if its database is
    /// silent.
    mutating func connection(
        of journal: any Journal, _ sockets: inout ReducerSockets, _ letters: inout [Letter]
    ) throws {
        defer { inquiry = nil }
        let began = SystemClock.monotonic
        while !journal.isFree(within: .milliseconds(Int(Self.waitMilliseconds))) {
            let waited = SystemClock.monotonic - began
            guard waited >= limit, letters.count < Self.lettersMax else { continue }
            inquire(of: journal, waited)
            try answer(
                "a renewal of the lease has waited for the database for \(waited.text)", since: began, &sockets,
                &letters)
        }
        // If the renewal has failed, the next append gets its error, and the obstacle is noted again.
        if found != nil { obstacle.clear() }
    }

    /// Asks the database once for the reason, on a thread of its own, and notes its answer when it is there.
    private mutating func inquire(of journal: any Journal, _ waited: Duration) {
        if waited >= Self.inquiresAfter, inquiry == nil, let ask = journal.inquiry {
            let answer = Locked<JournalError?>(nil)
            inquiry = answer
            _ = try? NodeThread("loop-inquiry") {
                let found = ask()
                answer.withLock { $0 = found }
            }
        }
        if let found { obstacle.note(found) }
    }

    /// The answer of the database, or nil if it is not there.
    private var found: JournalError? { inquiry?.withLock { $0 } }

    private func resumed(by receipt: JournalReceipt) -> JournalReceipt {
        if found != nil { obstacle.clear() }
        return receipt
    }

    private func answer(
        _ reason: String, since: MonotonicTime, _ sockets: inout ReducerSockets, _ letters: inout [Letter]
    ) throws {
        let error =
            found
            ?? JournalError(
                .unreachable, operation: "write", reason: reason, remedy: "check the database",
                fault: JournalFault(.appendDeadline))
        try sockets.wait(milliseconds: 0)
        var asking: [[UInt8]] = []
        try sockets.drainControl(for: .milliseconds(5)) { request, route, principal, foreignVersion in
            if case .router(let id) = route, case .statusRequest? = request {
                if principal.may(.readStatus, keys) { asking.append(id) }
            } else {
                letters.append(.control(request, route, principal, foreignVersion: foreignVersion))
            }
        }
        for id in asking {
            let message = ToPeer.status(try CBOR.encode(report.unready(because: error, since: since)))
            try sockets.reply(
                PeerFrame(history: .none, epoch: .none, session: .none, message: message), to: id)
        }
    }
}
