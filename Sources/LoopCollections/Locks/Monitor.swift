// Unsafe: the value is at the address in `LockedStorage`, which this monitor owns. Only the thread that has the mutex uses it.
/// A value that one thread at a time may use. Threads can wait until it fulfils a condition.
///
/// Waiting blocks the thread. So wait only on threads that the program owns, never in tasks of the cooperative pool.
///
/// ```swift
/// let inbox = Monitor([Job]())
/// inbox.withLock { $0.append(job) }
/// inbox.signal()
/// // on another thread
/// let job = inbox.wait(until: { !$0.isEmpty }) { $0.removeFirst() }
/// ```
@usableFromInline package struct Monitor<Value: ~Copyable>: @unchecked Sendable {
    @usableFromInline
    let storage: LockedStorage<Value>

    @usableFromInline
    let condition = ThreadCondition()

    /// Creates a monitor for `value`.
    @inlinable
    package init(_ value: consuming sending Value) {
        storage = LockedStorage(value)
    }

    /// Runs `body` with the value while no other thread can. It wakes no thread: follow it with `signal` or `broadcast`.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws. The lock is released in any case.
    @inlinable
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        storage.mutex.lock()
        defer { storage.mutex.unlock() }
        return try unsafe body(&storage.value.pointee)
    }

    /// Blocks this thread until `predicate` holds, then runs `body` before another thread gets the lock.
    ///
    /// `predicate` is evaluated at once, and again after each `signal` or `broadcast`.
    @inlinable
    package func wait<Result: ~Copyable, Failure: Error>(
        until predicate: (borrowing Value) -> Bool,
        then body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        storage.mutex.lock()
        defer { storage.mutex.unlock() }
        while unsafe !predicate(storage.value.pointee) { condition.wait(giving: storage.mutex) }
        return try unsafe body(&storage.value.pointee)
    }

    /// Blocks this thread until `predicate` holds, for `timeout` at most, then runs `body`.
    ///
    /// `body` gets the value, and whether the predicate held. If it did not, the time was over first.
    @inlinable
    package func wait<Result: ~Copyable, Failure: Error>(
        until predicate: (borrowing Value) -> Bool,
        timeout: Duration,
        then body: (inout sending Value, Bool) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let deadline = Deadline(after: timeout)
        storage.mutex.lock()
        defer { storage.mutex.unlock() }
        var holds = unsafe predicate(storage.value.pointee)
        while !holds, condition.wait(giving: storage.mutex, until: deadline) {
            holds = unsafe predicate(storage.value.pointee)
        }
        if !holds { holds = unsafe predicate(storage.value.pointee) }
        return try unsafe body(&storage.value.pointee, holds)
    }

    /// Blocks this thread until `predicate` holds.
    @inlinable
    package func wait(until predicate: (borrowing Value) -> Bool) {
        wait(until: predicate) { _ in }
    }

    /// Blocks this thread until `predicate` holds, for `timeout` at most.
    /// - Returns: false if the time was over first.
    @inlinable
    package func wait(until predicate: (borrowing Value) -> Bool, timeout: Duration) -> Bool {
        wait(until: predicate, timeout: timeout) { _, holds in holds }
    }

    /// Wakes one waiting thread, which evaluates its predicate again.
    @inlinable
    package func signal() { condition.signal() }

    /// Wakes all waiting threads, which evaluate their predicates again.
    @inlinable
    package func broadcast() { condition.broadcast() }
}
