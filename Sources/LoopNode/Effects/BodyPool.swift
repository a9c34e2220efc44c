import LoopLock

/// Runs the bodies of effects in the order in which they were granted, on threads of Swift's pool: on as many at once as
/// the machine has processors, so that one body that computes does not hold up the others.
///
///     line ──▶ runner: a task for one body after the other, until one of them waits for something;
///                      that one keeps the task, and a new one takes the next from the line
///
/// A task for each body would cost more than everything else that is done for an effect, so bodies that never wait share
/// one. The thread that hears of the grants leaves all that came in one message at once, and wakes somebody only where nobody
/// is awake.
final class BodyPool: Sendable {
    /// What is guarded by the line's lock, which the bodies use for what they hold, too.
    struct Line {
        fileprivate var bodies: [EffectBody?] = []
        fileprivate var first = 0
        fileprivate var runnersCount = 0

        fileprivate var waitingCount: Int { bodies.count - first }

        fileprivate mutating func append(_ new: [EffectBody]) {
            // A line that is never empty must not keep the places of all who ever stood in it.
            if first > waitingCount + new.count {
                bodies.removeFirst(first)
                first = 0
            }
            bodies.reserveCapacity(bodies.count + new.count)
            for body in new { bodies.append(body) }
        }

        fileprivate mutating func next() -> EffectBody? {
            guard first < bodies.count else {
                bodies.removeAll(keepingCapacity: true)
                first = 0
                return nil
            }
            defer { first += 1 }
            return bodies[first].take()
        }
    }

    /// One task that runs bodies, one after the other.
    private final class Runner: Sendable {
        /// The thread that started the task, and runs it until it waits for the first time.
        private let thread = CurrentThread.identity
        // Of that thread alone.
        nonisolated(unsafe) var isOver = false
        nonisolated(unsafe) private var isLeft = false

        /// Whether whoever started the task has gone on with another one. It may be resumed by the same thread, but by then
        /// that has left it.
        var isAlone: Bool { thread != CurrentThread.identity || isLeft }

        func leave() { isLeft = true }
    }

    let line = Locked(Line())
    private let runnersMax: Int
    private let executor: (any TaskExecutor)?

    /// - Parameters:
    ///   - runnersMax: how many bodies run at the same time; one that waits for something is not counted.
    ///   - executor: where they run; nil: on Swift's pool.
    init(runnersMax: Int, on executor: (any TaskExecutor)? = nil) {
        self.runnersMax = runnersMax
        self.executor = executor
    }

    /// Bodies that are to begin, behind the others.
    func post(_ bodies: [EffectBody]) {
        let missingCount = line.withLock { line in
            line.append(bodies)
            let missing = max(min(runnersMax, line.waitingCount) - line.runnersCount, 0)
            line.runnersCount += missing
            return missing
        }
        // Detached: they belong to no effect, and end when the line is empty.
        for _ in 0..<missingCount { Task.detached(executorPreference: executor) { self.serve() } }
    }

    /// How many places the line takes, with those of bodies that have begun.
    var placesCount: Int { line.withLock { $0.bodies.count } }

    /// Keeps a runner at the line until that is empty.
    private func serve() {
        repeat {
            let runner = Runner()
            // Returns when the task has ended, or waits within a body for the first time.
            Task.immediateDetached(executorPreference: executor) { await self.run(runner) }
            if runner.isOver { return }
            runner.leave()
        } while hasMore()
    }

    /// - Returns: false, and one runner less is counted, where the line is empty.
    private func hasMore() -> Bool {
        line.withLock { line in
            if line.waitingCount > 0 { return true }
            line.runnersCount -= 1
            return false
        }
    }

    private nonisolated(nonsending) func run(_ runner: Runner) async {
        guard let task = withUnsafeCurrentTask(body: { $0.map { RunningTask(task: $0) } }) else { return }
        var body = next(after: nil, runner, task)
        while let first = body { body = await first.run { next(after: $0, runner, task) } }
    }

    /// The next body for a runner; nil: it is to end.
    private func next(after last: EffectBody?, _ runner: Runner, _ task: RunningTask) -> EffectBody? {
        let isAlone = runner.isAlone
        while true {
            let (step, end) = line.withLock { line -> (Step, BodyEnd?) in
                var end: BodyEnd?
                if let last {
                    guard let known = last.ends() else { return (.wait, nil) }
                    end = known
                    // A task that was cancelled can run no other body.
                    if known.isCancelled { return (.end, end) }
                }
                if isAlone { return (.end, end) }
                if let body = line.next() { return (body.begins(as: task) ? .runCancelled(body) : .run(body), end) }
                line.runnersCount -= 1
                runner.isOver = true
                return (.end, end)
            }
            end?.requests?.source?.finish()
            switch step {
            case .run(let body): return body
            case .runCancelled(let body):
                task.cancel()
                return body
            case .end: return nil
            case .wait: CurrentThread.yield()
            }
        }
    }

    private enum Step: Sendable {
        case run(EffectBody)
        /// One that was cancelled before its turn begins as any task does: cancelled.
        case runCancelled(EffectBody)
        case end
        /// Somebody is about to cancel the task, for the last body's sake.
        case wait
    }
}
