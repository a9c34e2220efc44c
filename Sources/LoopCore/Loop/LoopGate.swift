internal import LoopLock
public import Synchronization

/// The right to drain, which one thread has at a time.
///
/// If the loop is idle, one atomic step takes the right, so that a send without contention locks once: to publish its
/// state. Every other change is made under the loop's lock.
@usableFromInline
struct LoopGate: ~Copyable, Sendable {
    /// A thread drains.
    @usableFromInline static var draining: UInt { 1 }
    /// Something is queued.
    @usableFromInline static var pending: UInt { 2 }
    /// The loop has ended.
    @usableFromInline static var ended: UInt { 4 }

    /// These three flags, and the identity of the thread that drains.
    @usableFromInline let word = Atomic<UInt>(0)

    @usableFromInline
    init() {}

    /// Takes the right if the loop is idle: no thread drains, nothing is queued, and it has not ended. It needs no lock.
    @inlinable
    func claimIdle(_ thread: UInt) -> Bool {
        word.compareExchange(
            expected: 0, desired: thread | Self.draining, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    /// Takes the right if the loop soon becomes idle. A short wait costs less than the queue, because a transition is
    /// faster than an event's way through it. It gives up soon, because the draining thread may wait for this one. On the
    /// draining thread it returns false at once.
    @usableFromInline
    func claimIdleSoon(_ thread: UInt) -> Bool {
        for _ in 0..<Self.roundsMax {
            for _ in 0..<Self.looksMax {
                let now = word.load(ordering: .relaxed)
                if now == 0, claimIdle(thread) { return true }
                if now & Self.ended != 0 || now & ~7 == thread { return false }
            }
            CurrentThread.yield()
        }
        return false
    }

    private static var roundsMax: Int { 4 }
    private static var looksMax: Int { 200 }

    /// Takes the right even if events are queued. It returns false if another thread has the right. Call it under the lock,
    /// of a loop that has not ended.
    /// - Parameter isPending: whether the caller has just queued something.
    @usableFromInline
    func claim(_ thread: UInt, isPending: Bool) -> Bool {
        let mark = isPending ? Self.pending : 0
        while true {
            let now = word.load(ordering: .relaxed)
            if now & Self.draining != 0 {
                // The right is released under the lock, so the thread that has it will see the queued event.
                if isPending { markPending() }
                return false
            }
            // Only a `claimIdle` can intervene.
            let claimed = word.compareExchange(
                expected: now, desired: now | thread | Self.draining | mark, successOrdering: .acquiring,
                failureOrdering: .relaxed
            ).exchanged
            if claimed { return true }
        }
    }

    /// Makes every later send use the queue. Call it under the lock.
    func markPending() { word.bitwiseOr(Self.pending, ordering: .relaxed) }

    /// Marks the loop as ended. Call it under the lock.
    func markEnded() { word.bitwiseOr(Self.ended, ordering: .relaxed) }

    /// Releases the right. Only its owner calls this, under the lock, when nothing is queued.
    @inlinable
    func release(hasEnded: Bool) { word.store(hasEnded ? Self.ended : 0, ordering: .releasing) }
}
