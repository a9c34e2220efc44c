internal import Glibc

/// One `pthread_mutex_t` at a fixed address that somebody else allocates and frees.
///
/// ThreadSanitizer intercepts the pthread calls and so sees every acquire and release; it sees none of
/// `Synchronization.Mutex`, whose fast path lives in an uninstrumented library.
@usableFromInline
struct ThreadMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// The bytes it takes, rounded up so that anything may lie behind it.
    static var byteCount: Int { (MemoryLayout<pthread_mutex_t>.size + 15) / 16 * 16 }

    /// - Parameter place: room for `byteCount` bytes.
    init(at place: UnsafeMutableRawPointer) {
        mutex = place.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        var kind = pthread_mutexattr_t()
        pthread_mutexattr_init(&kind)
        pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ERRORCHECK))
        demand(pthread_mutex_init(mutex, &kind), "create a mutex")
        pthread_mutexattr_destroy(&kind)
    }

    /// Before the place is freed.
    func destroy() { pthread_mutex_destroy(mutex) }

    /// Waits for the mutex. A thread that holds it already would wait for itself: that stops the process.
    @usableFromInline
    func lock() { demand(pthread_mutex_lock(mutex), "lock a mutex that this thread may hold already") }

    /// Takes the mutex if nobody holds it, this thread included.
    @usableFromInline
    func lockIfFree() -> Bool {
        let result = pthread_mutex_trylock(mutex)
        if result == EBUSY { return false }
        demand(result, "try a mutex")
        return true
    }

    @usableFromInline
    func unlock() { demand(pthread_mutex_unlock(mutex), "unlock a mutex that this thread does not hold") }

    /// Gives the mutex up, waits for a signal (or none: spurious wake-ups happen), takes it again.
    fileprivate func wait(for condition: UnsafeMutablePointer<pthread_cond_t>, until time: timespec?) -> Bool {
        guard var time else {
            demand(pthread_cond_wait(condition, mutex), "wait for a condition")
            return true
        }
        let result = pthread_cond_timedwait(condition, mutex, &time)
        if result == ETIMEDOUT { return false }
        demand(result, "wait for a condition")
        return true
    }
}

/// A condition variable on the heap, for threads that wait for what a mutex guards.
@usableFromInline
final class ThreadCondition: @unchecked Sendable {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    @usableFromInline
    init() {
        condition = .allocate(capacity: 1)
        var clock = pthread_condattr_t()
        pthread_condattr_init(&clock)
        pthread_condattr_setclock(&clock, CLOCK_MONOTONIC)
        demand(pthread_cond_init(condition, &clock), "create a condition variable")
        pthread_condattr_destroy(&clock)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    /// Gives the mutex up, waits for a signal (or none: spurious wake-ups happen), takes it again.
    @usableFromInline
    func wait(giving mutex: ThreadMutex) { _ = mutex.wait(for: condition, until: nil) }

    /// Like `wait(giving:)`, until `deadline` at most. False when the deadline has passed.
    @usableFromInline
    func wait(giving mutex: ThreadMutex, until deadline: Deadline) -> Bool {
        mutex.wait(for: condition, until: timespec(tv_sec: deadline.seconds, tv_nsec: deadline.nanoseconds))
    }

    @usableFromInline
    func signal() { pthread_cond_signal(condition) }

    @usableFromInline
    func broadcast() { pthread_cond_broadcast(condition) }
}

private func demand(_ result: Int32, _ operation: StaticString) {
    precondition(result == 0, "could not \(operation): errno \(result)")
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
