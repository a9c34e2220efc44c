// Unsafe: mutexes and condition variables have fixed addresses in memory that their owners allocate. The owner destroys them before
// it frees the memory. Attributes and times are local variables of the functions that call the system.
#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// One `pthread_mutex_t` at a fixed address, which its owner allocates and frees.
///
/// ThreadSanitizer intercepts the pthread calls, and so sees every acquire and release. It sees none of `Synchronization.Mutex`,
/// because the fast path of that is in an uninstrumented library.
@usableFromInline
@safe
struct ThreadMutex: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// The size in bytes, rounded up so that any type may follow it.
    static var byteCount: Int { unsafe (MemoryLayout<pthread_mutex_t>.size + 15) / 16 * 16 }

    /// - Parameter place: memory for `byteCount` bytes.
    init(at place: UnsafeMutableRawPointer) {
        unsafe mutex = place.bindMemory(to: pthread_mutex_t.self, capacity: 1)
        var kind = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&kind)
        unsafe pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ERRORCHECK))
        unsafe demand(pthread_mutex_init(mutex, &kind), "create a mutex")
        unsafe pthread_mutexattr_destroy(&kind)
    }

    /// Called before the memory is freed.
    func destroy() { unsafe pthread_mutex_destroy(mutex) }

    /// Waits for the mutex. If this thread already has it, the process stops, because the thread would wait for itself.
    @usableFromInline
    func lock() { unsafe demand(pthread_mutex_lock(mutex), "lock a mutex that this thread may hold already") }

    @usableFromInline
    func unlock() { unsafe demand(pthread_mutex_unlock(mutex), "unlock a mutex that this thread does not hold") }

    /// Releases the mutex, waits for a signal (or none: spurious wake-ups happen), and takes it again.
    fileprivate func wait(for condition: UnsafeMutablePointer<pthread_cond_t>, until time: timespec?) -> Bool {
        guard var time else {
            unsafe demand(pthread_cond_wait(condition, mutex), "wait for a condition")
            return true
        }
        let result = unsafe pthread_cond_timedwait(condition, mutex, &time)
        if result == ETIMEDOUT { return false }
        demand(result, "wait for a condition")
        return true
    }
}

/// A condition variable on the heap, for threads that wait for a change of the value that a mutex protects.
@usableFromInline
@safe
final class ThreadCondition: @unchecked Sendable {
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    @usableFromInline
    init() {
        unsafe condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        #if !canImport(Darwin) && !PORTABLE
            unsafe pthread_condattr_setclock(&attributes, Deadline.clock)
        #endif
        unsafe demand(pthread_cond_init(condition, &attributes), "create a condition variable")
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe condition.deallocate()
    }

    /// Releases the mutex, waits for a signal (or none: spurious wake-ups happen), and takes it again.
    @usableFromInline
    func wait(giving mutex: ThreadMutex) { _ = unsafe mutex.wait(for: condition, until: nil) }

    /// Waits like `wait(giving:)`, until `deadline` at most. Returns false if the deadline has passed.
    @usableFromInline
    func wait(giving mutex: ThreadMutex, until deadline: Deadline) -> Bool {
        unsafe mutex.wait(for: condition, until: timespec(tv_sec: deadline.seconds, tv_nsec: deadline.nanoseconds))
    }

    @usableFromInline
    func signal() { unsafe pthread_cond_signal(condition) }

    @usableFromInline
    func broadcast() { unsafe pthread_cond_broadcast(condition) }
}

private func demand(_ result: Int32, _ operation: StaticString) {
    precondition(result == 0, "could not \(operation): errno \(result)")
}

/// A time on the clock by which condition variables wait.
@usableFromInline
struct Deadline {
    #if canImport(Darwin) || PORTABLE
        /// If this clock is set during a wait, the wait becomes longer or shorter. Not every system lets a program choose the
        /// clock.
        fileprivate static var clock: clockid_t { CLOCK_REALTIME }
    #else
        fileprivate static var clock: clockid_t { CLOCK_MONOTONIC }
    #endif

    let seconds: Int
    let nanoseconds: Int

    /// The time that is `timeout` from now. A negative timeout gives now.
    @usableFromInline
    init(after timeout: Duration) {
        var now = timespec()
        unsafe clock_gettime(Self.clock, &now)
        let part = max(timeout, .zero).components
        let fraction = now.tv_nsec + Int(part.attoseconds / 1_000_000_000)
        // A century counts as for ever, and prevents an overflow of the sum.
        seconds = now.tv_sec + Int(min(part.seconds, 3_155_760_000)) + fraction / 1_000_000_000
        nanoseconds = fraction % 1_000_000_000
    }
}
