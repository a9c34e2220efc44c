import LoopCollections
import LoopCore
import LoopExamples
import LoopNode

/// A client of the ledger. It deposits numbers at its pace, cancels some of them, and waits for every outcome.
struct DepositClient: Sendable {
    /// The pace of a client.
    struct Pace: Sendable {
        var depositsPerSecond = 60.0
        /// How many outcomes may be open at a time.
        var openMax = 64
    }

    /// The plan of one deposit, drawn from the seed.
    struct Plan: Equatable, Sendable {
        let number: UInt64
        let work: Ledger.Work
        /// The number of its cancellation, and the delay after the deposit.
        let cancellation: (number: UInt64, after: Duration)?

        static func == (a: Plan, b: Plan) -> Bool {
            a.number == b.number && a.work == b.work && a.cancellation?.number == b.cancellation?.number
                && a.cancellation?.after == b.cancellation?.after
        }
    }

    let loop: RemoteLoop<Ledger>
    let book: ClientBook
    let pace: Pace
    private let isOver = Locked(false)
    private let plans: Locked<DepositPlans>

    /// - Parameter client: the client's number, from 1. Its events have numbers of its own range.
    init(client: Int, seed: UInt64, loop: RemoteLoop<Ledger>, book: ClientBook, pace: Pace = Pace()) {
        self.loop = loop
        self.book = book
        self.pace = pace
        plans = Locked(DepositPlans(client: client, seed: seed))
    }

    /// Ends new deposits.
    func finish() { isOver.withLock { $0 = true } }

    /// Deposits until `finish` is called. Returns when every outcome is known.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            var open = 0
            let begin = SystemClock.monotonic
            var count = 0.0
            while !isOver.withLock({ $0 }), !Task.isCancelled {
                if open >= pace.openMax {
                    await group.next()
                    open -= 1
                    continue
                }
                count += 1
                let due = begin + .seconds(count / pace.depositsPerSecond)
                let wait = due - SystemClock.monotonic
                // A wait, because the client's pace is independent of everything else.
                if wait > .zero { try? await Task.sleep(for: wait) }
                let plan = plans.withLock { $0.next() }
                open += 1
                group.addTask { await self.carryOut(plan) }
            }
        }
    }

    private func carryOut(_ plan: Plan) async {
        let isApplied = await book.send(.deposit(number: plan.number, work: plan.work), plan.number, by: loop)
        guard isApplied, let cancellation = plan.cancellation else { return }
        // A fixed delay, whatever the outcome of the deposit until then.
        try? await Task.sleep(for: cancellation.after)
        await book.send(.cancel(number: cancellation.number, deposit: plan.number), cancellation.number, by: loop)
    }
}

/// The sequence of deposits of one client: a function of the seed.
struct DepositPlans: Sendable {
    private var random: SeededRandom
    /// The last numbers of a deposit and of a cancellation: two ranges, so that each has few gaps.
    private var deposit: UInt64
    private var cancellation: UInt64

    init(client: Int, seed: UInt64) {
        random = SeededRandom(seed: seed &+ UInt64(client) &* 0x9e37_79b9)
        deposit = UInt64(client) * 1_000_000_000
        cancellation = deposit + 500_000_000
    }

    mutating func next() -> DepositClient.Plan {
        deposit += 1
        let number = deposit
        var work = Ledger.Work()
        switch random.next() % 20 {
        case 0, 1: work.milliseconds = milliseconds(1000...2500)
        case 2...4: work.milliseconds = milliseconds(100...300)
        default: work.milliseconds = milliseconds(10...60)
        }
        switch random.next() % 20 {
        case 0: work.failures = 2
        case 1, 2: work.failures = 1
        default: break
        }
        guard random.next() % 5 == 0 else { return .init(number: number, work: work, cancellation: nil) }
        let after = Duration.milliseconds(milliseconds(0...(work.milliseconds + 60)))
        cancellation += 1
        return .init(number: number, work: work, cancellation: (cancellation, after))
    }

    private mutating func milliseconds(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(random.next() % UInt64(range.count))
    }
}
