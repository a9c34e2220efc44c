import LoopCollections
import LoopExamples
import LoopNode

/// Many clients for one event each: a client connects, deposits a number, waits for the outcome, and leaves. Each has a
/// session, and far more of them come than the reducer may have sessions.
final class Visitors: Sendable {
    /// Connects one more client.
    typealias Connect = @Sendable () async throws -> RemoteLoop<Ledger>

    private struct Progress {
        var plans: DepositPlans
        var isOver = false
        var count = 0
        /// The connected clients, by number.
        var present: [Int: RemoteLoop<Ledger>] = [:]
        var problems: [String] = []
    }

    private let connect: Connect
    private let book: ClientBook
    private let progress: Locked<Progress>

    /// The number of visitors at a time.
    static let lanes = 4

    /// - Parameter client: the number of the client whose range their events use; no other process uses it.
    init(client: Int, seed: UInt64, book: ClientBook, connect: @escaping Connect) {
        self.connect = connect
        self.book = book
        progress = Locked(Progress(plans: DepositPlans(client: client, seed: seed)))
    }

    /// How many clients have come.
    var count: Int { progress.withLock { $0.count } }
    /// Errors that prevented some of them, other than refusals of the reducer.
    var problems: [String] { progress.withLock { $0.problems } }

    /// Ends new visits.
    func finish() { progress.withLock { $0.isOver = true } }

    /// Disconnects the present visitors. They get the error that no outcome will come.
    func close() async {
        finish()
        for loop in progress.withLock({ Array($0.present.values) }) { await loop.close() }
    }

    /// Returns when the last visitor has left.
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
            await book.send(
                .deposit(number: number.deposit, work: Ledger.Work()), number.deposit, by: loop)
            await loop.close()
            progress.withLock { $0.present[number.visit] = nil }
            // A wait, because the visitors' pace is independent of everything else.
            try await Task.sleep(for: .milliseconds(100))
        } catch is CancellationError {
        } catch {
            finish()
            progress.withLock { $0.problems.append("a short-lived client could not connect: \(error)") }
        }
    }
}
