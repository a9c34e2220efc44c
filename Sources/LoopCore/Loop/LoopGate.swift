internal import LoopLock
public import Synchronization

/// The right to drain, which one thread has at a time.
///
/// It is taken by one atomic step where the loop is idle, so that a send without competition takes the lock once: to make
/// its state visible. Every other change is made under the loop's lock.
@usableFromInline
struct LoopGate: ~Copyable, Sendable {
    /// A thread drains.
    @usableFromInline static var draining: UInt { 1 }
    /// Something is queued.
    @usableFromInline static var pending: UInt { 2 }
    /// The loop has ended.
    @usableFromInline static var ended: UInt { 4 }

    /// These three, and the identity of the thread that drains.
    @usableFromInline let word = Atomic<UInt>(0)

    @usableFromInline
    init() {}

    /// Takes the right if the loop is idle: no thread drains, nothing is queued, it has not ended. Needs no lock.
    @inlinable
    func claimIdle(_ thread: UInt) -> Bool {
        word.compareExchange(
            expected: 0, desired: thread | Self.draining, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    /// The same for who would rather wait a little than queue: a transition takes less time than an event's way through
    /// the queue. It gives up soon, since the thread that drains may wait for this one. False at once on that thread.
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

    /// Takes the right whatever is queued; false: another thread has it. Under the lock, of a loop that has not ended.
    /// - Parameter isPending: something has just been queued.
    @usableFromInline
    func claim(_ thread: UInt, isPending: Bool) -> Bool {
        let mark = isPending ? Self.pending : 0
        while true {
            let now = word.load(ordering: .relaxed)
            if now & Self.draining != 0 {
                // It is given back under the lock: whoever has it sees what was queued.
                if isPending { markPending() }
                return false
            }
            // Only a `claimIdle` can come between.
            let claimed = word.compareExchange(
                expected: now, desired: now | thread | Self.draining | mark, successOrdering: .acquiring,
                failureOrdering: .relaxed
            ).exchanged
            if claimed { return true }
        }
    }

    /// From here on no send passes by the queue. Under the lock.
    func markPending() { word.bitwiseOr(Self.pending, ordering: .relaxed) }

    /// The loop has ended. Under the lock.
    func markEnded() { word.bitwiseOr(Self.ended, ordering: .relaxed) }

    /// Gives the right back, by who has it. Under the lock, when nothing is queued.
    @inlinable
    func release(hasEnded: Bool) { word.store(hasEnded ? Self.ended : 0, ordering: .releasing) }
}
