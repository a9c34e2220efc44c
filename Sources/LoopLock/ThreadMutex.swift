internal import Glibc

/// One `pthread_mutex_t` with its condition variable, at a fixed address on the heap.
///
/// ThreadSanitizer intercepts the pthread calls and so sees every acquire and release; it sees none of
/// `Synchronization.Mutex`, whose fast path lives in an uninstrumented library.
@usableFromInline
final class ThreadMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    @usableFromInline
    init() {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        var kind = pthread_mutexattr_t()
        pthread_mutexattr_init(&kind)
        pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ERRORCHECK))
        Self.demand(pthread_mutex_init(mutex, &kind), "create a mutex")
        pthread_mutexattr_destroy(&kind)
        var clock = pthread_condattr_t()
        pthread_condattr_init(&clock)
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC)
        Self.demand(pthread_cond_init(condition, &clock), "create a condition variable")
        pthread_condattr_destroy(&clock)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Waits for the mutex. A thread that holds it already would wait for itself: that stops the process.
    @usableFromInline
    func lock() { Self.demand(pthread_mutex_lock(mutex), "lock a mutex that this thread may hold already") }

    @usableFromInline
    func unlock() { Self.demand(pthread_mutex_unlock(mutex), "unlock a mutex that this thread does not hold") }

    /// Gives the mutex up, waits for a signal (or none: spurious wake-ups happen), takes it again.
    @usableFromInline
    func wait() { Self.demand(pthread_cond_wait(condition, mutex), "wait for a condition") }

    /// Like `wait()`, until `deadline` at most. False when the deadline has passed.
    @usableFromInline
    func wait(until deadline: Deadline) -> Bool {
        var time = timespec(tv_sec: deadline.seconds, tv_nsec: deadline.nanoseconds)
        let result = pthread_cond_timedwait(condition, mutex, &time)
        if result == ETIMEDOUT { return false }
        Self.demand(result, "wait for a condition")
        return true
    }

    @usableFromInline
    func signal() { pthread_cond_signal(condition) }

    @usableFromInline
    func broadcast() { pthread_cond_broadcast(condition) }

    private static func demand(_ result: Int32, _ operation: StaticString) {
        precondition(result == 0, "could not \(operation): errno \(result)")
    }
}

/// A point on the monotonic clock that condition variables wait by.
@usableFromInline
struct Deadline {
    let seconds: Int
    let nanoseconds: Int

    /// The point that lies `timeout` from now; a negative timeout is now.
    @usableFromInline
    init(after timeout: Duration) {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let part = max(timeout, .zero).components
        let fraction = now.tv_nsec + Int(part.attoseconds / 1_000_000_000)
        // A century is for ever, and keeps the sum away from overflow.
        seconds = now.tv_sec + Int(min(part.seconds, 3_155_760_000)) + fraction / 1_000_000_000
        nanoseconds = fraction % 1_000_000_000
    }
}
