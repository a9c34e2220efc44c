// Unsafe: the storage allocates the memory of the value before it creates it, and frees it after it has destroyed it. Only the
// thread that has the mutex uses it.
/// A value that one thread at a time may use.
///
/// The lock is a `pthread_mutex_t` on the heap. ThreadSanitizer understands it, and copies of a `Locked` share it. A thread that
/// takes it twice stops the process instead of waiting for itself. Lock, change, unlock, act: never wait, call out, or resume a
/// continuation inside `withLock`.
///
/// ```swift
/// let hits = Locked([String: Int]())
/// hits.withLock { $0["/", default: 0] += 1 }
/// ```
@usableFromInline package struct Locked<Value: ~Copyable>: @unchecked Sendable {
    @usableFromInline
    let storage: LockedStorage<Value>

    /// Creates a lock for `value`.
    @inlinable
    package init(_ value: consuming sending Value) {
        storage = LockedStorage(value)
    }

    /// Runs `body` with the value while no other thread can.
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
}

/// A mutex and the value that it protects, one after the other at fixed addresses.
@usableFromInline
@safe
final class LockedStorage<Value: ~Copyable> {
    @usableFromInline
    let mutex: ThreadMutex

    @usableFromInline
    let value: UnsafeMutablePointer<Value>

    private let block: UnsafeMutableRawPointer

    @usableFromInline
    init(_ initial: consuming Value) {
        let alignment = max(16, MemoryLayout<Value>.alignment)
        let distance = (ThreadMutex.byteCount + alignment - 1) / alignment * alignment
        unsafe block = .allocate(byteCount: distance + MemoryLayout<Value>.size, alignment: alignment)
        mutex = unsafe ThreadMutex(at: block)
        unsafe value = (block + distance).bindMemory(to: Value.self, capacity: 1)
        unsafe value.initialize(to: initial)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        mutex.destroy()
        unsafe block.deallocate()
    }
}
