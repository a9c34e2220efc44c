import LoopCore
import LoopExamples
import LoopLock
import LoopNode

/// Many clients that each come for one event: they connect, deposit a number, wait for its outcome, and leave. Each has a session,
/// and far more of them come than the reducer may have sessions.
final class Visitors: Sendable {
    /// Connects one more client.
    typealias Connect = @Sendable () async throws -> RemoteLoop<Ledger>

    private struct Progress {
        var plans: DepositPlans
        var isOver = false
        var count = 0
        /// Those that are there, by their number.
        var present: [Int: RemoteLoop<Ledger>] = [:]
        var problems: [String] = []
    }

    private let connect: Connect
    private let book: ClientBook
    private let progress: Locked<Progress>

    /// The number of visitors at a time.
    static let lanes = 4

    /// - Parameter client: the client whose range their numbers are of; no other process uses it.
    init(client: Int, seed: UInt64, book: ClientBook, connect: @escaping Connect) {
        self.connect = connect
        self.book = book
        progress = Locked(Progress(plans: DepositPlans(client: client, seed: seed)))
    }

    /// How many have come.
    var count: Int { progress.withLock { $0.count } }
    /// Errors that kept some of them away, other than refusals of the reducer.
    var problems: [String] { progress.withLock { $0.problems } }

    /// No visitor comes from now on.
    func finish() { progress.withLock { $0.isOver = true } }

    /// The present visitors leave, and learn that they will receive no outcome.
    func close() async {
        finish()
        for loop in progress.withLock({ Array($0.present.values) }) { await loop.close() }
    }

    /// Returns when the last has left.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.lanes {
                group.addTask {
                    while !self.progress.withLock({ $0.isOver }), !Task.isCancelled { await self.visit() }
                }
            }
        }
    }

    private func visit() async {
        do {
            let loop = try await connect()
            let number = progress.withLock { progress -> (visit: Int, deposit: UInt64) in
                progress.count += 1
                progress.present[progress.count] = loop
                return (progress.count, progress.plans.next().number)
            }
            book.sent(number.deposit)
            do throws(SendRefusal) {
                let id = try await loop.sendAndConfirm(.deposit(number: number.deposit, work: Ledger.Work()))
                book.settled(number.deposit, .applied(id.seq))
            } catch {
                book.settled(number.deposit, error.reason == .ended ? .unknown : .refused(error.reason))
            }
            await loop.close()
            progress.withLock { $0.present[number.visit] = nil }
            // The visitors' pace is independent of everything else.
            try await Task.sleep(for: .milliseconds(100))
        } catch is CancellationError {
        } catch {
            finish()
            progress.withLock { $0.problems.append("a short-lived client could not connect: \(error)") }
        }
    }
}
